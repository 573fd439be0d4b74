//! Where the elements of short lists belong, by a network of comparisons.

use core::array::from_fn;
use warpsmith_device::prelude::*;

/// Elements of a list.
pub const LENGTH: usize = 8;

/// The pairs that are compared, one after another.
const NETWORK: [(usize, usize); 19] = [
    (0, 2),
    (1, 3),
    (4, 6),
    (5, 7),
    (0, 4),
    (1, 5),
    (2, 6),
    (3, 7),
    (0, 1),
    (2, 3),
    (4, 5),
    (6, 7),
    (2, 4),
    (3, 5),
    (1, 4),
    (3, 6),
    (1, 2),
    (3, 4),
    (5, 6),
];

/// The places of the elements of each list, the smallest element's first; of equal ones the first.
#[kernel]
pub fn argsort_8(lists: &[[f32; LENGTH]], mut orders: PerThread<[[u8; LENGTH]]>) {
    if let (Some(list), Some(order)) = (lists.get(thread::index()), orders.mine()) {
        let mut pairs: [(f32, u8); LENGTH] = from_fn(|i| (list[i], i as u8));
        for (i, j) in NETWORK {
            if pairs[j] < pairs[i] {
                pairs.swap(i, j);
            }
        }
        *order = pairs.map(|(_, place)| place);
    }
}

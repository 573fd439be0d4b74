//! Looks many values up in a sorted list.

use warpsmith_device::prelude::*;

/// How many elements of `sorted` are less than each query.
#[kernel]
pub fn binary_search(sorted: &[u32], queries: &[u32], mut places: PerThread<[u32]>) {
    if let (Some(query), Some(place)) = (queries.get(thread::index()), places.mine()) {
        *place = sorted.partition_point(|value| value < query) as u32;
    }
}

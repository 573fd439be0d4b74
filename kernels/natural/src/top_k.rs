//! The largest elements of each column.

use core::mem::swap;
use warpsmith_device::prelude::*;

/// How many.
pub const K: usize = 8;

/// The eight largest elements of each column, the largest one first.
#[kernel]
pub fn top_k(x: Matrix<f32>, mut largest: PerThread<[[f32; K]]>) {
    let column = thread::index();
    if let Some(largest) = largest.mine() {
        let mut top = [f32::NEG_INFINITY; K];
        for row in 0..x.rows() {
            let mut value = x[(row, column)];
            if value <= top[K - 1] {
                continue;
            }
            for place in &mut top {
                if value > *place {
                    swap(place, &mut value);
                }
            }
        }
        *largest = top;
    }
}

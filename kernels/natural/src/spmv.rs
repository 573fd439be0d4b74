//! The product of a sparse matrix and a vector, a warp a row.

use warpsmith_device::prelude::*;

/// `y` = the matrix times `x`. Row `i` has the entries from `starts[i]` to `starts[i + 1]`.
#[kernel]
pub fn spmv(starts: &[u32], columns: &[u32], values: &[f32], x: &[f32], mut y: PerWarp<[f32]>) {
    let (row, lane) = (y.index(), warp::lane() as usize);
    let mut sum = 0.0;
    if row < y.len() {
        let entries = starts[row] as usize..starts[row + 1] as usize;
        sum = columns[entries.clone()]
            .iter()
            .zip(&values[entries])
            .skip(lane)
            .step_by(32)
            .map(|(&column, value)| value * x[column as usize])
            .sum();
    }
    let sum = warp::reduce(sum, |a: f32, b| a + b);
    if let Some(y) = y.leader() {
        *y = sum;
    }
}

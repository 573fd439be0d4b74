//! Softmax of each row of a matrix, a warp a row.

use warpsmith_device::prelude::*;

/// `out` = softmax of each row of `x`.
#[kernel]
pub fn softmax_warp(x: Matrix<f32>, mut out: RowPerWarp<f32>) {
    let lane = warp::lane() as usize;
    if let Some(mut own) = out.mine() {
        let row = x.row(own.row());
        let own_max = row
            .iter()
            .skip(lane)
            .step_by(32)
            .fold(f32::NEG_INFINITY, |max, &x| max.max(x));
        let max = warp::reduce(own_max, f32::max);
        let own_sum: f32 = row
            .iter()
            .skip(lane)
            .step_by(32)
            .map(|&x| (x - max).exp_approx())
            .sum();
        let sum = warp::reduce(own_sum, |a, b| a + b);
        for (column, to) in own.strided() {
            *to = (row[column] - max).exp_approx() / sum;
        }
    }
}

//! Softmax of each row of a matrix, a block a row.

use warpsmith_device::prelude::*;
use warpsmith_device::shared::SharedArray;

/// Threads of a block.
pub const THREADS: usize = 256;

/// `out` = softmax of each row of `x`.
#[kernel(launch_bounds(256, exact))]
pub fn softmax_block(x: Matrix<f32>, mut out: RowPerBlock<f32>) {
    let mut partial = shared!([f32; THREADS]);
    let t = thread::thread_idx_x() as usize;
    if let Some(mut own) = out.mine() {
        let row = x.row(own.row());
        let own_max = row
            .iter()
            .skip(t)
            .step_by(THREADS)
            .fold(f32::NEG_INFINITY, |max, &x| max.max(x));
        let max = reduce(&mut partial, own_max, f32::max);
        let own_sum: f32 = row
            .iter()
            .skip(t)
            .step_by(THREADS)
            .map(|&x| (x - max).exp_approx())
            .sum();
        let sum = reduce(&mut partial, own_sum, |a, b| a + b);
        for (column, to) in own.strided() {
            *to = (row[column] - max).exp_approx() / sum;
        }
    }
}

/// What the operation makes of the values of all threads.
fn reduce(
    partial: &mut SharedArray<f32, THREADS>,
    value: f32,
    operation: impl Fn(f32, f32) -> f32,
) -> f32 {
    let of_warp = warp::reduce(value, &operation);
    let all = partial.refill().write(of_warp).sync();
    (1..THREADS / 32).fold(all[0], |total, warp| operation(total, all[warp * 32]))
}

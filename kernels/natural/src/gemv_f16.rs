//! The product of a matrix and a vector in half precision, a warp a row.

use warpsmith_device::half::{HalfArithmetic, f16};
use warpsmith_device::prelude::*;

/// `y` = `a` times `x`, with sums in `f32`.
#[kernel]
pub fn gemv_f16(a: Matrix<f16>, x: &[f16], mut y: PerWarp<[f32]>) {
    let (row, lane) = (y.index(), warp::lane() as usize);
    let mut sum = 0.0;
    if row < a.rows() {
        sum = a
            .row(row)
            .iter()
            .zip(x)
            .skip(lane)
            .step_by(32)
            .map(|(a, x)| a.widen() * x.widen())
            .sum();
    }
    let sum = warp::reduce(sum, |a: f32, b| a + b);
    if let Some(y) = y.leader() {
        *y = sum;
    }
}

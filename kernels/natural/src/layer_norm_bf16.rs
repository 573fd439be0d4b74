//! Layer normalisation of rows of `bf16`, a warp a row, sixteen bytes at a time.

use warpsmith_device::half::{HalfArithmetic, Nearest, RoundFrom, bf16};
use warpsmith_device::prelude::*;

/// `out` = each row of `x` with mean 0 and variance 1, times `gamma`, plus `beta`.
#[kernel]
pub fn layer_norm_bf16(
    x: Matrix<Vector<bf16>>,
    gamma: &[Vector<bf16>],
    beta: &[Vector<bf16>],
    mut out: RowPerWarp<Vector<bf16>>,
) {
    let lane = warp::lane() as usize;
    if let Some(mut own) = out.mine() {
        let row = x.row(own.row());
        let count = (row.len() * 8) as f32;
        let mut sum = 0.0;
        for vector in row.iter().skip(lane).step_by(32) {
            for x in vector.0 {
                sum += x.widen();
            }
        }
        let mean = warp::reduce(sum, |a, b| a + b) / count;
        let mut squares = 0.0;
        for vector in row.iter().skip(lane).step_by(32) {
            for x in vector.0 {
                let difference = x.widen() - mean;
                squares += difference * difference;
            }
        }
        let variance = warp::reduce(squares, |a, b| a + b) / count;
        let inverse = (variance + 1e-5).rsqrt_approx();
        for (column, to) in own.strided() {
            let (Vector(x), Vector(gamma), Vector(beta)) =
                (row[column], gamma[column], beta[column]);
            *to = Vector(core::array::from_fn(|i| {
                let y = (x[i].widen() - mean) * inverse * gamma[i].widen() + beta[i].widen();
                bf16::round_from(y, Nearest)
            }));
        }
    }
}

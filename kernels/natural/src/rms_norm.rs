//! Rows of half precision divided by their root mean square, a warp a row.

use warpsmith_device::half::{HalfArithmetic, Nearest, RoundFrom, f16};
use warpsmith_device::prelude::*;

/// `out` = each row of `x` over its root mean square, times `weights`.
#[kernel]
pub fn rms_norm(x: Matrix<f16>, weights: &[f16], mut out: RowPerWarp<f16>) {
    let lane = warp::lane() as usize;
    if let Some(mut own) = out.mine() {
        let row = x.row(own.row());
        let squares: f32 = row
            .iter()
            .skip(lane)
            .step_by(32)
            .map(|x| x.widen() * x.widen())
            .sum();
        let mean = warp::reduce(squares, |a, b| a + b) / row.len() as f32;
        let scale = 1.0 / FloatExt::sqrt(mean + 1e-5);
        for (column, to) in own.strided() {
            let y = row[column].widen() * scale * weights[column].widen();
            *to = f16::round_from(y, Nearest);
        }
    }
}

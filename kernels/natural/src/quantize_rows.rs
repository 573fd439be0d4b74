//! Rows of a matrix as bytes with a scale of their own, a warp a row.

use warpsmith_device::prelude::*;

/// `out` = each row of `x` divided by its scale and rounded, so that its largest element becomes 127 or -127; `scales` has the scales.
#[kernel]
pub fn quantize_rows(x: Matrix<f32>, mut scales: PerWarp<[f32]>, mut out: RowPerWarp<i8>) {
    let lane = warp::lane() as usize;
    if let Some(mut own) = out.mine() {
        let row = x.row(own.row());
        let largest = row
            .iter()
            .skip(lane)
            .step_by(32)
            .map(|x| x.abs())
            .fold(0.0, f32::max);
        let largest = warp::reduce(largest, f32::max);
        let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
        for (column, to) in own.strided() {
            *to = FloatExt::round_ties_even(row[column] * inverse) as i8;
        }
        if let Some(scale) = scales.leader() {
            *scale = largest / 127.0;
        }
    }
}

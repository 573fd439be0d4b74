//! Rotary embedding: pairs of numbers turned by angles that depend on their position.

use warpsmith_device::half::{HalfArithmetic, Nearest, RoundFrom, f16};
use warpsmith_device::prelude::*;

/// Turns each pair of the vectors. A position has `heads` vectors; the pairs of each are turned by the angles in the position's row of
/// `cosines` and `sines`.
#[kernel]
pub fn rope(
    cosines: Matrix<f32>,
    sines: Matrix<f32>,
    heads: u32,
    mut vectors: PerThread<[[f16; 2]]>,
) {
    let i = thread::index();
    if let Some(pair) = vectors.mine() {
        let (vector, column) = (i / cosines.columns(), i % cosines.columns());
        let position = vector / heads as usize;
        let (cosine, sine) = (cosines[(position, column)], sines[(position, column)]);
        let [x, y] = pair.map(f16::widen);
        let turned = [x * cosine - y * sine, x * sine + y * cosine];
        *pair = turned.map(|x| f16::round_from(x, Nearest));
    }
}

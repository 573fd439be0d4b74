//! A layer of a neural network that folds each channel of its pictures with that channel's own filter.

use warpsmith_device::prelude::*;

/// `out` = each plane of `x` folded with its channel's filter of 3 x 3, plus the bias, where that is positive. Planes are in the order
/// picture, channel; beyond the border is nothing.
#[kernel]
pub fn depthwise_conv(
    x: &[f32],
    filters: &[[[f32; 3]; 3]],
    biases: &[f32],
    mut out: VolumeOut<f32>,
) {
    let (layer, row, column) = out.position();
    let (rows, columns) = (out.rows(), out.columns());
    if let Some(out) = out.mine() {
        let channel = layer % filters.len();
        let plane = &x[layer * rows * columns..(layer + 1) * rows * columns];
        let mut sum = biases[channel];
        for (dy, weights) in filters[channel].iter().enumerate() {
            let Some(y) = (row + dy).checked_sub(1).filter(|&y| y < rows) else {
                continue;
            };
            for (dx, weight) in weights.iter().enumerate() {
                if let Some(x) = (column + dx).checked_sub(1)
                    && x < columns
                {
                    sum += weight * plane[y * columns + x];
                }
            }
        }
        *out = sum.max(0.0);
    }
}

//! Groups of channels normalised, a block a group.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;

/// The sum of values, and that of their squares.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Sums {
    plain: f32,
    squares: f32,
}

impl Sums {
    fn plus(self, other: Sums) -> Sums {
        Sums {
            plain: self.plain + other.plain,
            squares: self.squares + other.squares,
        }
    }
}

/// `out` = each row of `x` (the `channels` planes of a group, one behind the other) with mean 0 and variance 1, then scaled and moved as its
/// channel wants.
#[kernel(launch_bounds(256, exact))]
pub fn group_norm(
    x: Matrix<f32>,
    channels: usize,
    scales: &[f32],
    offsets: &[f32],
    mut out: RowPerBlock<f32>,
) {
    let t = thread::thread_idx_x() as usize;
    let Some(mut own) = out.mine() else { return };
    let group = own.row() % (scales.len() / channels);
    let row = x.row(own.row());
    let plane = row.len() / channels;
    let none = Sums {
        plain: 0.0,
        squares: 0.0,
    };
    let sums = row
        .iter()
        .skip(t)
        .step_by(THREADS)
        .map(|&x| Sums {
            plain: x,
            squares: x * x,
        })
        .fold(none, Sums::plus);
    let total = shared!([Sums; THREADS]).write(sums).reduce(Sums::plus);
    let mean = total.plain / row.len() as f32;
    let variance = total.squares / row.len() as f32 - mean * mean;
    let inverse = 1.0 / FloatExt::sqrt(variance + 1e-5);
    for (i, to) in own.strided() {
        let channel = group * channels + i / plane;
        *to = (row[i] - mean) * inverse * scales[channel] + offsets[channel];
    }
}

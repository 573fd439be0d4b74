//! The product of a matrix of numbers of 4 bits and a vector, a warp a row.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// Numbers of a block.
pub const SIZE: usize = 32;

/// 32 numbers from -8 to 7, times a factor.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Block {
    /// The factor.
    pub scale: f32,
    /// Two numbers a byte, the first one in the lower half; 8 stands for 0.
    pub pairs: [u8; SIZE / 2],
}

impl Block {
    /// The sum of its numbers times those of a vector.
    pub fn dot(&self, x: &[f32]) -> f32 {
        let sum: f32 = self
            .pairs
            .iter()
            .zip(x.chunks_exact(2))
            .map(|(&pair, x)| {
                let low = i32::from(pair & 15) - 8;
                let high = i32::from(pair >> 4) - 8;
                low as f32 * x[0] + high as f32 * x[1]
            })
            .sum();
        sum * self.scale
    }
}

/// `y` = the matrix times `x`. A row has as many blocks as `x` has.
#[kernel]
pub fn gemv_int4(blocks: &[Block], x: &[f32], mut y: PerWarp<[f32]>) {
    let lane = warp::lane() as usize;
    let per_row = x.len() / SIZE;
    let row = y.index();
    if row >= y.len() {
        return;
    }
    let own = &blocks[row * per_row..(row + 1) * per_row];
    let sum = own
        .iter()
        .zip(x.chunks_exact(SIZE))
        .skip(lane)
        .step_by(32)
        .map(|(block, x)| block.dot(x))
        .sum();
    let sum = warp::reduce(sum, |a: f32, b| a + b);
    if let Some(y) = y.leader() {
        *y = sum;
    }
}

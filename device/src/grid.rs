//! The grid: how many blocks the launch has.

pub use crate::cooperative::{Arrival, arrive, is_cooperative, sync};
use crate::{block, special_registers as register};

/// `%nctaid`: the grid's extent in blocks, as CUDA C++'s `gridDim`. Any arch.
///
/// ```no_run
/// let (x, y, z) = warpsmith_device::grid::dim();
/// # let _ = (x, y, z);
/// ```
#[inline(always)]
pub fn dim() -> (u32, u32, u32) {
    (
        register::grid_dim_x(),
        register::grid_dim_y(),
        register::grid_dim_z(),
    )
}

/// The number of blocks in the grid.
///
/// ```no_run
/// let blocks: u64 = warpsmith_device::grid::blocks();
/// # let _ = blocks;
/// ```
#[inline(always)]
pub fn blocks() -> u64 {
    let (x, y, z) = dim();
    u64::from(x) * (u64::from(y) * u64::from(z))
}

/// The calling block's number in the grid, x fastest.
///
/// ```no_run
/// let block: u64 = warpsmith_device::grid::linear_block();
/// # let _ = block;
/// ```
#[inline(always)]
pub fn linear_block() -> u64 {
    let (x, y, z) = block::idx();
    let (width, height, _) = dim();
    (u64::from(z) * u64::from(height) + u64::from(y)) * u64::from(width) + u64::from(x)
}

/// The number of threads along x: the step of a grid-stride loop.
///
/// ```no_run
/// # use warpsmith_device::{grid, thread};
/// fn strided_sum(x: &[f32]) -> f32 {
///     x.iter().skip(thread::index()).step_by(grid::threads_x()).sum()
/// }
/// # strided_sum(&[]);
/// ```
#[inline(always)]
pub fn threads_x() -> usize {
    register::grid_dim_x() as usize * register::block_dim_x() as usize
}

//! Numbers of warps and lanes that views give elements by: made of the thread's position alone, so that each thread has its own
//! pair of them.

use crate::warp::SIZE;
use crate::{block, grid, thread};

/// The number of the thread's warp in the grid.
#[inline(always)]
pub(super) fn warp() -> usize {
    let in_block = thread::linear_in_block() / SIZE;
    grid::linear_block() as usize * block::threads().div_ceil(SIZE) as usize + in_block as usize
}

/// The number of warps in the grid.
#[inline(always)]
pub(super) fn warps() -> usize {
    grid::blocks() as usize * block::threads().div_ceil(SIZE) as usize
}

/// The number of the thread in its warp.
#[inline(always)]
pub(super) fn lane() -> usize {
    (thread::linear_in_block() % SIZE) as usize
}

/// The number of threads in the thread's warp: fewer than 32 in the last one of a block whose size is no multiple.
#[inline(always)]
pub(super) fn lanes() -> usize {
    let before = thread::linear_in_block() / SIZE * SIZE;
    (block::threads() - before).min(SIZE) as usize
}

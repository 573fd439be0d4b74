//! Views of global memory that a safe kernel can write through: no two threads reach the same element.
//!
//! The launcher checks that a launch does not have more dimensions than a view's numbering covers, which is what makes
//! the cheap ones sound (see `KernelAttributes::launch_dimensions`).

//!
//! | Owner | One element | A row | A tile | Its own position |
//! | --- | --- | --- | --- | --- |
//! | thread | [`PerThread`], [`PerThread3d`] ([`PerThreadVectors`]: 16 bytes) | | | [`MatrixOut`], [`VolumeOut`] |
//! | warp | [`PerWarp`] | [`RowPerWarp`] | | |
//! | block | [`PerBlock`] | [`RowPerBlock`] | [`TilePerBlock`] | |
//!
//! Where the place is computed, [`Scatter`] writes it, and [`AtomicSlice`](crate::atomic::AtomicSlice) updates it.

mod define;
mod matrix;
mod owner;
mod per_block;
mod per_thread;
mod per_thread_vectors;
mod per_warp;
mod rows;
mod scatter;
mod tile_per_block;
mod volume;

pub use matrix::{Matrix, MatrixOut};
pub use per_block::PerBlock;
pub use per_thread::{PerThread, PerThread3d, Strided, Strided32};
pub use per_thread_vectors::PerThreadVectors;
pub use per_warp::PerWarp;
pub use rows::{OwnRow, RowPerBlock, RowPerWarp};
pub use scatter::Scatter;
pub use tile_per_block::TilePerBlock;
pub use volume::{VolumeOut, volume_rows};

/// Lets the compiler drop the null checks of `Option<&mut T>`.
///
/// # Safety
/// The pointer is valid, if only as the dangling one of an empty slice.
#[inline(always)]
unsafe fn assume_valid<T>(pointer: *mut T) {
    // SAFETY: a valid pointer is not null, and this one is valid by the function's condition.
    unsafe { core::hint::assert_unchecked(!pointer.is_null()) }
}

//! Views of global memory that a safe kernel can write through: no two threads reach the same element.
//!
//! The launcher checks that a launch does not have more dimensions than a view's numbering covers, which is what makes
//! the cheap ones sound (see `KernelAttributes::launch_dimensions`).

mod matrix;
mod per_block;
mod per_thread;
mod per_thread_vectors;

pub use matrix::{Matrix, MatrixOut};
pub use per_block::PerBlock;
pub use per_thread::{PerThread, PerThread3d, Strided};
pub use per_thread_vectors::PerThreadVectors;

/// How `#[kernel]` rebuilds a pointer-and-length view.
#[doc(hidden)]
pub trait OutputView<T> {
    /// # Safety
    /// `pointer` is valid for reads and writes of `length` elements for as long as the kernel runs, and during it
    /// reached through this view only, of which every thread has a copy made from the same arguments.
    unsafe fn from_raw(pointer: *mut T, length: usize) -> Self;
}

/// How `#[kernel]` rebuilds a matrix view.
#[doc(hidden)]
pub trait MatrixView<T> {
    /// # Safety
    /// As [`OutputView::from_raw`], for `rows` rows of `columns` elements, `stride` apart; a matrix that is only read
    /// may be shared.
    unsafe fn from_raw(pointer: *mut T, rows: u32, columns: u32, stride: u32) -> Self;
}

/// Lets the compiler drop the null checks of `Option<&mut T>`.
///
/// # Safety
/// As [`OutputView::from_raw`]: valid pointers, dangling ones of empty slices included, are not null.
#[inline(always)]
unsafe fn assume_valid<T>(pointer: *mut T) {
    // SAFETY: a valid pointer is not null, and this one is valid by the function's condition.
    unsafe { core::hint::assert_unchecked(!pointer.is_null()) }
}

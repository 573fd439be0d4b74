//! The thread's own numbers of a range that the threads of a grid, a block or a warp share: neighbouring threads have neighbouring numbers.
//!
//! They count in the range's type. In `u32` a round takes an addition and a comparison of 32 bits.
//!
//! ```
//! use warpsmith_device::prelude::*;
//!
//! /// What each thread has of the scalar product: a grid-stride loop.
//! #[kernel]
//! pub fn dot(x: &[f32], y: &[f32], mut sums: PerThread<[f32]>) {
//!     let mut sum = 0.0;
//!     for i in strided::in_grid(0..x.len32()) {
//!         sum += x.at(i) * y.at(i);
//!     }
//!     if let Some(out) = sums.mine() {
//!         *out = sum;
//!     }
//! }
//! ```

use core::ops::Range;

use crate::{block, grid, thread, warp};

/// The thread's numbers of a range that the threads along x of the grid share: `range.start + `[`thread::index`]`()`, and every
/// [`grid::threads_x`]`()`-th after it.
///
/// ```no_run
/// use warpsmith_device::strided;
/// fn sum(x: &[f32]) -> f32 {
///     strided::in_grid(0..x.len()).map(|i| x[i]).sum()
/// }
/// # sum(&[]);
/// ```
///
/// # Panics
/// If the range ends in the upper half of its type's numbers, and less than a step before the last one.
#[inline(always)]
#[track_caller]
pub fn in_grid<N: Counter>(range: Range<N>) -> StridedRange<N> {
    StridedRange::new(range, thread::index(), grid::threads_x())
}

/// The thread's numbers of a range that the threads of a block share: `range.start + `[`thread::linear_in_block`]`()`, and every
/// [`block::threads`]`()`-th after it.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// /// The sum of a row, one row a block.
/// #[kernel(launch_bounds(256))]
/// pub fn row_sums(x: Matrix<f32>, mut sums: PerBlock<[f32]>) {
///     let row = x.row_at(block::idx().0);
///     let mut sum = 0.0;
///     for column in strided::in_block(0..x.columns32()) {
///         sum += row.at(column);
///     }
///     let parts = shared!([f32; 256]).write(sum).sync();
///     if let Some(out) = sums.leader() {
///         *out = parts.iter().sum();
///     }
/// }
/// ```
///
/// # Panics
/// If the range ends in the upper half of its type's numbers, and less than a step before the last one.
#[inline(always)]
#[track_caller]
pub fn in_block<N: Counter>(range: Range<N>) -> StridedRange<N> {
    let (first, step) = (thread::linear_in_block(), block::threads());
    StridedRange::new(range, first as usize, step as usize)
}

/// The lane's numbers of a range that the lanes of a warp share: `range.start` and the lane's number, and every 32nd after it (in a warp of
/// fewer threads, every so many).
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// /// A sparse matrix times a vector, one row a warp.
/// #[kernel]
/// pub fn spmv(starts: &[u32], columns: &[u32], values: &[f32], x: &[f32], mut y: PerWarp<[f32]>) {
///     let row = y.index();
///     let (Some(&begin), Some(&end)) = (starts.get(row), starts.get(row + 1)) else { return };
///     let mut sum = 0.0;
///     for i in strided::in_warp(begin..end) {
///         sum += values.at(i) * x.at(*columns.at(i));
///     }
///     let sum = warp::reduce(sum, |a, b| a + b);
///     if let Some(y) = y.leader() {
///         *y = sum;
///     }
/// }
/// ```
///
/// # Panics
/// If the range ends in the upper half of its type's numbers, and less than a step before the last one.
#[inline(always)]
#[track_caller]
pub fn in_warp<N: Counter>(range: Range<N>) -> StridedRange<N> {
    let thread = thread::linear_in_block();
    let lane = thread % warp::SIZE;
    let lanes = (block::threads() - (thread - lane)).min(warp::SIZE);
    StridedRange::new(range, lane as usize, lanes as usize)
}

/// The numbers of [`in_grid`], [`in_block`] and [`in_warp`].
#[derive(Clone, Debug)]
pub struct StridedRange<N> {
    next: N,
    end: N,
    /// At most what is left of the type's numbers behind `end`.
    step: N,
}

/// The types of numbers that a [`StridedRange`] counts in: `u32`, or `usize`, which is wider and slower.
#[diagnostic::on_unimplemented(
    message = "a strided range counts in `u32` or `usize`, not in `{Self}`",
    note = "a range of plain literals is one of `i32`: `0..100u32`"
)]
pub trait Counter: sealed::Sealed + Copy + Ord {}
impl Counter for u32 {}
impl Counter for usize {}

mod sealed {
    pub trait Sealed: Copy + Ord {
        /// The number, or the greatest one if it is greater.
        fn saturating_from(number: usize) -> Self;
        fn saturating_add(self, other: Self) -> Self;
        /// How far it is to the type's greatest number.
        fn room(self) -> Self;
        /// # Safety
        /// The sum is one of the type's numbers.
        unsafe fn unchecked_add(self, other: Self) -> Self;
    }
}

macro_rules! counters {
    ($($counter:ident)*) => {$(
        impl sealed::Sealed for $counter {
            #[inline(always)]
            fn saturating_from(number: usize) -> Self {
                $counter::try_from(number).unwrap_or($counter::MAX)
            }

            #[inline(always)]
            fn saturating_add(self, other: Self) -> Self {
                $counter::saturating_add(self, other)
            }

            #[inline(always)]
            fn room(self) -> Self {
                $counter::MAX - self
            }

            #[inline(always)]
            unsafe fn unchecked_add(self, other: Self) -> Self {
                // SAFETY: the sum fits, by the function's condition.
                unsafe { $counter::unchecked_add(self, other) }
            }
        }
    )*};
}
counters!(u32 usize);

impl<N: Counter> StridedRange<N> {
    /// The numbers of `range` from its `first`-th on, each so many after the one before: those with a remainder of their own if `first` is
    /// below `step`.
    ///
    /// # Panics
    /// If the range ends in the upper half of the type's numbers, and less than a step before the last one.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn new(range: Range<N>, first: usize, step: usize) -> Self {
        let (room, step) = (range.end.room(), N::saturating_from(step));
        StridedRange {
            // The greatest number is in no range that ends before one, so it may stand for all that are greater.
            next: range.start.saturating_add(N::saturating_from(first)),
            end: range.end,
            step: if step <= room {
                step
            } else if range.end <= room {
                // It goes past the end from every number, as the true step does.
                room
            } else {
                no_room()
            },
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_room() -> ! {
    panic!("a strided range ends less than a step before the greatest number of its type")
}

impl<N: Counter> Iterator for StridedRange<N> {
    type Item = N;

    #[inline(always)]
    fn next(&mut self) -> Option<N> {
        let number = self.next;
        if number >= self.end {
            return None;
        }
        // SAFETY: the number is below `end`, behind which there is room for `step`.
        self.next = unsafe { number.unchecked_add(self.step) };
        Some(number)
    }
}

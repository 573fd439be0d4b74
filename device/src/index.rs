//! Elements of slices by numbers of 32 bits, which is the width of a GPU's registers.
//!
//! A `usize` takes two registers and a comparison of it two instructions. Who knows that an index fits 32 bits keeps it a `u32` and writes
//! `x.at(i)` in the place of `x[i]`. What such functions are called says how wide they are: with `at` they take a `u32` where the one
//! without takes a `usize`, with `32` at their end they give one.
//!
//! ```
//! use warpsmith_device::prelude::*;
//!
//! /// The sum of each row's elements, one row a thread; row `r` begins at `starts[r]`.
//! #[kernel]
//! pub fn row_sums(starts: &[u32], x: &[f32], mut sums: PerThread<[f32]>) {
//!     let row = thread::index_1d();
//!     let (Some(&begin), Some(&end)) = (starts.get_at(row), starts.get_at(row + 1)) else { return };
//!     let sum = x.at(begin..end).iter().sum();
//!     if let Some(out) = sums.mine() {
//!         *out = sum;
//!     }
//! }
//! ```

use core::ops::{Range, RangeFrom, RangeTo};
use core::slice::SliceIndex;

/// What [`SliceAt`]'s functions take: a `u32`, or a range of them.
#[diagnostic::on_unimplemented(
    message = "`at` takes numbers of 32 bits, not `{Self}`",
    label = "not a `u32` or a range of `u32`",
    note = "a `usize` is an index as it is: `x[i]`, `x.get(i)`; `x[a..b]`"
)]
pub trait Index32<T>: sealed::Sealed {
    /// What is found there: an element, or a part of the slice.
    type Output: ?Sized;
    #[doc(hidden)]
    type Wide: SliceIndex<[T], Output = Self::Output>;
    #[doc(hidden)]
    fn widen(self) -> Self::Wide;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! indices {
    ($($index:ty => $output:ty, $wide:ty: |$at:ident| $widened:expr;)*) => {$(
        impl sealed::Sealed for $index {}

        impl<T> Index32<T> for $index {
            type Output = $output;
            type Wide = $wide;

            #[inline(always)]
            fn widen(self) -> $wide {
                let $at = self;
                $widened
            }
        }
    )*};
}
indices! {
    u32 => T, usize: |at| at as usize;
    Range<u32> => [T], Range<usize>: |at| at.start as usize..at.end as usize;
    RangeFrom<u32> => [T], RangeFrom<usize>: |at| at.start as usize..;
    RangeTo<u32> => [T], RangeTo<usize>: |at| ..at.end as usize;
}

/// Slices by numbers of 32 bits: of all that dereferences to a slice (arrays, [`SharedView`](crate::shared::SharedView),
/// [`AtomicSlice`](crate::atomic::AtomicSlice), ...).
///
/// The functions are bounds-checked for slices of any length. Behind [`len32`](SliceAt::len32) the compiler knows that the length has 32
/// bits, so that the check is one comparison of 32 bits. The address becomes one `mad.wide.u32` or `mul.wide.u32`.
pub trait SliceAt {
    /// The slice's elements.
    type Element;

    /// The number of elements.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// let x = [1.0, 2.0, 4.0];
    /// let n: u32 = x.len32();
    /// assert_eq!((0..n).map(|i| x.at(i)).sum::<f32>(), 7.0);
    /// ```
    ///
    /// # Panics
    /// If there are 2^32 or more.
    fn len32(&self) -> u32;

    /// The element at `index`, or the part of the slice in this range: `x.at(i)` is `&x[i]`.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// let x = [1.0, 2.0, 4.0];
    /// let (i, j) = (1u32, 3u32);
    /// assert_eq!(*x.at(i), 2.0);
    /// assert_eq!(x.at(i..j), [2.0, 4.0]);
    /// ```
    ///
    /// A `usize` is refused, so that one that had more bits is not cut off unseen:
    ///
    /// ```compile_fail,E0277
    /// use warpsmith_device::prelude::*;
    ///
    /// let x = [1.0, 2.0, 4.0];
    /// let i: usize = 1;
    /// let _ = x.at(i);
    /// ```
    ///
    /// # Panics
    /// If there is no such element, as `x[i]` does.
    fn at<I: Index32<Self::Element>>(&self, index: I) -> &I::Output;

    /// [`at`](SliceAt::at) of what may be changed: `&mut x[i]`.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// let mut counts = [0; 4];
    /// *counts.at_mut(3u32) += 1;
    /// assert_eq!(counts, [0, 0, 0, 1]);
    /// ```
    ///
    /// # Panics
    /// If there is no such element.
    fn at_mut<I: Index32<Self::Element>>(&mut self, index: I) -> &mut I::Output;

    /// The element at `index`, or the part of the slice in this range, if it is there: `x.get(i)`.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// Gathers, one element a thread.
    /// #[kernel]
    /// pub fn gather(x: &[f32], from: &[u32], mut y: PerThread<[f32]>) {
    ///     let value = from.get(thread::index()).and_then(|&from| x.get_at(from));
    ///     if let (Some(&value), Some(y)) = (value, y.mine()) {
    ///         *y = value;
    ///     }
    /// }
    /// ```
    fn get_at<I: Index32<Self::Element>>(&self, index: I) -> Option<&I::Output>;

    /// [`get_at`](SliceAt::get_at) of what may be changed.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// let mut counts = [0; 4];
    /// if let Some(count) = counts.get_at_mut(4u32) {
    ///     *count += 1;
    /// }
    /// assert_eq!(counts, [0; 4]);
    /// ```
    fn get_at_mut<I: Index32<Self::Element>>(&mut self, index: I) -> Option<&mut I::Output>;
}

impl<T> SliceAt for [T] {
    type Element = T;

    #[inline(always)]
    #[track_caller]
    fn len32(&self) -> u32 {
        len32(self.len())
    }

    #[inline(always)]
    #[track_caller]
    fn at<I: Index32<T>>(&self, index: I) -> &I::Output {
        &self[index.widen()]
    }

    #[inline(always)]
    #[track_caller]
    fn at_mut<I: Index32<T>>(&mut self, index: I) -> &mut I::Output {
        &mut self[index.widen()]
    }

    #[inline(always)]
    fn get_at<I: Index32<T>>(&self, index: I) -> Option<&I::Output> {
        self.get(index.widen())
    }

    #[inline(always)]
    fn get_at_mut<I: Index32<T>>(&mut self, index: I) -> Option<&mut I::Output> {
        self.get_mut(index.widen())
    }
}

/// A length that is to have 32 bits.
#[inline(always)]
#[track_caller]
pub(crate) fn len32(length: usize) -> u32 {
    match u32::try_from(length) {
        Ok(length) => length,
        Err(_) => too_long(),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn too_long() -> ! {
    panic!("a slice of 2^32 or more elements has no length of 32 bits")
}

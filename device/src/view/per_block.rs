//! Each block its own element of a slice.

use core::marker::PhantomData;

use crate::{grid, thread};

/// A slice of which each block owns one element, written by one of its threads: partial results.
///
/// Written as a parameter: `mut sums: PerBlock<[f32]>`. Works in launches of any dimensions; blocks are numbered by
/// [`grid::linear_block`].
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn count_odd(x: &[u32], mut counts: PerBlock<[u32]>) {
///     let odd = x.get(thread::index()).is_some_and(|x| x % 2 == 1);
///     let count = block::sync_count(odd);
///     if let Some(out) = counts.leader() {
///         *out = count;
///     }
/// }
/// ```
pub struct PerBlock<'a, T: ?Sized> {
    pointer: *mut (),
    length: usize,
    slice: PhantomData<&'a mut T>,
}

impl<T> PerBlock<'_, [T]> {
    /// # Safety
    /// `pointer` is valid for reads and writes of `length` elements for as long as the kernel runs, and during it
    /// reached through this view only, of which every thread has a copy made from the same arguments.
    #[inline(always)]
    pub(crate) unsafe fn from_raw_parts(pointer: *mut T, length: usize) -> Self {
        // SAFETY: the pointer is valid, by the function's condition.
        unsafe { super::assume_valid(pointer) };
        PerBlock {
            pointer: pointer.cast(),
            length,
            slice: PhantomData,
        }
    }

    /// The number of elements of the whole slice.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the whole slice is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// In thread (0, 0, 0) of a block the block's element; `None` in the others, and where the slice is shorter.
    #[inline(always)]
    pub fn leader(&mut self) -> Option<&mut T> {
        let (x, y, z) = thread::idx();
        let block = grid::linear_block() as usize;
        if (x | y | z) == 0 && block < self.length {
            // SAFETY: in bounds; this thread is the only one of its block, and the block has its own element.
            Some(unsafe { &mut *self.pointer.cast::<T>().add(block) })
        } else {
            None
        }
    }
}

//! Arrays in shared memory and their phases.

use core::ops::Deref;

use super::{Element, Reuse};
use crate::{block, thread};

/// `N` elements of shared memory that are to be filled: no thread reads them in this phase.
pub struct SharedArray<T, const N: usize> {
    pointer: *mut T,
}

/// A [`SharedArray`] that this thread has filled its part of.
pub struct SharedFilled<T, const N: usize> {
    pointer: *mut T,
    length: usize,
}

/// Shared memory that all threads of the block read and none writes: dereferences to a slice.
pub struct SharedView<T, const N: usize> {
    pointer: *mut T,
    length: usize,
}

/// Filled shared memory in which each thread may change its own elements.
pub struct SharedOwn<T, const N: usize> {
    pointer: *mut T,
    length: usize,
}

impl<T, const N: usize> SharedArray<T, N> {
    #[doc(hidden)]
    #[inline(always)]
    pub fn __new(pointer: *mut T, reuse: Reuse) -> Self
    where
        T: Element,
    {
        reuse.wait();
        SharedArray { pointer }
    }
}

impl<T: Element, const N: usize> SharedArray<T, N> {
    /// Writes the thread's own element, the one with its number in the block ([`thread::linear_in_block`]).
    ///
    /// In a block of fewer than `N` threads the rest stays uninitialised, and the later view ends there; threads past
    /// `N` write nothing.
    #[inline(always)]
    pub fn write(self, value: T) -> SharedFilled<T, N> {
        let own = thread::linear_in_block() as usize;
        if own < N {
            // SAFETY: in bounds, the thread's own, and no thread reads in this phase.
            unsafe { self.pointer.add(own).write(value) };
        }
        SharedFilled {
            pointer: self.pointer,
            length: N.min(block::threads() as usize),
        }
    }

    /// Fills the whole array, whatever the size of the block: the thread computes every `block::threads()`-th element,
    /// starting with its own number.
    #[inline(always)]
    pub fn fill_with(self, mut value: impl FnMut(usize) -> T) -> SharedFilled<T, N> {
        let step = block::threads() as usize;
        let mut index = thread::linear_in_block() as usize;
        while index < N {
            // SAFETY: in bounds; no other thread has an index with this remainder; no thread reads in this phase.
            unsafe { self.pointer.add(index).write(value(index)) };
            index += step;
        }
        SharedFilled {
            pointer: self.pointer,
            length: N,
        }
    }

    /// The first element's address, for unsafe code with a pattern of its own.
    #[inline(always)]
    pub fn as_mut_ptr(&self) -> *mut T {
        self.pointer
    }
}

impl<T, const N: usize> SharedArray<T, N> {
    /// The array of a phase that has ended.
    #[inline(always)]
    pub(super) fn from_pointer(pointer: *mut T) -> Self {
        SharedArray { pointer }
    }
}

impl<T, const N: usize> SharedFilled<T, N> {
    /// The pointer and the number of elements, for another phase.
    #[inline(always)]
    pub(super) fn into_parts(self) -> (*mut T, usize) {
        (self.pointer, self.length)
    }
}

impl<T, const N: usize> SharedView<T, N> {
    /// The view of a phase that begins: so many elements are initialised, and no thread writes.
    #[inline(always)]
    pub(super) fn from_parts(pointer: *mut T, length: usize) -> Self {
        SharedView { pointer, length }
    }
}

impl<T: Element, const N: usize> SharedFilled<T, N> {
    /// Waits for the whole block: from here on everyone reads what all have written. A [`block::sync`].
    #[inline(always)]
    pub fn sync(self) -> SharedView<T, N> {
        block::sync();
        SharedView {
            pointer: self.pointer,
            length: self.length,
        }
    }
}

impl<T: Element, const N: usize> SharedView<T, N> {
    /// Waits until everyone has read, and gives the array back to be filled anew. A [`block::sync`].
    #[inline(always)]
    pub fn sync(self) -> SharedArray<T, N> {
        block::sync();
        SharedArray {
            pointer: self.pointer,
        }
    }

    /// Waits until everyone has read, and lets each thread change its own elements. A [`block::sync`].
    #[inline(always)]
    pub fn sync_mut(self) -> SharedOwn<T, N> {
        block::sync();
        SharedOwn {
            pointer: self.pointer,
            length: self.length,
        }
    }
}

impl<T: Element, const N: usize> Deref for SharedView<T, N> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: so many elements are initialised (each thread has filled its part before the barrier), and no thread
        // writes until this view is consumed by the next barrier, which ends all borrows of it.
        unsafe { core::slice::from_raw_parts(self.pointer, self.length) }
    }
}

impl<T: Element, const N: usize> SharedOwn<T, N> {
    /// The thread's own element, the one with its number in the block, if the array reaches so far.
    #[inline(always)]
    pub fn mine(&mut self) -> Option<&mut T> {
        let own = thread::linear_in_block() as usize;
        if own < self.length {
            // SAFETY: initialised, in bounds, and the thread's own in this phase.
            Some(unsafe { &mut *self.pointer.add(own) })
        } else {
            None
        }
    }

    /// Calls `change` with each of the thread's own elements: its number, and every `block::threads()`-th after it.
    #[inline(always)]
    pub fn for_each_mine(&mut self, mut change: impl FnMut(usize, &mut T)) {
        let step = block::threads() as usize;
        let mut index = thread::linear_in_block() as usize;
        while index < self.length {
            // SAFETY: initialised, in bounds, and no other thread has an index with this remainder in this phase.
            change(index, unsafe { &mut *self.pointer.add(index) });
            index += step;
        }
    }

    /// Waits for the whole block: from here on everyone reads what all have written. A [`block::sync`].
    #[inline(always)]
    pub fn sync(self) -> SharedView<T, N> {
        block::sync();
        SharedView {
            pointer: self.pointer,
            length: self.length,
        }
    }
}

//! Arrays in shared memory and their phases.

use core::marker::PhantomData;
use core::ops::Deref;

use super::Element;
use crate::{block, thread};

/// `N` elements of shared memory that are to be filled: no thread reads them in this phase.
///
/// An object has one handle: [`shared!`](crate::shared!) makes it once. A helper function takes it by value and gives it
/// back, or takes `&mut SharedArray` and begins with [`refill`](SharedArray::refill).
pub struct SharedArray<'a, T, const N: usize> {
    pointer: *mut T,
    /// Handles were lent, and threads may still read through theirs.
    lent: bool,
    object: PhantomData<&'a mut [T]>,
}

macro_rules! phases {
    ($($(#[$attribute:meta])* $name:ident;)*) => {$(
        $(#[$attribute])*
        pub struct $name<'a, T, const N: usize> {
            pointer: *mut T,
            length: usize,
            object: PhantomData<&'a mut [T]>,
        }

        impl<T, const N: usize> $name<'_, T, N> {
            /// The handle of a phase that begins, made of the last phase's: so many elements are initialised.
            #[inline(always)]
            pub(super) fn from_parts(pointer: *mut T, length: usize) -> Self {
                $name {
                    pointer,
                    length,
                    object: PhantomData,
                }
            }
        }
    )*};
}

phases! {
    /// A [`SharedArray`] that this thread has filled its part of.
    #[must_use = "nobody can read it before a barrier: `.sync()`"]
    SharedFilled;
    /// Shared memory that all threads of the block read and none writes: dereferences to a slice.
    SharedView;
    /// Filled shared memory in which each thread may change its own elements.
    SharedOwn;
}

impl<T, const N: usize> SharedArray<'_, T, N> {
    /// The handle to an object that no other handle is in use for.
    #[inline(always)]
    pub(super) fn from_pointer(pointer: *mut T) -> Self {
        SharedArray {
            pointer,
            lent: false,
            object: PhantomData,
        }
    }

    /// Waits for those who may still use what was lent.
    #[inline(always)]
    fn take_back(&self) {
        if self.lent {
            block::sync();
        }
    }
}

impl<T, const N: usize> SharedArray<'_, T, N> {
    /// The object, for a phase in which it is filled: nobody uses what was lent any more.
    #[inline(always)]
    pub(super) fn into_pointer(self) -> *mut T {
        self.take_back();
        self.pointer
    }
}

impl<'a, T: Element, const N: usize> SharedArray<'a, T, N> {
    /// Writes the thread's own element, the one with its number in the block ([`thread::linear_in_block`]).
    ///
    /// In a block of fewer than `N` threads the rest stays uninitialised, and the later view ends there; threads past
    /// `N` write nothing.
    ///
    /// If the handle was lent before ([`refill`](SharedArray::refill)), this begins with a [`block::sync`].
    #[inline(always)]
    pub fn write(self, value: T) -> SharedFilled<'a, T, N> {
        self.take_back();
        let own = thread::linear_in_block() as usize;
        if own < N {
            // SAFETY: in bounds, the thread's own, and no thread reads in this phase.
            unsafe { self.pointer.add(own).write(value) };
        }
        SharedFilled::from_parts(self.pointer, N.min(block::threads() as usize))
    }

    /// Fills the whole array, whatever the size of the block: the thread computes every `block::threads()`-th element,
    /// starting with its own number.
    ///
    /// If the handle was lent before ([`refill`](SharedArray::refill)), this begins with a [`block::sync`].
    #[inline(always)]
    pub fn fill_with(self, mut value: impl FnMut(usize) -> T) -> SharedFilled<'a, T, N> {
        self.take_back();
        let step = block::threads() as usize;
        let mut index = thread::linear_in_block() as usize;
        while index < N {
            // SAFETY: in bounds; no other thread has an index with this remainder; no thread reads in this phase.
            unsafe { self.pointer.add(index).write(value(index)) };
            index += step;
        }
        SharedFilled::from_parts(self.pointer, N)
    }

    /// Waits until everyone is done with what was made of this handle before, and lends it for another round: for helper
    /// functions, and for loops. A [`block::sync`].
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    /// use warpsmith_device::shared::SharedArray;
    ///
    /// /// What the neighbour passes.
    /// fn neighbour(buffer: &mut SharedArray<u32, 128>, value: u32) -> u32 {
    ///     let values = buffer.refill().write(value).sync();
    ///     values[(thread::linear_in_block() as usize + 1) % values.len()]
    /// }
    ///
    /// #[kernel(launch_bounds(128))]
    /// pub fn rotate(times: u32, mut out: PerThread<[u32]>) {
    ///     let mut buffer = shared!([u32; 128]);
    ///     let mut value = thread::linear_in_block();
    ///     for _ in 0..times {
    ///         value = neighbour(&mut buffer, value);
    ///     }
    ///     if let Some(out) = out.mine() {
    ///         *out = value;
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn refill(&mut self) -> SharedArray<'_, T, N> {
        // The handles that this thread lent before are gone, since they borrowed `self`; behind the barrier so are those of
        // all threads.
        block::sync();
        self.lent = true;
        SharedArray::from_pointer(self.pointer)
    }

    /// The first element's address, for unsafe code with a pattern of its own.
    #[inline(always)]
    pub fn as_mut_ptr(&self) -> *mut T {
        self.pointer
    }
}

impl<T, const N: usize> SharedFilled<'_, T, N> {
    /// The pointer and the number of elements, for another phase.
    #[inline(always)]
    pub(super) fn into_parts(self) -> (*mut T, usize) {
        (self.pointer, self.length)
    }
}

impl<'a, T: Element, const N: usize> SharedFilled<'a, T, N> {
    /// Waits for the whole block: from here on everyone reads what all have written. A [`block::sync`].
    #[inline(always)]
    pub fn sync(self) -> SharedView<'a, T, N> {
        block::sync();
        SharedView::from_parts(self.pointer, self.length)
    }
}

impl<'a, T: Element, const N: usize> SharedView<'a, T, N> {
    /// Waits until everyone has read, and gives the array back to be filled anew. A [`block::sync`].
    #[inline(always)]
    pub fn sync(self) -> SharedArray<'a, T, N> {
        block::sync();
        SharedArray::from_pointer(self.pointer)
    }

    /// Waits until everyone has read, and lets each thread change its own elements. A [`block::sync`].
    #[inline(always)]
    pub fn sync_mut(self) -> SharedOwn<'a, T, N> {
        block::sync();
        SharedOwn::from_parts(self.pointer, self.length)
    }
}

impl<T: Element, const N: usize> Deref for SharedView<'_, T, N> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: so many elements are initialised (each thread has filled its part before the barrier), and no thread
        // writes until this view is consumed by the next barrier, which ends all borrows of it.
        unsafe { core::slice::from_raw_parts(self.pointer, self.length) }
    }
}

impl<'a, T: Element, const N: usize> SharedOwn<'a, T, N> {
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
    pub fn sync(self) -> SharedView<'a, T, N> {
        block::sync();
        SharedView::from_parts(self.pointer, self.length)
    }
}

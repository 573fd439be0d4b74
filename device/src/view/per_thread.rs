//! Each thread its own elements of a slice.

use core::marker::PhantomData;

use super::define::slice_view;
use crate::{block, grid, thread};

slice_view! {
    /// A slice of which each thread of a one-dimensional launch owns the elements `i`, `i + n`, `i + 2n`, ..., where `i` is
    /// [`thread::index`] and `n` the number of threads in the grid.
    ///
    /// Written as a parameter: `mut y: PerThread<[f32]>`. The launch may extend along x only; the launcher holds that. For
    /// launches in more dimensions there is [`PerThread3d`].
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// #[kernel]
    /// pub fn double(mut values: PerThread<[f32]>) {
    ///     if let Some(value) = values.mine() {
    ///         *value *= 2.0;
    ///     }
    /// }
    ///
    /// /// The same for a grid smaller than the slice.
    /// #[kernel]
    /// pub fn double_all(mut values: PerThread<[f32]>) {
    ///     for (_index, value) in values.strided() {
    ///         *value *= 2.0;
    ///     }
    /// }
    /// ```
    PerThread<T>
}

impl<T> PerThread<'_, [T]> {
    /// The first element, for unsafe code with another pattern of writing.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.pointer.cast()
    }

    /// The element with the thread's own number, [`thread::index`]; `None` when the slice is shorter.
    #[inline(always)]
    pub fn mine(&mut self) -> Option<&mut T> {
        let index = thread::index();
        if index < self.length {
            // SAFETY: in bounds, and no other thread has this number: the launch extends along x only.
            Some(unsafe { &mut *self.pointer.cast::<T>().add(index) })
        } else {
            None
        }
    }

    /// The thread's elements one after the other, each with its index: a grid-stride loop.
    #[inline(always)]
    pub fn strided(&mut self) -> Strided<'_, T> {
        Strided {
            pointer: self.pointer.cast(),
            length: self.length,
            next: thread::index(),
            step: grid::threads_x(),
            slice: PhantomData,
        }
    }
}

/// As [`PerThread`], for launches of any dimensions: the threads are numbered by [`thread::linear_index`].
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn number(mut out: PerThread3d<[u32]>) {
///     let number = thread::linear_index() as u32;
///     if let Some(out) = out.mine() {
///         *out = number;
///     }
/// }
/// ```
pub struct PerThread3d<'a, T: ?Sized> {
    inner: PerThread<'a, T>,
}

impl<T> PerThread3d<'_, [T]> {
    /// # Safety
    /// As [`PerThread::from_raw_parts`].
    #[inline(always)]
    pub(crate) unsafe fn from_raw_parts(pointer: *mut T, length: usize) -> Self {
        // SAFETY: the condition of this function is that one's.
        let inner = unsafe { PerThread::from_raw_parts(pointer, length) };
        PerThread3d { inner }
    }

    /// The number of elements of the whole slice.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.inner.length
    }

    /// Whether the whole slice is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.inner.length == 0
    }

    /// The element with the thread's own number, [`thread::linear_index`]; `None` when the slice is shorter.
    #[inline(always)]
    pub fn mine(&mut self) -> Option<&mut T> {
        self.strided().next().map(|(_, element)| element)
    }

    /// The thread's elements one after the other, each with its index.
    #[inline(always)]
    pub fn strided(&mut self) -> Strided<'_, T> {
        Strided {
            pointer: self.inner.pointer.cast(),
            length: self.inner.length,
            next: thread::linear_index(),
            step: grid::blocks() as usize * block::threads() as usize,
            slice: PhantomData,
        }
    }
}

/// The elements of one thread, with their indices.
pub struct Strided<'a, T> {
    pointer: *mut T,
    length: usize,
    next: usize,
    step: usize,
    slice: PhantomData<&'a mut [T]>,
}

impl<T> Strided<'_, T> {
    /// The elements `first`, `first + step`, ... below `length`.
    ///
    /// # Safety
    /// `pointer` leads to `length` elements, of which these are reached through the iterator only for the lifetime; `step` is not 0.
    #[inline(always)]
    pub(super) unsafe fn new(pointer: *mut T, length: usize, first: usize, step: usize) -> Self {
        Strided {
            pointer,
            length,
            next: first,
            step,
            slice: PhantomData,
        }
    }
}

impl<'a, T> Iterator for Strided<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let index = self.next;
        if index < self.length {
            // The step is below 2^61 and the index below 2^63, so this cannot wrap.
            self.next = index + self.step;
            // SAFETY: in bounds; each index is given out once (the step is not 0), and to this thread only: the threads' first
            // indices are different numbers below the step, or are the owner's by the condition of `new`.
            Some((index, unsafe { &mut *self.pointer.add(index) }))
        } else {
            None
        }
    }
}

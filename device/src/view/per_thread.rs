//! Each thread its own elements of a slice.

use core::marker::PhantomData;

use super::define::slice_view;
use crate::strided::{self, StridedRange};
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

    /// [`strided`](PerThread::strided) with indices of 32 bits, which take half the instructions.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// #[kernel]
    /// pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
    ///     for (i, y) in y.strided32() {
    ///         *y += a * x.at(i);
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If the slice has 2^32 elements or more.
    #[inline(always)]
    #[track_caller]
    pub fn strided32(&mut self) -> Strided32<'_, T> {
        let own = strided::in_grid(0..self.len32());
        // SAFETY: the numbers end at the slice's length. They are the thread's alone: it has those with the remainder
        // `thread::index()` by the number of threads, as the launch extends along x only.
        unsafe { Strided32::new(self.pointer.cast(), own) }
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

    /// The number of elements of the whole slice, as [`SliceAt::len32`](crate::index::SliceAt::len32).
    ///
    /// # Panics
    /// If there are 2^32 or more.
    #[inline(always)]
    #[track_caller]
    pub fn len32(&self) -> u32 {
        self.inner.len32()
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

    /// [`strided`](PerThread3d::strided) with indices of 32 bits, as [`PerThread::strided32`].
    ///
    /// # Panics
    /// If the slice has 2^32 elements or more.
    #[inline(always)]
    #[track_caller]
    pub fn strided32(&mut self) -> Strided32<'_, T> {
        let step = grid::blocks() as usize * block::threads() as usize;
        let own = StridedRange::new(0..self.len32(), thread::linear_index(), step);
        // SAFETY: the numbers end at the slice's length. They are the thread's alone: it has those with the remainder
        // `thread::linear_index()` by the number of threads.
        unsafe { Strided32::new(self.inner.pointer.cast(), own) }
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

/// The elements of one thread, with their indices of 32 bits.
pub struct Strided32<'a, T> {
    pointer: *mut T,
    own: StridedRange<u32>,
    slice: PhantomData<&'a mut [T]>,
}

impl<T> Strided32<'_, T> {
    /// The elements with the numbers `own`.
    ///
    /// # Safety
    /// `pointer` leads to elements with all of the numbers, which are reached through the iterator only for the lifetime.
    #[inline(always)]
    pub(super) unsafe fn new(pointer: *mut T, own: StridedRange<u32>) -> Self {
        Strided32 {
            pointer,
            own,
            slice: PhantomData,
        }
    }
}

impl<'a, T> Iterator for Strided32<'a, T> {
    type Item = (u32, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.own.next().map(|index| {
            // SAFETY: there is such an element, and it is this thread's alone (the condition of `new`); each number is given out
            // once.
            (index, unsafe { &mut *self.pointer.add(index as usize) })
        })
    }
}

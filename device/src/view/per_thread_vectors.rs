//! Each thread its own 16-byte vectors of a slice.

use super::define::slice_view;
use super::per_thread::Strided32;
use crate::index::len32;
use crate::strided;
use crate::vector::{Lanes, Vector, assert_aligned};
use crate::{grid, thread};

slice_view! {
    /// A slice divided into 16-byte vectors, of which each thread of a one-dimensional launch owns those numbered `i`,
    /// `i + n`, `i + 2n`, ..., where `i` is [`thread::index`] and `n` the number of threads in the grid. The elements after
    /// the last whole vector belong to the first threads, one each.
    ///
    /// Written as a parameter: `mut y: PerThreadVectors<[f32]>`. The launch may extend along x only; the launcher holds that.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// #[kernel]
    /// pub fn halve(mut values: PerThreadVectors<[f32]>) {
    ///     for (_number, Vector(vector)) in values.strided() {
    ///         *vector = vector.map(|x| x * 0.5);
    ///     }
    ///     if let Some((_index, x)) = values.tail() {
    ///         *x *= 0.5;
    ///     }
    /// }
    /// ```
    PerThreadVectors<T: Lanes>, where |pointer| assert_aligned(pointer)
}

impl<T: Lanes> PerThreadVectors<'_, [T]> {
    /// The number of whole vectors.
    #[inline(always)]
    pub fn vectors(&self) -> usize {
        self.length / T::LANES
    }

    /// The vector with the thread's own number, [`thread::index`]; `None` when there are fewer.
    #[inline(always)]
    pub fn mine(&mut self) -> Option<&mut Vector<T>> {
        self.several().map(|[own]| own)
    }

    /// The thread's first `K` vectors at once, so that several loads can be on their way together: those numbered
    /// [`thread::index`]` + k * `[`grid::threads_x`]. `None` when there are fewer.
    #[inline(always)]
    pub fn several<const K: usize>(&mut self) -> Option<[&mut Vector<T>; K]> {
        let (first, step) = (thread::index(), grid::threads_x());
        let base = self.pointer.cast::<Vector<T>>();
        (first + (K - 1) * step < self.vectors()).then(|| {
            // SAFETY: in bounds and aligned; no other thread has these numbers, since the first ones are different and
            // below the step, and each of this thread's is given out once.
            core::array::from_fn(|k| unsafe { &mut *base.add(first + k * step) })
        })
    }

    /// The thread's vectors one after the other, each with its number: a grid-stride loop.
    #[inline(always)]
    pub fn strided(&mut self) -> impl Iterator<Item = (usize, &mut Vector<T>)> {
        let (step, vectors) = (grid::threads_x(), self.vectors());
        let base = self.pointer.cast::<Vector<T>>();
        let mut next = thread::index();
        core::iter::from_fn(move || {
            let number = next;
            next += step;
            // SAFETY: in bounds and aligned; no other thread has this number, since the first ones are different and below the
            // step, and each of this thread's is given out once.
            (number < vectors).then(|| (number, unsafe { &mut *base.add(number) }))
        })
    }

    /// [`strided`](PerThreadVectors::strided) with numbers of 32 bits, as [`PerThread::strided32`](super::PerThread::strided32).
    ///
    /// # Panics
    /// If there are 2^32 vectors or more.
    #[inline(always)]
    #[track_caller]
    pub fn strided32(&mut self) -> Strided32<'_, Vector<T>> {
        let own = strided::in_grid(0..len32(self.vectors()));
        // SAFETY: the numbers are those of vectors, which are aligned. They are the thread's alone: it has those with the remainder
        // `thread::index()` by the number of threads, as the launch extends along x only.
        unsafe { Strided32::new(self.pointer.cast(), own) }
    }

    /// The thread's element after the last whole vector, with its index, if there is one for it.
    #[inline(always)]
    pub fn tail(&mut self) -> Option<(usize, &mut T)> {
        let index = self.vectors() * T::LANES + thread::index();
        // SAFETY: in bounds, behind all vectors, and no other thread has this index.
        (index < self.length).then(|| (index, unsafe { &mut *self.pointer.cast::<T>().add(index) }))
    }
}

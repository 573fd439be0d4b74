//! A slice that all threads write at computed places.

use bytemuck::Pod;

use super::define::slice_view;
use crate::atomic::{Atomic, AtomicValue, Relaxed, scope};

slice_view! {
    /// A slice that each thread writes where it likes: a permutation, a compaction, a bucket sort.
    ///
    /// Written as a parameter: `out: Scatter<[u32]>`; the launch passes `&mut` memory, as for [`PerThread`](super::PerThread), and may have
    /// any dimensions. The elements consist of words of 4 bytes: any [`Pod`] type whose size and alignment are multiples of 4.
    ///
    /// Bounds are checked. That no two threads write one element is not: it is no data race, because each word is stored atomically, and
    /// which thread's word stays is not specified (of elements larger than 8 bytes, word by word).
    /// [`write_once`](Scatter::write_once) finds a second writer. Nothing of the slice can be read by its threads.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// Moves each element to its new place.
    /// #[kernel]
    /// pub fn permute(x: &[f32], places: &[u32], out: Scatter<[f32]>) {
    ///     let i = thread::index();
    ///     if let (Some(&x), Some(&place)) = (x.get(i), places.get(i)) {
    ///         out.write(place as usize, x);
    ///     }
    /// }
    /// ```
    Scatter<T: Pod>,
    // A parameter of other types does not compile (`OfWords` in `parameter`).
    where |_pointer| const { assert!(align_of::<T>().is_multiple_of(4)) }
}

impl<T: Pod> Scatter<'_, [T]> {
    /// Writes an element.
    ///
    /// Becomes `st.relaxed.gpu.global` for every 8 bytes of `T` (4 if its alignment is), which costs what an ordinary store does; only
    /// stores are not combined into one of 16 bytes. Any arch.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline(always)]
    #[track_caller]
    pub fn write(&self, index: usize, value: T) {
        if !self.try_write(index, value) {
            outside()
        }
    }

    /// Writes an element, if there is one: false if not.
    #[inline(always)]
    #[must_use = "false means that the index is out of bounds and nothing was written"]
    pub fn try_write(&self, index: usize, value: T) -> bool {
        if index >= self.length {
            return false;
        }
        // SAFETY: in bounds (compared just now).
        let element = unsafe { self.pointer.cast::<T>().add(index) };
        if align_of::<T>().is_multiple_of(8) {
            // SAFETY: the element is valid, in global memory, used atomically only (`from_raw_parts`), and aligned to 8 bytes.
            unsafe { store::<T, u64>(element, value) };
        } else {
            // SAFETY: the element is valid, in global memory, used atomically only, and aligned to 4 bytes as each one is (`from_raw_parts`).
            unsafe { store::<T, u32>(element, value) };
        }
        true
    }

    /// [`write`](Scatter::write) with an index of 32 bits.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// Moves each element to its new place.
    /// #[kernel]
    /// pub fn permute(x: &[f32], places: &[u32], out: Scatter<[f32]>) {
    ///     let i = thread::index_1d();
    ///     if let (Some(&x), Some(&place)) = (x.get_at(i), places.get_at(i)) {
    ///         out.write_at(place, x);
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If there is no such element.
    #[inline(always)]
    #[track_caller]
    pub fn write_at(&self, index: u32, value: T) {
        self.write(index as usize, value)
    }

    /// [`try_write`](Scatter::try_write) with an index of 32 bits.
    #[inline(always)]
    #[must_use = "false means that the index is out of bounds and nothing was written"]
    pub fn try_write_at(&self, index: u32, value: T) -> bool {
        self.try_write(index as usize, value)
    }
}

impl<T: Pod + AtomicValue> Scatter<'_, [T]> {
    /// Writes an element that still has the value `vacant`, by its bits; else gives back what it has. If the host fills the slice with
    /// `vacant`, that tells the second thread that writes an element from the first.
    ///
    /// Becomes `atom.relaxed.gpu.global.cas`, which waits for the memory; [`write`](Scatter::write) does not. Any arch.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// As `permute`, where every place is taken once.
    /// #[kernel]
    /// pub fn permute(x: &[u32], places: &[u32], out: Scatter<[u32]>) {
    ///     let i = thread::index();
    ///     if let (Some(&x), Some(&place)) = (x.get(i), places.get(i)) {
    ///         assert!(out.write_once(place as usize, u32::MAX, x).is_ok(), "two have the place {place}");
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// The value that the element has instead of `vacant`; it stays.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline(always)]
    #[track_caller]
    pub fn write_once(&self, index: usize, vacant: T, value: T) -> Result<(), T> {
        const {
            assert!(
                size_of::<T>() <= 8,
                "`write_once` takes elements of 4 or 8 bytes, which `write` stores as one word"
            );
        }
        if index >= self.length {
            outside()
        }
        // SAFETY: in bounds (compared just now), valid, and used atomically only (`from_raw_parts`).
        let word = unsafe { &*self.pointer.cast::<Atomic<T, scope::Device>>().add(index) };
        word.compare_exchange(vacant, value, Relaxed).map(|_| ())
    }

    /// [`write_once`](Scatter::write_once) with an index of 32 bits.
    ///
    /// # Errors
    /// The value that the element has instead of `vacant`; it stays.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline(always)]
    #[track_caller]
    pub fn write_once_at(&self, index: u32, vacant: T, value: T) -> Result<(), T> {
        self.write_once(index as usize, vacant, value)
    }
}

/// Stores an element word by word.
///
/// # Safety
/// `element` is valid, in global memory, and meanwhile used atomically only; the alignment of `T`, and so its size, is a multiple of
/// that of `W`.
#[inline(always)]
unsafe fn store<T: Pod, W: Pod + AtomicValue>(element: *mut T, value: T) {
    let mut word = 0;
    while word < size_of::<T>() / size_of::<W>() {
        // SAFETY: the word lies in `value`, whose bytes are plain data.
        let bits = unsafe { (&raw const value).cast::<W>().add(word).read_unaligned() };
        // SAFETY: the word lies in the element, which fulfils the condition of this function.
        let to = unsafe { &*element.cast::<Atomic<W, scope::Device>>().add(word) };
        to.store(bits, Relaxed);
        word += 1;
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside() -> ! {
    panic!("an element is written out of bounds")
}

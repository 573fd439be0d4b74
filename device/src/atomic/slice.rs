//! `AtomicSlice`: a kernel parameter that all threads of the grid write, through atomic operations only.

use super::order::{GridScope, scope};
use super::{Atomic, AtomicValue};
use core::marker::PhantomData;
use core::ops::Deref;

/// A buffer in global memory that every thread may use, through atomic operations: a slice of [`Atomic`] words.
///
/// As a kernel parameter it takes `&mut DeviceBuffer<T>` on the host; of scope `System` also `&SharedAtomics<T>`, which the host uses at the
/// same time. The scope is `Device` (or `System`): a narrower one
/// would be a data race between blocks.
///
/// ```no_run
/// use warpsmith_device::atomic::{AtomicSlice, Relaxed};
/// fn histogram(values: &[u8], bins: AtomicSlice<'_, u32>, i: usize) {
///     if let Some(&value) = values.get(i) {
///         bins[usize::from(value)].add(1, Relaxed);
///     }
/// }
/// ```
pub struct AtomicSlice<'a, T, S = scope::Device> {
    words: *const Atomic<T, S>,
    len: usize,
    borrow: PhantomData<&'a [Atomic<T, S>]>,
}

impl<T, S> Clone for AtomicSlice<'_, T, S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, S> Copy for AtomicSlice<'_, T, S> {}

impl<'a, T: AtomicValue, S: GridScope> AtomicSlice<'a, T, S> {
    /// The words at `pointer`.
    ///
    /// # Safety
    /// `pointer` is aligned and leads to `len` words of global memory that stay valid for `'a` and are only used atomically
    /// meanwhile.
    #[inline(always)]
    pub unsafe fn from_raw_parts(pointer: *mut T, len: usize) -> Self {
        Self {
            words: pointer.cast_const().cast(),
            len,
            borrow: PhantomData,
        }
    }

    /// The words, for the whole borrow.
    #[inline(always)]
    pub fn as_slice(self) -> &'a [Atomic<T, S>] {
        // SAFETY: `words` are `len` aligned words, valid for `'a` and accessed atomically only: the condition of `from_raw_parts`, which
        // alone makes this type.
        unsafe { core::slice::from_raw_parts(self.words, self.len) }
    }
}

impl<T: AtomicValue, S: GridScope> Deref for AtomicSlice<'_, T, S> {
    type Target = [Atomic<T, S>];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        self.as_slice()
    }
}

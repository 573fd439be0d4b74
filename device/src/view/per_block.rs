//! Each block its own element of a slice.

use super::define::slice_view;
use crate::{grid, thread};

slice_view! {
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
    PerBlock<T>
}

impl<T> PerBlock<'_, [T]> {
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

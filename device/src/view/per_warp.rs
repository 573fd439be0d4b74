//! Each warp its own element of a slice.

use super::define::slice_view;
use super::owner;

slice_view! {
    /// A slice of which each warp owns one element, written by its first lane: partial results.
    ///
    /// Written as a parameter: `mut sums: PerWarp<[f32]>`. Works in launches of any dimensions. The warps of a block follow each other,
    /// and so do the blocks ([`grid::linear_block`](crate::grid::linear_block)): a block of `n` threads has `n / 32` warps, rounded up.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// #[kernel]
    /// pub fn sums(x: &[f32], mut sums: PerWarp<[f32]>) {
    ///     let value = x.get(thread::index()).copied().unwrap_or(0.0);
    ///     let sum = warp::reduce(value, |a, b| a + b);
    ///     if let Some(out) = sums.leader() {
    ///         *out = sum;
    ///     }
    /// }
    /// ```
    PerWarp<T>
}

impl<T> PerWarp<'_, [T]> {
    /// The number of the thread's element: of its warp in the grid.
    #[inline(always)]
    pub fn index(&self) -> usize {
        owner::warp()
    }

    /// In the first lane of a warp the warp's element; `None` in the others, and where the slice is shorter.
    #[inline(always)]
    pub fn leader(&mut self) -> Option<&mut T> {
        let warp = owner::warp();
        if owner::lane() == 0 && warp < self.length {
            // SAFETY: in bounds; this thread is the only one of its warp with this lane, and the warp has its own element.
            Some(unsafe { &mut *self.pointer.cast::<T>().add(warp) })
        } else {
            None
        }
    }
}

//! A row of a tile for each warp of the block, and its phases, which barriers of the warp divide.

use core::marker::PhantomData;
use core::ops::Deref;

use super::{Element, SharedTile};
use crate::{block, thread, warp};

macro_rules! phases {
    ($($(#[$attribute:meta])* $name:ident;)*) => {$(
        $(#[$attribute])*
        pub struct $name<'a, T, const C: usize> {
            pointer: *mut T,
            row: PhantomData<&'a mut [T]>,
        }

        impl<T, const C: usize> $name<'_, T, C> {
            /// The handle of a phase that begins.
            #[inline(always)]
            fn from_pointer(pointer: *mut T) -> Self {
                $name { pointer, row: PhantomData }
            }
        }
    )*};
}

phases! {
    /// `C` elements of shared memory that are the warp's own and are to be filled: no lane reads them in this phase.
    WarpRow;
    /// A [`WarpRow`] that this lane has filled its part of.
    #[must_use = "nobody can read it before a barrier: `.sync()`"]
    WarpRowFilled;
    /// A row that all lanes of the warp read and none writes: dereferences to a slice.
    WarpRowView;
}

impl<T: Element, const R: usize, const C: usize, const S: usize> SharedTile<'_, T, R, C, S> {
    /// Lends each warp of the block a row, the one with its number ([`warp::index`]): `None` in warps past the last row. What
    /// a warp does with its row needs barriers of the warp only.
    ///
    /// Waits first until everyone is done with what was made of this handle before: a [`block::sync`].
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// Reverses each 32 elements.
    /// #[kernel(launch_bounds(256, exact))]
    /// pub fn reverse(x: &[u32], mut out: PerThread<[u32]>) {
    ///     let mut rows = shared!([[u32; 32]; 8]);
    ///     let Some(row) = rows.row_per_warp() else { return };
    ///     let x = x.get(thread::index()).copied().unwrap_or(0);
    ///     let row = row.fill_with(|_column| x).sync();
    ///     if let Some(out) = out.mine() {
    ///         *out = row[31 - warp::lane() as usize];
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn row_per_warp(&mut self) -> Option<WarpRow<'_, T, C>> {
        let rows = self.lend();
        let own = (thread::linear_in_block() / warp::SIZE) as usize;
        // The row is in the object, and no other warp of the block has it.
        (own < R).then(|| WarpRow::from_pointer(rows.wrapping_add(own * S)))
    }
}

impl<'a, T: Element, const C: usize> WarpRow<'a, T, C> {
    /// Fills the row: each lane computes the element with its number, and every 32nd after it (in a warp of fewer threads, every so
    /// many).
    #[inline(always)]
    pub fn fill_with(self, mut value: impl FnMut(usize) -> T) -> WarpRowFilled<'a, T, C> {
        let thread = thread::linear_in_block();
        let lane = thread % warp::SIZE;
        let lanes = (block::threads() - (thread - lane)).min(warp::SIZE) as usize;
        let mut column = lane as usize;
        while column < C {
            // SAFETY: in bounds; no other lane has a column with this remainder, and no lane reads in this phase.
            unsafe { self.pointer.add(column).write(value(column)) };
            column += lanes;
        }
        WarpRowFilled::from_pointer(self.pointer)
    }

    /// The first element's address, for unsafe code with a pattern of its own.
    #[inline(always)]
    pub fn as_mut_ptr(&self) -> *mut T {
        self.pointer
    }
}

impl<'a, T: Element, const C: usize> WarpRowFilled<'a, T, C> {
    /// Waits for the whole warp: from here on its lanes read what all have written. A [`warp::sync`] of all lanes.
    #[inline(always)]
    pub fn sync(self) -> WarpRowView<'a, T, C> {
        warp::sync(warp::FULL);
        WarpRowView::from_pointer(self.pointer)
    }
}

impl<'a, T: Element, const C: usize> WarpRowView<'a, T, C> {
    /// Waits until all lanes have read, and gives the row back to be filled anew. A [`warp::sync`] of all lanes.
    #[inline(always)]
    pub fn sync(self) -> WarpRow<'a, T, C> {
        warp::sync(warp::FULL);
        WarpRow::from_pointer(self.pointer)
    }
}

impl<T: Element, const C: usize> Deref for WarpRowView<'_, T, C> {
    type Target = [T; C];

    #[inline(always)]
    fn deref(&self) -> &[T; C] {
        // SAFETY: all elements are initialised (each lane has filled its part before the barrier), and no lane writes until this
        // view is consumed by the next barrier, which ends all borrows of it.
        unsafe { &*self.pointer.cast() }
    }
}

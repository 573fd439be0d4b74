//! Two-dimensional tiles in shared memory, with padded rows where asked for, and their phases.

use core::ops::Index;

use super::{Element, Reuse};
use crate::{block, thread};

/// `R` rows of `C` columns, rows `S` elements apart, that are to be filled: no thread reads them in this phase.
pub struct SharedTile<T, const R: usize, const C: usize, const S: usize> {
    pointer: *mut T,
}

/// A [`SharedTile`] that this thread has filled its part of.
pub struct TileFilled<T, const R: usize, const C: usize, const S: usize> {
    pointer: *mut T,
}

/// A tile that all threads of the block read and none writes: indexed by `(row, column)`.
pub struct TileView<T, const R: usize, const C: usize, const S: usize> {
    pointer: *mut T,
}

impl<T, const R: usize, const C: usize, const S: usize> SharedTile<T, R, C, S> {
    #[doc(hidden)]
    #[inline(always)]
    pub fn __new(pointer: *mut T, reuse: Reuse) -> Self
    where
        T: Element,
    {
        const { assert!(S >= C) };
        reuse.wait();
        SharedTile { pointer }
    }
}

impl<T: Element, const R: usize, const C: usize, const S: usize> SharedTile<T, R, C, S> {
    /// Fills the tile. The thread at `(x, y)` of the block computes column `x` of row `y`, and on from there in steps of
    /// the block's extent; so neighbours along x get neighbouring columns, and every element is computed by some thread
    /// whatever the size of the block.
    #[inline(always)]
    pub fn fill_with(self, mut value: impl FnMut(usize, usize) -> T) -> TileFilled<T, R, C, S> {
        own_elements::<R, C>(|row, column| {
            // SAFETY: in bounds; the thread's own; no thread reads in this phase.
            unsafe { self.pointer.add(row * S + column).write(value(row, column)) };
        });
        TileFilled {
            pointer: self.pointer,
        }
    }

    /// The first element's address, for unsafe code with a pattern of its own.
    #[inline(always)]
    pub fn as_mut_ptr(&self) -> *mut T {
        self.pointer
    }
}

/// Calls `visit` for the elements of an `R` by `C` tile that belong to this thread.
#[inline(always)]
pub(crate) fn own_elements<const R: usize, const C: usize>(mut visit: impl FnMut(usize, usize)) {
    let (x, y, z) = thread::idx();
    let (width, height, depth) = block::dim();
    let mut row = (z * height + y) as usize;
    while row < R {
        let mut column = x as usize;
        while column < C {
            visit(row, column);
            column += width as usize;
        }
        row += (height * depth) as usize;
    }
}

impl<T: Element, const R: usize, const C: usize, const S: usize> TileFilled<T, R, C, S> {
    /// Waits for the whole block: from here on everyone reads what all have written. A [`block::sync`].
    #[inline(always)]
    pub fn sync(self) -> TileView<T, R, C, S> {
        block::sync();
        TileView {
            pointer: self.pointer,
        }
    }
}

impl<T: Element, const R: usize, const C: usize, const S: usize> TileView<T, R, C, S> {
    /// Waits until everyone has read, and gives the tile back to be filled anew. A [`block::sync`].
    #[inline(always)]
    pub fn sync(self) -> SharedTile<T, R, C, S> {
        block::sync();
        SharedTile {
            pointer: self.pointer,
        }
    }

    /// A row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[T; C] {
        assert!(row < R, "no such row in the tile");
        // SAFETY: in bounds and initialised by the fill; no thread writes before this view is consumed.
        unsafe { &*self.pointer.add(row * S).cast() }
    }
}

impl<T: Element, const R: usize, const C: usize, const S: usize> Index<(usize, usize)>
    for TileView<T, R, C, S>
{
    type Output = T;

    #[inline(always)]
    fn index(&self, (row, column): (usize, usize)) -> &T {
        assert!(row < R && column < C, "no such element in the tile");
        // SAFETY: in bounds and initialised by the fill; no thread writes before this view is consumed.
        unsafe { &*self.pointer.add(row * S + column) }
    }
}

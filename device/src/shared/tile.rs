//! Two-dimensional tiles in shared memory, with padded rows where asked for, and their phases.

use core::marker::PhantomData;
use core::ops::Index;

use super::Element;
use crate::{block, thread};

macro_rules! phases {
    ($($(#[$attribute:meta])* $name:ident;)*) => {$(
        $(#[$attribute])*
        pub struct $name<'a, T, const R: usize, const C: usize, const S: usize> {
            pointer: *mut T,
            object: PhantomData<&'a mut [T]>,
        }

        impl<T, const R: usize, const C: usize, const S: usize> $name<'_, T, R, C, S> {
            /// The handle of a phase that begins.
            #[inline(always)]
            fn from_pointer(pointer: *mut T) -> Self {
                $name {
                    pointer,
                    object: PhantomData,
                }
            }
        }
    )*};
}

/// `R` rows of `C` columns, rows `S` elements apart, that are to be filled: no thread reads them in this phase.
///
/// As for a [`SharedArray`](super::SharedArray) there is one handle; helper functions and loops use
/// [`refill`](SharedTile::refill).
pub struct SharedTile<'a, T, const R: usize, const C: usize, const S: usize> {
    pointer: *mut T,
    /// Handles were lent, and threads may still read through theirs.
    lent: bool,
    object: PhantomData<&'a mut [T]>,
}

impl<T, const R: usize, const C: usize, const S: usize> SharedTile<'_, T, R, C, S> {
    /// The handle to an object that no other handle is in use for.
    #[inline(always)]
    pub(super) fn from_pointer(pointer: *mut T) -> Self {
        const { assert!(S >= C) };
        SharedTile {
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

    /// Waits until everyone is done with what was made of this handle before, and lends the object. A [`block::sync`].
    #[inline(always)]
    pub(super) fn lend(&mut self) -> *mut T {
        // The handles that this thread lent before are gone, since they borrowed `self`; behind the barrier so are those of
        // all threads.
        block::sync();
        self.lent = true;
        self.pointer
    }
}

phases! {
    /// A [`SharedTile`] that this thread has filled its part of.
    #[must_use = "nobody can read it before a barrier: `.sync()`"]
    TileFilled;
    /// A tile that all threads of the block read and none writes: indexed by `(row, column)`.
    TileView;
}

impl<'a, T: Element, const R: usize, const C: usize, const S: usize> SharedTile<'a, T, R, C, S> {
    /// Fills the tile. The thread at `(x, y)` of the block computes column `x` of row `y`, and on from there in steps of
    /// the block's extent; so neighbours along x get neighbouring columns, and every element is computed by some thread
    /// whatever the size of the block.
    ///
    /// If the handle was lent before ([`refill`](SharedTile::refill)), this begins with a [`block::sync`].
    #[inline(always)]
    pub fn fill_with(self, mut value: impl FnMut(usize, usize) -> T) -> TileFilled<'a, T, R, C, S> {
        self.take_back();
        own_elements::<R, C>(|row, column| {
            // SAFETY: in bounds; the thread's own; no thread reads in this phase.
            unsafe { self.pointer.add(row * S + column).write(value(row, column)) };
        });
        TileFilled::from_pointer(self.pointer)
    }

    /// Waits until everyone is done with what was made of this handle before, and lends it for another round. A
    /// [`block::sync`].
    #[inline(always)]
    pub fn refill(&mut self) -> SharedTile<'_, T, R, C, S> {
        SharedTile::from_pointer(self.lend())
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

impl<'a, T: Element, const R: usize, const C: usize, const S: usize> TileFilled<'a, T, R, C, S> {
    /// Waits for the whole block: from here on everyone reads what all have written. A [`block::sync`].
    #[inline(always)]
    pub fn sync(self) -> TileView<'a, T, R, C, S> {
        block::sync();
        TileView::from_pointer(self.pointer)
    }
}

impl<'a, T: Element, const R: usize, const C: usize, const S: usize> TileView<'a, T, R, C, S> {
    /// Waits until everyone has read, and gives the tile back to be filled anew. A [`block::sync`].
    #[inline(always)]
    pub fn sync(self) -> SharedTile<'a, T, R, C, S> {
        block::sync();
        SharedTile::from_pointer(self.pointer)
    }

    /// A row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline(always)]
    #[track_caller]
    pub fn row(&self, row: usize) -> &[T; C] {
        assert!(row < R, "no such row in the tile");
        // SAFETY: in bounds and initialised by the fill; no thread writes before this view is consumed.
        unsafe { &*self.pointer.add(row * S).cast() }
    }

    /// A row, by a number of 32 bits: [`row`](TileView::row).
    ///
    /// # Panics
    /// If there is no such row.
    #[inline(always)]
    #[track_caller]
    pub fn row_at(&self, row: u32) -> &[T; C] {
        self.row(row as usize)
    }

    /// The element by numbers of 32 bits: `tile.at(row, column)` is `&tile[(row, column)]`.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// Transposes each tile in its place.
    /// #[kernel(launch_bounds(16, 16, exact))]
    /// pub fn turn_tiles(from: Matrix<f32>, mut to: MatrixOut<f32>) {
    ///     let (x, y) = thread::index_2d();
    ///     let tile = shared!([[f32; 16]; 16], padding = 1)
    ///         .fill_with(|_, _| from.get_at(y, x).copied().unwrap_or(0.0))
    ///         .sync();
    ///     if let Some(to) = to.mine() {
    ///         *to = *tile.at(thread::thread_idx_x(), thread::thread_idx_y());
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If there is no such element.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, row: u32, column: u32) -> &T {
        &self[(row as usize, column as usize)]
    }
}

impl<T: Element, const R: usize, const C: usize, const S: usize> Index<(usize, usize)>
    for TileView<'_, T, R, C, S>
{
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, (row, column): (usize, usize)) -> &T {
        assert!(row < R && column < C, "no such element in the tile");
        // SAFETY: in bounds and initialised by the fill; no thread writes before this view is consumed.
        unsafe { &*self.pointer.add(row * S + column) }
    }
}

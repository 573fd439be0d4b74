//! Tiles in shared memory.

use super::Span;
use warpsmith_device::prelude::*;
use warpsmith_device::vector::Lanes;

/// A tile in shared memory.
#[derive(Clone, Copy)]
pub struct SharedTile<E> {
    /// The first element.
    pub first: *mut E,
    /// The distance of the rows, in elements.
    pub pitch: u32,
}

impl<E> SharedTile<E> {
    /// The address of an element.
    ///
    /// # Safety
    /// The tile has the element.
    #[inline(always)]
    pub unsafe fn at(self, row: u32, column: u32) -> *mut E {
        // SAFETY: the element is in the tile's memory, by the function's condition.
        unsafe { self.first.add((row * self.pitch + column) as usize) }
    }
}

/// The order of a tile's elements in shared memory.
pub trait StoreOrder {
    /// Writes the thread's vectors into `tile`.
    ///
    /// # Safety
    /// The memory of `tile` has room for the tile that `span` is a part of, begins at a multiple of 16 bytes, and no other thread
    /// accesses what this one writes before the next barrier.
    unsafe fn store<E: Lanes, const ITEMS: usize>(
        tile: SharedTile<E>,
        span: Span<ITEMS>,
        items: [Vector<E>; ITEMS],
    );
}

/// As in global memory: a row of the matrix is a row of the tile.
pub struct AsRead;
/// A row of the matrix is a column of the tile.
pub struct Transposed;

impl StoreOrder for AsRead {
    #[inline(always)]
    unsafe fn store<E: Lanes, const ITEMS: usize>(
        tile: SharedTile<E>,
        span: Span<ITEMS>,
        items: [Vector<E>; ITEMS],
    ) {
        // SAFETY: the tile has room for the thread's first row and column, by the function's condition.
        let first = unsafe { tile.at(span.row, span.column) };
        unroll!(item in [0, 1, 2, 3] {
            if item < ITEMS {
                let below = (item as u32 * span.rows_a_pass * tile.pitch) as usize;
                // SAFETY: the tile has room for the thread's rows, no other thread accesses them, and the address is aligned, as
                // `column` is a multiple of the vector's length: the function's conditions.
                unsafe { *first.add(below).cast() = items[item] };
            }
        });
    }
}

impl StoreOrder for Transposed {
    #[inline(always)]
    unsafe fn store<E: Lanes, const ITEMS: usize>(
        tile: SharedTile<E>,
        span: Span<ITEMS>,
        items: [Vector<E>; ITEMS],
    ) {
        // SAFETY: the tile has room for the thread's first row and column, by the function's condition.
        let first = unsafe { tile.at(span.column, span.row) };
        unroll!(item in [0, 1, 2, 3] {
            if item < ITEMS {
                let beside = (item as u32 * span.rows_a_pass) as usize;
                let lanes: &[E] = bytemuck::cast_slice(core::slice::from_ref(&items[item]));
                unroll!(j in [0, 1, 2, 3, 4, 5, 6, 7] {
                    if j < E::LANES {
                        // SAFETY: the tile has room for the thread's columns, and no other thread accesses them: the function's
                        // conditions.
                        unsafe { *first.add(j * tile.pitch as usize + beside) = lanes[j] };
                    }
                });
            }
        });
    }
}

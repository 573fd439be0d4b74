//! Tiles in global memory: what a thread reads of them, the matrix's edges included.

use super::{Extent, Position, Span};
use core::marker::PhantomData;
use warpsmith_device::prelude::*;
use warpsmith_device::vector::Lanes;

/// The direction in which the steps of a product go through a factor.
pub trait Direction {
    /// Rows and columns between the first step and the one at depth `k`.
    fn offset(k: u32) -> Extent;
}

/// Along the rows: the first factor.
pub struct Right;
/// Along the columns: the second factor.
pub struct Down;

impl Direction for Right {
    #[inline(always)]
    fn offset(k: u32) -> Extent {
        Extent {
            rows: 0,
            columns: k,
        }
    }
}

impl Direction for Down {
    #[inline(always)]
    fn offset(k: u32) -> Extent {
        Extent {
            rows: k,
            columns: 0,
        }
    }
}

/// A thread's part in reading the tiles of a factor, one step of the product after the other.
///
/// Each address is computed anew from row and column. A pointer that advances with the steps would be fewer instructions and takes
/// longer: on an H200, 6 % (`sgemm`) and 5 % (`wmma_gemm`).
pub struct TileReader<E, D, const ITEMS: usize> {
    /// The factor's first element.
    first: *const E,
    /// Row and column of the thread's first vector in the first step.
    row: u32,
    column: u32,
    /// What is read of the factor.
    inside: Extent,
    stride: usize,
    rows_a_pass: u32,
    direction: PhantomData<D>,
}

impl<E: Lanes, D: Direction, const ITEMS: usize> TileReader<E, D, ITEMS> {
    /// For tiles of which the first begins at `origin` of `factor`. Outside of `inside`, zeros are read.
    ///
    /// # Safety
    /// `factor` has at least the extent `inside`, and is not dropped while this is used.
    #[inline(always)]
    pub unsafe fn new(
        factor: &Matrix<E>,
        origin: Position,
        inside: Extent,
        span: Span<ITEMS>,
    ) -> Self {
        TileReader {
            first: factor.as_ptr(),
            row: origin.row + span.row,
            column: origin.column + span.column,
            inside,
            stride: factor.stride(),
            rows_a_pass: span.rows_a_pass,
            direction: PhantomData,
        }
    }

    /// Reads the thread's vectors of the step at depth `k`, zero where the matrix has no elements.
    ///
    /// # Safety
    /// With `VECTORS`, the factor's rows allow vectors (see [`RowAlignment`](super::RowAlignment)).
    #[inline(always)]
    pub unsafe fn read<const VECTORS: bool>(&self, k: u32) -> [Vector<E>; ITEMS] {
        let offset = D::offset(k);
        let column = self.column + offset.columns;
        let mut items = [bytemuck::Zeroable::zeroed(); ITEMS];
        unroll!(item in [0, 1, 2, 3] {
            if item < ITEMS {
                let row = self.row + offset.rows + item as u32 * self.rows_a_pass;
                if row < self.inside.rows {
                    let at = self.first.wrapping_add(row as usize * self.stride + column as usize);
                    // SAFETY: `at` is the address of the element in this row, which the factor has by `new`'s condition, and in
                    // this column; the rows allow vectors by this function's condition.
                    items[item] = unsafe { read_row::<E, VECTORS>(at, column, self.inside.columns) };
                }
            }
        });
        items
    }
}

/// A vector of a row from `column` on, zero where the row, of `columns`, has no elements.
///
/// # Safety
/// `at` is the address of the first element, if there is one. With `VECTORS`, the address is then a multiple of 16, and
/// `column` and `columns` are multiples of the vector's length.
#[inline(always)]
unsafe fn read_row<E: Lanes, const VECTORS: bool>(
    at: *const E,
    column: u32,
    columns: u32,
) -> Vector<E> {
    let mut vector: Vector<E> = bytemuck::Zeroable::zeroed();
    if VECTORS {
        if column < columns {
            // SAFETY: the row has the vector's elements, and the address is aligned, by the comparison and the function's
            // condition.
            vector = unsafe { *at.cast() };
        }
    } else {
        let lanes: &mut [E] = bytemuck::cast_slice_mut(core::slice::from_mut(&mut vector));
        unroll!(j in [0, 1, 2, 3, 4, 5, 6, 7] {
            if j < E::LANES && column + (j as u32) < columns {
                // SAFETY: the row has this element, by the comparison.
                lanes[j] = unsafe { *at.add(j) };
            }
        });
    }
    vector
}

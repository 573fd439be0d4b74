//! Matrices whose rows belong to warps or to blocks.

use core::marker::PhantomData;

use super::{Strided, Strided32, owner};
use crate::strided::StridedRange;
use crate::{block, grid, thread};

/// A matrix in global memory, and a way to a row of it.
struct Rows<'a, T> {
    pointer: *mut T,
    rows: u32,
    columns: u32,
    stride: u32,
    data: PhantomData<&'a mut [T]>,
}

impl<T> Rows<'_, T> {
    /// The elements `first`, `first + step`, ... of a row.
    ///
    /// # Safety
    /// No other thread has one of these elements; this one has them through nothing else for the borrow.
    #[inline(always)]
    unsafe fn row(&mut self, row: usize, first: usize, step: usize) -> Option<OwnRow<'_, T>> {
        (row < self.rows as usize).then(|| OwnRow {
            row,
            // SAFETY: the row is one of the matrix (compared just now), whose memory is valid (`from_raw_parts` of the views).
            pointer: unsafe { self.pointer.add(row * self.stride as usize) },
            columns: self.columns,
            first,
            step,
            data: PhantomData,
        })
    }
}

/// A thread's own elements of a row.
pub struct OwnRow<'a, T> {
    row: usize,
    pointer: *mut T,
    columns: u32,
    first: usize,
    step: usize,
    data: PhantomData<&'a mut [T]>,
}

impl<T> OwnRow<'_, T> {
    /// The number of the row.
    #[inline(always)]
    pub fn row(&self) -> usize {
        self.row
    }

    /// The number of columns of the whole row.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.columns as usize
    }

    /// The number of columns of the whole row.
    #[inline(always)]
    pub fn columns32(&self) -> u32 {
        self.columns
    }

    /// The thread's elements one after the other, each with its column of 32 bits.
    #[inline(always)]
    pub fn strided32(&mut self) -> Strided32<'_, T> {
        let own = StridedRange::new(0..self.columns, self.first, self.step);
        // SAFETY: the elements are this thread's alone, and borrowed for as long (the condition of `Rows::row`).
        unsafe { Strided32::new(self.pointer, own) }
    }

    /// The thread's elements one after the other, each with its column.
    #[inline(always)]
    pub fn strided(&mut self) -> Strided<'_, T> {
        // SAFETY: the elements are this thread's alone, and borrowed for as long (the condition of `Rows::row`); a warp or block has a
        // thread, so the step is not 0.
        unsafe { Strided::new(self.pointer, self.columns(), self.first, self.step) }
    }
}

macro_rules! row_views {
    ($($(#[$documentation:meta])* $view:ident: $owner:literal, row $row:expr, rows $rows:expr, column $column:expr, columns $columns:expr;)*) => {$(
        $(#[$documentation])*
        pub struct $view<'a, T> {
            matrix: Rows<'a, T>,
        }

        impl<T> $view<'_, T> {
            /// # Safety
            /// `pointer` leads to `rows` rows of `columns` elements, `stride` apart, valid for reads and writes for as long as the
            /// kernel runs, and during it reached through this view only, of which every thread has a copy made from the same
            /// arguments.
            #[inline(always)]
            pub(crate) unsafe fn from_raw_parts(pointer: *mut T, rows: u32, columns: u32, stride: u32) -> Self {
                // SAFETY: the pointer is valid, by the function's condition.
                unsafe { super::assume_valid(pointer) };
                $view { matrix: Rows { pointer, rows, columns, stride, data: PhantomData } }
            }

            /// The number of rows of the whole matrix.
            #[inline(always)]
            pub fn rows(&self) -> usize {
                self.matrix.rows as usize
            }

            /// The number of columns of the whole matrix.
            #[inline(always)]
            pub fn columns(&self) -> usize {
                self.matrix.columns as usize
            }

            /// The number of rows of the whole matrix.
            #[inline(always)]
            pub fn rows32(&self) -> u32 {
                self.matrix.rows
            }

            /// The number of columns of the whole matrix.
            #[inline(always)]
            pub fn columns32(&self) -> u32 {
                self.matrix.columns
            }

            #[doc = concat!("The row with the ", $owner, "'s own number; `None` when the matrix has fewer.")]
            #[inline(always)]
            pub fn mine(&mut self) -> Option<OwnRow<'_, T>> {
                // SAFETY: another thread has another row or another remainder of columns.
                unsafe { self.matrix.row($row, $column, $columns) }
            }

            #[doc = concat!("Calls `visit` with each of the ", $owner, "'s rows: the one with its number, and every so many after it as \
                the grid has ", $owner, "s.")]
            #[inline(always)]
            pub fn for_each_mine(&mut self, mut visit: impl FnMut(OwnRow<'_, T>)) {
                let (mut row, rows, column, columns) = ($row, $rows, $column, $columns);
                // SAFETY: another thread has other rows, or another remainder of columns; this one has each row once.
                while let Some(own) = unsafe { self.matrix.row(row, column, columns) } {
                    visit(own);
                    row += rows;
                }
            }
        }
    )*};
}

row_views! {
    /// A matrix of which each warp owns rows, and in them each lane every 32nd element: neighbouring lanes have neighbouring columns.
    ///
    /// Written as a parameter: `mut c: RowPerWarp<f32>`; the launch passes a matrix, as for
    /// [`MatrixOut`](super::MatrixOut). Works in launches of any dimensions; warps are numbered as in [`PerWarp`](super::PerWarp).
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// Divides each row by its sum.
    /// #[kernel]
    /// pub fn normalise(x: Matrix<f32>, mut out: RowPerWarp<f32>) {
    ///     out.for_each_mine(|mut own| {
    ///         let row = x.row(own.row());
    ///         let mut sum = 0.0;
    ///         for (column, _) in own.strided() {
    ///             sum += row[column];
    ///         }
    ///         let sum = warp::reduce(sum, |a, b| a + b);
    ///         for (column, to) in own.strided() {
    ///             *to = row[column] / sum;
    ///         }
    ///     });
    /// }
    /// ```
    RowPerWarp: "warp", row owner::warp(), rows owner::warps(), column owner::lane(), columns owner::lanes();
    /// A matrix of which each block owns rows, and in them each thread every `block::threads()`-th element: neighbouring threads have
    /// neighbouring columns.
    ///
    /// Written as a parameter: `mut c: RowPerBlock<f32>`; the launch passes a matrix, as for
    /// [`MatrixOut`](super::MatrixOut). Works in launches of any dimensions; blocks are numbered by
    /// [`grid::linear_block`].
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// #[kernel]
    /// pub fn number_rows(mut out: RowPerBlock<u32>) {
    ///     out.for_each_mine(|mut own| {
    ///         let row = own.row() as u32;
    ///         for (_column, to) in own.strided() {
    ///             *to = row;
    ///         }
    ///     });
    /// }
    /// ```
    RowPerBlock: "block", row grid::linear_block() as usize, rows grid::blocks() as usize,
        column thread::linear_in_block() as usize, columns block::threads() as usize;
}

//! Row-major matrices in global memory: one to read, one in which each thread writes its own element.

use core::ops::Index;

use super::define::{extents, matrix_view};
use crate::thread;

/// A matrix that the whole grid only reads; rows are `stride` elements apart.
///
/// Written as a parameter: `a: Matrix<f32>`. Its loads are `ld.global.nc`, as those of `&[T]`.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn transpose_plain(src: Matrix<f32>, mut dst: MatrixOut<f32>) {
///     let (row, column) = (dst.row(), dst.column());
///     if let (Some(to), Some(from)) = (dst.mine(), src.get(column, row)) {
///         *to = *from;
///     }
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    data: &'a [T],
    rows: u32,
    columns: u32,
    stride: u32,
}

impl<'a, T> Matrix<'a, T> {
    /// # Safety
    /// `pointer` leads to `rows` rows of `columns` elements, `stride` apart, that nobody writes for `'a`: if there are rows,
    /// `(rows - 1) * stride + columns` elements.
    #[inline(always)]
    pub(crate) unsafe fn from_raw_parts(
        pointer: *const T,
        rows: u32,
        columns: u32,
        stride: u32,
    ) -> Self {
        let length = match rows {
            0 => 0,
            rows => (rows as usize - 1) * stride as usize + columns as usize,
        };
        // SAFETY: `pointer` leads to so many elements, by the function's condition.
        let data = unsafe { core::slice::from_raw_parts(pointer, length) };
        Matrix {
            data,
            rows,
            columns,
            stride,
        }
    }

    extents! {
        /// The number of rows.
        rows, rows32;
        /// The number of columns.
        columns, columns32;
        /// The distance of two rows, in elements.
        stride, stride32;
    }

    /// The first element, for unsafe code with another pattern of reading (16 bytes at a time, say).
    #[inline(always)]
    pub fn as_ptr(&self) -> *const T {
        self.data.as_ptr()
    }

    /// The element, if there is one.
    #[inline(always)]
    pub fn get(&self, row: usize, column: usize) -> Option<&'a T> {
        if row < self.rows() && column < self.columns() {
            // SAFETY: row and column were just compared with the matrix's.
            Some(unsafe { self.get_unchecked(row, column) })
        } else {
            None
        }
    }

    /// The element, if there is one, by numbers of 32 bits: [`get`](Matrix::get).
    #[inline(always)]
    pub fn get_at(&self, row: u32, column: u32) -> Option<&'a T> {
        self.get(row as usize, column as usize)
    }

    /// The element by numbers of 32 bits: `m.at(row, column)` is `&m[(row, column)]`.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// The mean of the neighbours along x, except at the edges.
    /// #[kernel]
    /// pub fn smooth(from: Matrix<f32>, mut to: MatrixOut<f32>) {
    ///     let (x, y) = thread::index_2d();
    ///     if 0 < x && x + 1 < from.columns32() && y < from.rows32() {
    ///         let mean = (from.at(y, x - 1) + from.at(y, x + 1)) * 0.5;
    ///         if let Some(to) = to.mine() {
    ///             *to = mean;
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If there is no such element.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, row: u32, column: u32) -> &'a T {
        match self.get_at(row, column) {
            Some(element) => element,
            None => outside(),
        }
    }

    /// The element without a bounds check.
    ///
    /// # Safety
    /// `row < self.rows()` and `column < self.columns()`.
    #[inline(always)]
    pub unsafe fn get_unchecked(&self, row: usize, column: usize) -> &'a T {
        // SAFETY: row and column lie in the matrix, by the function's condition, whose element is in `data` (`from_raw_parts`).
        unsafe { self.data.get_unchecked(row * self.stride as usize + column) }
    }

    /// A row as a slice.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline(always)]
    #[track_caller]
    pub fn row(&self, row: usize) -> &'a [T] {
        assert!(row < self.rows(), "no such row");
        let begin = row * self.stride as usize;
        // SAFETY: `data` holds `(rows - 1) * stride + columns` elements (`from_raw_parts`), and the row is less than `rows`.
        unsafe { self.data.get_unchecked(begin..begin + self.columns()) }
    }

    /// A row as a slice, by a number of 32 bits: [`row`](Matrix::row).
    ///
    /// # Panics
    /// If there is no such row.
    #[inline(always)]
    #[track_caller]
    pub fn row_at(&self, row: u32) -> &'a [T] {
        self.row(row as usize)
    }
}

impl<T> Index<(usize, usize)> for Matrix<'_, T> {
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, (row, column): (usize, usize)) -> &T {
        match self.get(row, column) {
            Some(element) => element,
            None => outside(),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside() -> ! {
    panic!("matrix index out of bounds")
}

matrix_view! {
    /// A matrix of which each thread of a two-dimensional launch owns one element: row `block.y * dim.y + thread.y`, column
    /// `block.x * dim.x + thread.x`.
    ///
    /// Written as a parameter: `mut c: MatrixOut<f32>`. The launch may extend along x and y; the launcher holds that.
    MatrixOut<T>(rows: u32, columns: u32, stride: u32) of "`rows` rows of `columns` elements, `stride` apart"
}

impl<T> MatrixOut<'_, T> {
    extents! {
        /// The number of rows.
        rows, rows32;
        /// The number of columns.
        columns, columns32;
        /// The distance of two rows, in elements.
        stride, stride32;
    }

    /// The row that this thread owns an element of (it may be past the last one).
    #[inline(always)]
    pub fn row(&self) -> usize {
        thread::block_idx_y() as usize * thread::block_dim_y() as usize
            + thread::thread_idx_y() as usize
    }

    /// The column that this thread owns an element of (it may be past the last one).
    #[inline(always)]
    pub fn column(&self) -> usize {
        thread::index()
    }

    /// The thread's own element, if the matrix reaches so far.
    #[inline(always)]
    pub fn mine(&mut self) -> Option<&mut T> {
        let (row, column) = (self.row(), self.column());
        if row < self.rows() && column < self.columns() {
            // SAFETY: in bounds, and no other thread has this row and column: the launch extends along x and y only.
            Some(unsafe { &mut *self.pointer.add(row * self.stride as usize + column) })
        } else {
            None
        }
    }

    /// The first element, for unsafe code with another pattern of writing.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.pointer
    }
}

//! Device memory seen as a matrix, for kernels with `Matrix` and `MatrixOut` parameters and for copies of rectangles.

use std::ops::Range;

use bytemuck::Pod;

use super::slice::{DeviceSlice, DeviceSliceMut};
use crate::error::{Code, Error, Result};

/// Device memory as a matrix to read: `rows` rows of `columns` elements, `stride` elements from row to row.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let buffer = gpu.stream()?.zeroed::<f32>(12)?;
/// let matrix = buffer.matrix(3, 4)?;
/// assert_eq!((matrix.rows(), matrix.columns(), matrix.stride()), (3, 4, 4));
/// assert!(buffer.matrix(4, 4).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Matrix<'a, T: Pod> {
    pub(crate) elements: DeviceSlice<'a, T>,
    pub(crate) shape: Shape,
}

/// Device memory as a matrix to write.
pub struct MatrixMut<'a, T: Pod> {
    pub(crate) elements: DeviceSliceMut<'a, T>,
    pub(crate) shape: Shape,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) rows: u32,
    pub(crate) columns: u32,
    pub(crate) stride: u32,
}

impl Shape {
    /// The bytes of all elements, without what lies between the rows.
    pub(super) fn bytes<T>(self) -> usize {
        self.rows as usize * self.columns as usize * size_of::<T>()
    }

    /// That of a matrix in so many elements, which `call` makes.
    pub(super) fn new(
        call: &'static str,
        len: usize,
        (rows, columns): (usize, usize),
        stride: usize,
    ) -> Result<Shape> {
        let invalid = |message: String, hint: &str| {
            Err(Error::misuse(call, Code::INVALID_VALUE, message, hint))
        };
        let (Ok(r), Ok(c), Ok(s)) = (
            u32::try_from(rows),
            u32::try_from(columns),
            u32::try_from(stride),
        ) else {
            return invalid(
                format!("{rows} x {columns} with stride {stride} does not fit in 32 bits"),
                "kernels index matrices with 32 bits: have several smaller ones",
            );
        };
        if stride < columns {
            return invalid(
                format!("a stride of {stride} is less than {columns} columns"),
                "the stride counts elements, not bytes, and is at least the number of columns",
            );
        }
        // What the kernel's view spans: also rows without columns, which it numbers all the same. At most 2^64 - 1, so no overflow.
        let needed = match rows as u64 {
            0 => 0,
            rows => (rows - 1) * stride as u64 + columns as u64,
        };
        if needed > len as u64 {
            return invalid(
                format!(
                    "{rows} x {columns} with stride {stride} needs {needed} elements, the memory has {len}"
                ),
                "use a larger buffer or a smaller matrix",
            );
        }
        Ok(Shape {
            rows: r,
            columns: c,
            stride: s,
        })
    }

    /// The elements from the first to the last one.
    pub(super) fn span(self) -> usize {
        match (self.rows, self.columns) {
            (0, _) | (_, 0) => 0,
            (rows, columns) => (rows as usize - 1) * self.stride as usize + columns as usize,
        }
    }

    /// A rectangle of the matrix, and the elements that it spans.
    pub(super) fn region(
        self,
        rows: &Range<usize>,
        columns: &Range<usize>,
    ) -> (Shape, Range<usize>) {
        assert!(
            rows.start <= rows.end && rows.end <= self.rows as usize,
            "rows {rows:?} of a matrix with {} rows",
            self.rows
        );
        assert!(
            columns.start <= columns.end && columns.end <= self.columns as usize,
            "columns {columns:?} of a matrix with {} columns",
            self.columns
        );
        let shape = Shape {
            // At most the matrix's own.
            rows: rows.len() as u32,
            columns: columns.len() as u32,
            stride: self.stride,
        };
        let start = match shape.span() {
            0 => 0,
            _ => rows.start * self.stride as usize + columns.start,
        };
        (shape, start..start + shape.span())
    }
}

impl<'a, T: Pod> DeviceSlice<'a, T> {
    /// The part as a matrix of `rows` rows of `columns` elements.
    pub fn matrix(&self, rows: usize, columns: usize) -> Result<Matrix<'a, T>> {
        self.as_matrix("DeviceSlice::matrix", (rows, columns), columns)
    }

    /// As [`matrix`](Self::matrix), with `stride` elements from row to row.
    pub fn matrix_with_stride(
        &self,
        rows: usize,
        columns: usize,
        stride: usize,
    ) -> Result<Matrix<'a, T>> {
        self.as_matrix("DeviceSlice::matrix_with_stride", (rows, columns), stride)
    }

    /// `call` is what errors name.
    pub(super) fn as_matrix(
        self,
        call: &'static str,
        extents: (usize, usize),
        stride: usize,
    ) -> Result<Matrix<'a, T>> {
        Ok(Matrix {
            shape: Shape::new(call, self.len(), extents, stride)?,
            elements: self,
        })
    }
}

impl<'a, T: Pod> DeviceSliceMut<'a, T> {
    /// The part as a matrix to write.
    pub fn matrix_mut(self, rows: usize, columns: usize) -> Result<MatrixMut<'a, T>> {
        self.into_matrix("DeviceSliceMut::matrix_mut", (rows, columns), columns)
    }

    /// As [`matrix_mut`](Self::matrix_mut), with `stride` elements from row to row.
    pub fn matrix_mut_with_stride(
        self,
        rows: usize,
        columns: usize,
        stride: usize,
    ) -> Result<MatrixMut<'a, T>> {
        self.into_matrix(
            "DeviceSliceMut::matrix_mut_with_stride",
            (rows, columns),
            stride,
        )
    }

    /// `call` is what errors name.
    pub(super) fn into_matrix(
        self,
        call: &'static str,
        extents: (usize, usize),
        stride: usize,
    ) -> Result<MatrixMut<'a, T>> {
        Ok(MatrixMut {
            shape: Shape::new(call, self.len(), extents, stride)?,
            elements: self,
        })
    }
}

impl<'a, T: Pod> Matrix<'a, T> {
    /// The rectangle of these rows and columns. Its rows are as far apart as the matrix's.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let buffer = stream.upload(&[1, 2, 3, 4, 5, 6, 7, 8, 9])?;
    /// let corner = buffer.matrix(3, 3)?.region(1..3, 0..2);
    /// assert_eq!(stream.download_matrix(&corner)?, [4, 5, 7, 8]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// A range is out of bounds.
    pub fn region(&self, rows: Range<usize>, columns: Range<usize>) -> Matrix<'a, T> {
        let (shape, span) = self.shape.region(&rows, &columns);
        Matrix {
            elements: self.elements.slice(span),
            shape,
        }
    }
}

impl<T: Pod> MatrixMut<'_, T> {
    /// The rectangle of these rows and columns, to read.
    ///
    /// # Panics
    ///
    /// A range is out of bounds.
    pub fn region(&self, rows: Range<usize>, columns: Range<usize>) -> Matrix<'_, T> {
        let (shape, span) = self.shape.region(&rows, &columns);
        Matrix {
            elements: self.elements.slice(span),
            shape,
        }
    }

    /// The rectangle of these rows and columns, to write. What lies beside it stays as it is.
    ///
    /// # Panics
    ///
    /// A range is out of bounds.
    pub fn region_mut(&mut self, rows: Range<usize>, columns: Range<usize>) -> MatrixMut<'_, T> {
        let (shape, span) = self.shape.region(&rows, &columns);
        MatrixMut {
            elements: self.elements.slice_mut(span),
            shape,
        }
    }
}

/// The methods of matrices that say how large they are.
macro_rules! extents {
    ($matrix:ty) => {
        impl<T: Pod> $matrix {
            /// Rows.
            pub fn rows(&self) -> usize {
                self.shape.rows as usize
            }

            /// Columns.
            pub fn columns(&self) -> usize {
                self.shape.columns as usize
            }

            /// Elements from row to row.
            pub fn stride(&self) -> usize {
                self.shape.stride as usize
            }
        }
    };
}

pub(super) use extents;

extents!(Matrix<'_, T>);
extents!(MatrixMut<'_, T>);

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(len: usize, extents: (usize, usize), stride: usize) -> Result<Shape> {
        Shape::new("matrix", len, extents, stride)
    }

    #[test]
    fn regions_span_what_lies_in_them() {
        let shape = shape(100, (10, 7), 10).expect("it fits");
        let region = |rows, columns| shape.region(&rows, &columns).1;
        assert_eq!(region(0..10, 0..7), 0..97);
        assert_eq!(region(2..4, 3..5), 23..35);
        assert_eq!(region(9..10, 6..7), 96..97);
        // Also behind the last element.
        assert_eq!(region(10..10, 0..7), 0..0);
        assert_eq!(region(0..10, 7..7), 0..0);
    }

    #[test]
    fn shapes_are_checked() {
        assert!(shape(12, (3, 4), 4).is_ok());
        assert!(shape(11, (3, 4), 4).is_err());
        // The last row needs no padding.
        assert!(shape(14, (3, 4), 5).is_ok());
        assert!(shape(12, (3, 4), 3).is_err());
        assert!(shape(0, (0, 4), 4).is_ok());
        assert!(shape(0, (4, 0), 0).is_ok());
        assert!(shape(0, (0, u32::MAX as usize), u32::MAX as usize).is_ok());
        // Rows that begin outside of the memory are none, though they have no columns.
        assert!(shape(12, (4, 0), 4).is_ok());
        assert!(shape(11, (4, 0), 4).is_err());
        assert!(shape(100, (u32::MAX as usize, 0), u32::MAX as usize).is_err());
        assert!(shape(100, (u32::MAX as usize, 0), usize::MAX).is_err());
        assert!(shape(usize::MAX, (1 << 33, 1), 1).is_err());
        assert!(
            shape(
                100,
                (u32::MAX as usize, u32::MAX as usize),
                u32::MAX as usize
            )
            .is_err()
        );
    }
}

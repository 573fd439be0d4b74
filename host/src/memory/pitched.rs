//! Matrices in device memory whose rows are padded, so that each begins where the hardware likes it.

use std::ops::Range;

use bytemuck::Pod;

use super::buffer::DeviceBuffer;
use super::matrix::{Matrix, MatrixMut, Shape, extents};
use super::view::{DevicePointer, DeviceRead};
use crate::error::{Code, Error, Result};
use crate::stream::Stream;

/// What the bytes from row to row are a multiple of: as in the driver's `cuMemAllocPitch`, and a multiple of what textures want.
const PITCH_ALIGNMENT: usize = 512;

/// A matrix in device memory, row by row, each at a multiple of 512 bytes: warps read whole memory segments, whatever the number of
/// columns (CUDA C++ Programming Guide, "Device Memory"). Of elements whose size does not divide 512 (12 bytes, for example), each row begins
/// at a multiple of both 512 and the element's size.
///
/// It is made in a stream ([`Stream::pitched_zeroed`], [`Stream::pitched_upload`]) and is used, ordered and freed as a [`DeviceBuffer`] is.
/// Kernels take it as their `Matrix` or `MatrixOut`, copies as [`matrix`](Self::matrix) and [`matrix_mut`](Self::matrix_mut). The padding
/// belongs to nobody: copies do not touch it.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let image = stream.pitched_upload(&[1.0_f32; 3 * 65], 3, 65)?;
/// assert_eq!((image.rows(), image.columns(), image.pitch()), (3, 65, 512));
/// assert_eq!(stream.download_matrix(&image.matrix())?, [1.0; 3 * 65]);
/// # Ok(())
/// # }
/// ```
// covers: MEM-04
pub struct PitchedBuffer<T: Pod> {
    elements: DeviceBuffer<T>,
    shape: Shape,
}

/// The elements from row to row.
fn stride<T>(columns: usize) -> Option<usize> {
    let size = size_of::<T>();
    if size == 0 {
        return Some(columns);
    }
    // The least common multiple: `PITCH_ALIGNMENT` is a power of two.
    let shared = 1 << size.trailing_zeros().min(PITCH_ALIGNMENT.trailing_zeros());
    columns.checked_next_multiple_of(PITCH_ALIGNMENT / shared)
}

impl<T: Pod> PitchedBuffer<T> {
    /// `call` makes it.
    pub(super) fn new_zeroed(
        call: &'static str,
        stream: &Stream,
        rows: usize,
        columns: usize,
    ) -> Result<PitchedBuffer<T>> {
        let stride = stride::<T>(columns);
        let elements = stride.and_then(|stride| Some((stride, rows.checked_mul(stride)?)));
        let Some((stride, len)) = elements else {
            return Err(Error::misuse(
                call,
                Code::OUT_OF_MEMORY,
                format!("{rows} x {columns} elements are more than an address space"),
                "look at how the extents were computed",
            ));
        };
        let shape = Shape::new(call, len, (rows, columns), stride)?;
        Ok(PitchedBuffer {
            elements: stream.zeroed(len)?,
            shape,
        })
    }

    /// Bytes from row to row.
    pub fn pitch(&self) -> usize {
        self.stride() * size_of::<T>()
    }

    /// The matrix to read.
    pub fn matrix(&self) -> Matrix<'_, T> {
        Matrix {
            elements: self.elements.slice(..),
            shape: self.shape,
        }
    }

    /// The matrix to write.
    pub fn matrix_mut(&mut self) -> MatrixMut<'_, T> {
        MatrixMut {
            elements: self.elements.slice_mut(..),
            shape: self.shape,
        }
    }

    /// Whole rows to write.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    pub(super) fn rows_mut(&mut self, rows: &Range<usize>) -> MatrixMut<'_, T> {
        let (shape, span) = self.shape.region(rows, &(0..self.columns()));
        MatrixMut {
            elements: self.elements.slice_mut(span),
            shape,
        }
    }

    /// The address of the first row, for unsafe kernels and foreign libraries; 0 where it is empty.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        DevicePointer::from_address(self.elements.raw_view().address)
    }
}

extents!(PitchedBuffer<T>);

impl<T: Pod> std::fmt::Debug for PitchedBuffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "PitchedBuffer<{}>[{} x {}, pitch {}] at {:?}",
            std::any::type_name::<T>(),
            self.rows(),
            self.columns(),
            self.pitch(),
            self.as_device_ptr()
        )
    }
}

impl Stream {
    /// A matrix of zeros with padded rows.
    ///
    /// # Errors
    ///
    /// The device has too little memory, or an extent does not fit in 32 bits.
    pub fn pitched_zeroed<T: Pod>(&self, rows: usize, columns: usize) -> Result<PitchedBuffer<T>> {
        PitchedBuffer::new_zeroed("Stream::pitched_zeroed", self, rows, columns)
    }

    /// A matrix with padded rows and a copy of `data`, which has `rows` rows of `columns` elements without gaps. The data is read before this
    /// returns.
    ///
    /// # Errors
    ///
    /// The data has another length; or as [`pitched_zeroed`](Self::pitched_zeroed).
    pub fn pitched_upload<T: Pod>(
        &self,
        data: &[T],
        rows: usize,
        columns: usize,
    ) -> Result<PitchedBuffer<T>> {
        let mut buffer = PitchedBuffer::new_zeroed("Stream::pitched_upload", self, rows, columns)?;
        self.upload_matrix(data, &mut buffer.matrix_mut())?;
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_at_multiples_of_the_alignment() {
        assert_eq!(stride::<u8>(1), Some(512));
        assert_eq!(stride::<f32>(65), Some(128));
        assert_eq!(stride::<f32>(128), Some(128));
        assert_eq!(stride::<f32>(129), Some(256));
        assert_eq!(stride::<[f32; 4]>(1), Some(32));
        // 12 bytes: 128 elements are 1536, three times 512.
        assert_eq!(stride::<[f32; 3]>(5), Some(128));
        assert_eq!(stride::<[u8; 1024]>(5), Some(5));
        assert_eq!(stride::<f32>(0), Some(0));
        assert_eq!(stride::<[f32; 0]>(7), Some(7));
        assert_eq!(stride::<u8>(usize::MAX), None);
    }
}

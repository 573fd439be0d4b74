//! Copies of rectangles: between matrices on the device, and between them and the host's rows.
//!
//! | method | returns when |
//! | --- | --- |
//! | [`Stream::upload_matrix`] and its form with a stride | the host's data has been read |
//! | [`Stream::download_matrix`], [`Stream::download_matrix_into`] | the data has arrived |
//! | [`Stream::copy_matrix`], [`Stream::fill_matrix`] | at once |
//! | [`Stream::copy_matrix_from_host`], [`Stream::copy_matrix_to_host`] | at once; the page-locked memory is closed to the host until it is done |
//!
//! Each happens after the stream's earlier work. Source and destination have strides of their own; what lies between the rows is left as it is.

use std::ffi::c_void;
use std::ptr::null_mut;

use bytemuck::Pod;
use warpsmith_driver::raw::{CUDA_MEMCPY2D, CUmemorytype};

use super::copy::Pattern;
use super::host_memory::HostView;
use super::matrix::{Matrix, MatrixMut, Shape};
use super::pinned_slice::{PinnedRead, PinnedWrite};
use super::view::RawView;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::order::access::AccessKind;
use crate::stream::Stream;

const CALL: &str = "cuMemcpy2DAsync";

/// One side of a copy: where its first row is, and the elements from row to row.
#[derive(Clone, Copy)]
struct Rows {
    memory: CUmemorytype,
    host: *mut c_void,
    device: u64,
    stride: usize,
}

impl Rows {
    /// In pageable or page-locked memory.
    fn on_host<T>(first: *mut T, stride: usize) -> Rows {
        Rows {
            memory: CUmemorytype::CU_MEMORYTYPE_HOST,
            host: first.cast(),
            device: 0,
            stride,
        }
    }

    /// Of a view, from so many bytes behind its beginning.
    fn on_device(view: RawView<'_>, offset: usize, shape: Shape) -> Rows {
        Rows {
            memory: view.copied_as(),
            host: null_mut(),
            device: view.address + offset as u64,
            stride: shape.stride as usize,
        }
    }
}

impl Stream {
    /// Copies `data`, which has the matrix's rows without gaps, to the device. Waits until it has been read; in a stream that is being captured, the
    /// graph keeps a copy, as for [`upload_into`](Self::upload_into).
    ///
    /// # Errors
    ///
    /// The data has another length than the matrix, or something went wrong on the device before.
    pub fn upload_matrix<T: Pod>(&self, data: &[T], to: &mut MatrixMut<'_, T>) -> Result<()> {
        check_length(data.len(), to.shape)?;
        self.upload_matrix_with_stride(data, to.columns(), to)
    }

    /// As [`upload_matrix`](Self::upload_matrix), of rows that begin `stride` elements after each other: a rectangle of a larger matrix, for
    /// example.
    ///
    /// # Errors
    ///
    /// The stride is less than a row, or the data ends before the last row does; or as [`upload_matrix`](Self::upload_matrix).
    pub fn upload_matrix_with_stride<T: Pod>(
        &self,
        data: &[T],
        stride: usize,
        to: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        Shape::new(
            "Stream::upload_matrix_with_stride",
            data.len(),
            (to.rows(), to.columns()),
            stride,
        )?;
        let (view, bytes) = (to.elements.view(), to.shape.bytes::<T>());
        self.read_from_host(CALL, bytes, data, view, |data| {
            let from = Rows::on_host(data.cast_mut(), stride);
            // SAFETY: the shape is that of the destination, and `Shape::new` says that the source has its rows at this stride. Both are there until
            // the copy is done (`read_from_host`).
            unsafe { self.copy_rows::<T>(to.shape, from, Rows::on_device(view, 0, to.shape)) }
        })
    }

    /// The matrix's rows without gaps, on the host. Waits for the stream.
    ///
    /// # Errors
    ///
    /// What went wrong on the device before, a kernel's panic for example; or the stream is being captured.
    pub fn download_matrix<T: Pod>(&self, from: &Matrix<'_, T>) -> Result<Vec<T>> {
        let mut data = vec![T::zeroed(); from.rows() * from.columns()];
        self.download_matrix_into(from, &mut data, from.columns())?;
        Ok(data)
    }

    /// Writes the matrix's rows to `data`, where they begin `stride` elements after each other. What is between them stays as it is.
    ///
    /// # Errors
    ///
    /// The stride is less than a row, or `data` ends before the last row does; or as [`download_matrix`](Self::download_matrix).
    pub fn download_matrix_into<T: Pod>(
        &self,
        from: &Matrix<'_, T>,
        data: &mut [T],
        stride: usize,
    ) -> Result<()> {
        self.handle.refuse_capture(
            CALL,
            "the host would have to wait for the rows",
            "copy to page-locked memory (`copy_matrix_to_host`), which each launch writes, or download after launching the graph",
        )?;
        Shape::new(
            "Stream::download_matrix_into",
            data.len(),
            (from.rows(), from.columns()),
            stride,
        )?;
        let view = from.elements.view();
        let to = Rows::on_host(data.as_mut_ptr(), stride);
        let bytes = from.shape.bytes::<T>();
        self.in_order(CALL, bytes, &[view.used_for(AccessKind::Read)], || {
            // SAFETY: the shape is that of the source, and `Shape::new` says that the destination has room for its rows at this stride.
            // `in_order` keeps the source until its last use; the destination is borrowed until the wait below.
            unsafe { self.copy_rows::<T>(from.shape, Rows::on_device(view, 0, from.shape), to) }
        })?;
        self.wait_for_borrowed_host_memory()?;
        view.check_finished(CALL)
    }

    /// Copies a matrix to another one of as many rows and columns; the strides may differ.
    ///
    /// # Errors
    ///
    /// The extents differ.
    // covers: MEM-06
    pub fn copy_matrix<T: Pod>(
        &self,
        from: &Matrix<'_, T>,
        to: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        check_same_shape(CALL, from, to)?;
        let (source, target) = (from.elements.view(), to.elements.view());
        self.copy_in_order(CALL, to.shape.bytes::<T>(), source, target, || {
            let from = Rows::on_device(source, 0, from.shape);
            // SAFETY: both sides have `to`'s rows and columns (compared above), and `in_order` keeps them until their last use.
            unsafe { self.copy_rows::<T>(to.shape, from, Rows::on_device(target, 0, to.shape)) }
        })
    }

    /// Starts a copy from page-locked memory, which has the matrix's rows without gaps, and returns. Until it is done the memory cannot be had
    /// for writing.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_matrix_from_host<T: Pod>(
        &self,
        from: &(impl PinnedRead<Item = T> + ?Sized),
        to: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (HostView { view: source, host }, target) = (from.pinned_view(), to.elements.view());
        check_length(source.len, to.shape)?;
        self.copy_in_order(CALL, to.shape.bytes::<T>(), source, target, || {
            let from = Rows::on_host(host, to.columns());
            // SAFETY: both sides have `to`'s elements (compared above). `in_order` keeps both until their last use, and
            // `check_host_access` keeps the host from writing the source meanwhile.
            unsafe { self.copy_rows::<T>(to.shape, from, Rows::on_device(target, 0, to.shape)) }
        })
    }

    /// Starts a copy of the matrix's rows, without gaps, to page-locked memory and returns. Until it is done the memory is closed to the host.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_matrix_to_host<T: Pod>(
        &self,
        from: &Matrix<'_, T>,
        to: &mut (impl PinnedWrite<Item = T> + ?Sized),
    ) -> Result<()> {
        let (source, HostView { view: target, host }) = (from.elements.view(), to.pinned_view());
        check_length(target.len, from.shape)?;
        self.copy_in_order(CALL, from.shape.bytes::<T>(), source, target, || {
            let to = Rows::on_host(host, from.columns());
            // SAFETY: both sides have `from`'s elements (compared above). `in_order` keeps both until their last use, and
            // `check_host_access` keeps the host from the destination meanwhile.
            unsafe { self.copy_rows::<T>(from.shape, Rows::on_device(source, 0, from.shape), to) }
        })
    }

    /// Sets every element of a matrix to `value`. What lies between the rows stays as it is. A value that is wider than 4 bytes, and not a
    /// repetition of 1, 2 or 4, is copied from the host, and the stream is waited for.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let mut buffer = stream.zeroed::<u32>(9)?;
    /// stream.fill_matrix(&mut buffer.matrix_mut(3, 3)?.region_mut(1..3, 0..2), 7)?;
    /// assert_eq!(stream.download(&buffer)?, [0, 0, 0, 7, 7, 0, 7, 7, 0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Something went wrong on the device before.
    // covers: MEM-18
    pub fn fill_matrix<T: Pod>(&self, to: &mut MatrixMut<'_, T>, value: T) -> Result<()> {
        let (shape, view) = (to.shape, to.elements.view());
        let bytes = shape.bytes::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let row = shape.columns as usize * size_of::<T>();
        let Some(pattern) = Pattern::of(bytemuck::bytes_of(&value)) else {
            return self.fill_by_doubling(view, row, &value, || {
                let mut done = 1;
                while done < shape.rows {
                    let part = Shape {
                        rows: done.min(shape.rows - done),
                        ..shape
                    };
                    let below = done as usize * shape.stride as usize * size_of::<T>();
                    let from = Rows::on_device(view, 0, shape);
                    let to = Rows::on_device(view, below, shape);
                    // SAFETY: the source's rows end before row `done`, where the destination's begin, which end with the matrix at the
                    // latest; `fill_by_doubling` keeps it until its last use.
                    unsafe { self.copy_rows::<T>(part, from, to) }?;
                    done += part.rows;
                }
                Ok(())
            });
        };
        self.in_order(
            "cuMemsetD2DAsync",
            bytes,
            &[view.used_for(AccessKind::Write)],
            || {
                let pitch = shape.stride as usize * size_of::<T>();
                let rows = (shape.rows as usize, row, pitch);
                // SAFETY: the rows are the matrix's, which lie in its elements; row and pitch are multiples of the element, and so of the
                // pattern; `in_order` puts the work in order.
                unsafe { pattern.set_rows(view, rows, self.handle.stream_ref()) }
            },
        )
    }

    /// Enqueues a copy of `shape`'s rows and columns.
    ///
    /// # Safety
    ///
    /// Both sides have so many rows of so many elements at their strides until the copy is done, and nobody else uses them against the order
    /// of the stream.
    unsafe fn copy_rows<T>(&self, shape: Shape, from: Rows, to: Rows) -> Result<()> {
        let size = size_of::<T>();
        let copy = CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: from.memory,
            srcHost: from.host,
            srcDevice: from.device,
            srcArray: null_mut(),
            srcPitch: from.stride * size,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: to.memory,
            dstHost: to.host,
            dstDevice: to.device,
            dstArray: null_mut(),
            dstPitch: to.stride * size,
            WidthInBytes: shape.columns as usize * size,
            Height: shape.rows as usize,
        };
        if copy.WidthInBytes == 0 || copy.Height == 0 {
            return Ok(());
        }
        // SAFETY: the caller has both sides; the driver reads the description before the call returns.
        unsafe { call!(cuMemcpy2DAsync_v2(&copy, self.handle.raw())) }
    }
}

/// # Errors
///
/// The matrices have different numbers of rows or columns.
pub(crate) fn check_same_shape<T: Pod>(
    call: &'static str,
    from: &Matrix<'_, T>,
    to: &MatrixMut<'_, T>,
) -> Result<()> {
    if (from.rows(), from.columns()) != (to.rows(), to.columns()) {
        let message = format!(
            "the source has {} x {} elements and the destination {} x {}",
            from.rows(),
            from.columns(),
            to.rows(),
            to.columns()
        );
        return Err(Error::misuse(
            call,
            Code::INVALID_VALUE,
            message,
            "both must have as many rows and columns: take a `region` of the larger one",
        ));
    }
    Ok(())
}

/// # Errors
///
/// Rows without gaps are not `len` elements.
pub(crate) fn check_length(len: usize, shape: Shape) -> Result<()> {
    let elements = shape.rows as usize * shape.columns as usize;
    if len == elements {
        return Ok(());
    }
    Err(Error::misuse(
        CALL,
        Code::INVALID_VALUE,
        format!(
            "the matrix has {} x {} = {elements} elements, the host's memory {len}",
            shape.rows, shape.columns
        ),
        "give as many; of a larger one, copy a rectangle with its stride",
    ))
}

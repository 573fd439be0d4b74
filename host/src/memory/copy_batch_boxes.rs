//! Copies of rectangles, boxes and arrays in a batch, next to those of elements in a row.

use bytemuck::Pod;
use warpsmith_driver::raw::{
    self, CUDA_MEMCPY3D, CUDA_MEMCPY3D_BATCH_OP, CUarray, CUmemcpy3DOperand, CUmemorytype,
};

use super::array::{Array, ArrayExtents, Region, Texel};
use super::batch::is_missing;
use super::copy_batch::{CopyBatch, on_host};
use super::matrix::{Matrix, MatrixMut, Shape};
use super::pinned_slice::{PinnedRead, PinnedWrite};
use super::size::length_mismatch;
use super::view::{DeviceRead, DeviceWrite};
use super::{check_length, check_same_extents, check_same_shape};
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::error::{Error, Result};
use crate::stream::Stream;

const CALL: &str = "cuMemcpy3DBatchAsync";

/// One copy of a box.
pub(super) struct BoxCopy {
    source: Side,
    target: Side,
    /// Elements of a row, rows, slices.
    size: [usize; 3],
    /// Bytes of an element.
    element: usize,
}

/// One side of it.
enum Side {
    /// Memory: the address that the driver is told, and the elements from row to row; slices follow each other without gaps between the rows.
    Memory { address: u64, row: usize },
    /// An array, from this element, row and slice on.
    Array(Handle<CUarray>, [usize; 3]),
}

impl Side {
    fn rows_of(address: u64, shape: Shape) -> Side {
        Side::Memory {
            address,
            row: shape.stride as usize,
        }
    }

    fn of<T: Texel, D: ArrayExtents>(array: &Array<T, D>, region: Region) -> Side {
        Side::Array(array.handle(), region.at)
    }

    fn is_array(&self) -> bool {
        matches!(self, Side::Array(..))
    }

    /// For the driver's batches, which count in elements of `unit` bytes.
    fn operand(&self, element: usize, unit: usize, rows: usize) -> CUmemcpy3DOperand {
        match *self {
            Side::Memory { address, row } => CUmemcpy3DOperand {
                type_: raw::CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_POINTER,
                op: raw::CUmemcpy3DOperand_st__bindgen_ty_1 {
                    ptr: raw::CUmemcpy3DOperand_st__bindgen_ty_1__bindgen_ty_1 {
                        ptr: address,
                        rowLength: row * element / unit,
                        layerHeight: rows,
                        locHint: raw::CUmemLocation::default(),
                    },
                },
            },
            Side::Array(array, [x, y, z]) => CUmemcpy3DOperand {
                type_: raw::CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY,
                op: raw::CUmemcpy3DOperand_st__bindgen_ty_1 {
                    array: raw::CUmemcpy3DOperand_st__bindgen_ty_1__bindgen_ty_2 {
                        array: array.raw(),
                        offset: raw::CUoffset3D { x, y, z },
                    },
                },
            },
        }
    }
}

impl BoxCopy {
    fn of_rows<T>(source: Side, target: Side, shape: Shape) -> BoxCopy {
        BoxCopy {
            source,
            target,
            size: [shape.columns as usize, shape.rows as usize, 1],
            element: size_of::<T>(),
        }
    }

    fn of_texels<T>(source: Side, target: Side, region: Region) -> BoxCopy {
        let [width, height, depth] = region.size;
        BoxCopy {
            source,
            target,
            size: [width, height.max(1), depth.max(1)],
            element: size_of::<T>(),
        }
    }

    /// All that is copied. The extents are those of memory that there is.
    pub(super) fn bytes(&self) -> usize {
        self.size.iter().product::<usize>() * self.element
    }

    /// For a batch. Without an array the driver's elements are bytes.
    fn operation(&self) -> CUDA_MEMCPY3D_BATCH_OP {
        let [width, height, depth] = self.size;
        let unit = match self.source.is_array() || self.target.is_array() {
            true => self.element,
            false => 1,
        };
        CUDA_MEMCPY3D_BATCH_OP {
            src: self.source.operand(self.element, unit, height),
            dst: self.target.operand(self.element, unit, height),
            extent: raw::CUextent3D {
                width: width * self.element / unit,
                height,
                depth,
            },
            srcAccessOrder: raw::CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
            flags: 0,
        }
    }

    /// By itself. The driver finds out which memory an address is of.
    fn alone(&self) -> CUDA_MEMCPY3D {
        let [width, height, depth] = self.size;
        let mut copy = CUDA_MEMCPY3D {
            WidthInBytes: width * self.element,
            Height: height,
            Depth: depth,
            srcHeight: height,
            dstHeight: height,
            ..Default::default()
        };
        match self.source {
            Side::Memory { address, row } => {
                copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
                (copy.srcDevice, copy.srcPitch) = (address, row * self.element);
            }
            Side::Array(array, [x, y, z]) => {
                copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
                (copy.srcArray, copy.srcXInBytes) = (array.raw(), x * self.element);
                (copy.srcY, copy.srcZ) = (y, z);
            }
        }
        match self.target {
            Side::Memory { address, row } => {
                copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
                (copy.dstDevice, copy.dstPitch) = (address, row * self.element);
            }
            Side::Array(array, [x, y, z]) => {
                copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
                (copy.dstArray, copy.dstXInBytes) = (array.raw(), x * self.element);
                (copy.dstY, copy.dstZ) = (y, z);
            }
        }
        copy
    }
}

impl<'a> CopyBatch<'a> {
    /// Adds a copy of a matrix to another one of as many rows and columns; the strides may differ.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::CopyBatch;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let picture = stream.upload(&[1_u8, 2, 3, 4, 5, 6, 7, 8, 9])?;
    /// let picture = picture.matrix(3, 3)?;
    /// let (left, right) = (picture.region(0..2, 0..2), picture.region(0..2, 1..3));
    /// let (mut one, mut two) = (stream.zeroed::<u8>(4)?, stream.zeroed::<u8>(4)?);
    /// let (mut to_one, mut to_two) = (one.matrix_mut(2, 2)?, two.matrix_mut(2, 2)?);
    /// let mut batch = CopyBatch::new();
    /// batch.copy_matrix(&left, &mut to_one)?;
    /// batch.copy_matrix(&right, &mut to_two)?;
    /// stream.copy_batch(batch)?;
    /// assert_eq!(stream.download(&one)?, [1, 2, 4, 5]);
    /// assert_eq!(stream.download(&two)?, [2, 3, 5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The extents differ.
    pub fn copy_matrix<T: Pod>(
        &mut self,
        from: &'a Matrix<'_, T>,
        to: &'a mut MatrixMut<'_, T>,
    ) -> Result<()> {
        check_same_shape(from, to)?;
        let (source, target) = (from.elements.view(), to.elements.view());
        let (from_rows, to_rows) = (
            Side::rows_of(source.address, from.shape),
            Side::rows_of(target.address, to.shape),
        );
        self.add_box(
            source,
            target,
            BoxCopy::of_rows::<T>(from_rows, to_rows, to.shape),
        );
        Ok(())
    }

    /// Adds a copy from page-locked memory, which has the matrix's rows without gaps. Until it is done the memory cannot be had for writing.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_matrix_from_host<T: Pod>(
        &mut self,
        from: &'a (impl PinnedRead<Item = T> + ?Sized),
        to: &'a mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (source, target) = (from.pinned_view(), to.elements.view());
        check_length(source.view.len, to.shape)?;
        let packed = Side::Memory {
            address: on_host(source),
            row: to.shape.columns as usize,
        };
        let rows = Side::rows_of(target.address, to.shape);
        self.add_box(
            source.view,
            target,
            BoxCopy::of_rows::<T>(packed, rows, to.shape),
        );
        Ok(())
    }

    /// Adds a copy of the matrix's rows, without gaps, to page-locked memory. Until it is done the memory is closed to the host.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_matrix_to_host<T: Pod>(
        &mut self,
        from: &'a Matrix<'_, T>,
        to: &'a mut (impl PinnedWrite<Item = T> + ?Sized),
    ) -> Result<()> {
        // The borrow is exclusive for as long as the batch.
        let to: &'a _ = to;
        let (source, target) = (from.elements.view(), to.pinned_view());
        check_length(target.view.len, from.shape)?;
        let rows = Side::rows_of(source.address, from.shape);
        let packed = Side::Memory {
            address: on_host(target),
            row: from.shape.columns as usize,
        };
        self.add_box(
            source,
            target.view,
            BoxCopy::of_rows::<T>(rows, packed, from.shape),
        );
        Ok(())
    }

    /// Adds a copy of an array to another one of the same extents.
    ///
    /// # Errors
    ///
    /// The extents differ.
    pub fn copy_array<T: Texel, D: ArrayExtents>(
        &mut self,
        from: &'a Array<T, D>,
        to: &'a mut Array<T, D>,
    ) -> Result<()> {
        check_same_extents(from, to)?;
        let to: &'a Array<T, D> = to;
        let region = Region::whole(from);
        let copy = BoxCopy::of_texels::<T>(Side::of(from, region), Side::of(to, region), region);
        self.add_box(from.view(), to.view(), copy);
        Ok(())
    }

    /// Adds a copy of device memory, which has the array's texels without gaps, to an array.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::{CopyBatch, Extent2};
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let (texels, row) = (stream.upload(&[1_u16, 2, 3, 4, 5, 6])?, stream.upload(&[8_u16, 9])?);
    /// let mut image = stream.array_zeroed(Extent2 { width: 3, height: 2 })?;
    /// let mut other = stream.array_zeroed(Extent2 { width: 2, height: 2 })?;
    /// let mut batch = CopyBatch::new();
    /// batch.copy_to_array(&texels, &mut image)?;
    /// let (second, size) = (Extent2 { width: 0, height: 1 }, Extent2 { width: 2, height: 1 });
    /// batch.copy_to_array_region(&row, &mut other, second, size)?;
    /// stream.copy_batch(batch)?;
    /// assert_eq!(stream.download_array(&image)?, [1, 2, 3, 4, 5, 6]);
    /// assert_eq!(stream.download_array(&other)?, [0, 0, 8, 9]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_to_array<T: Texel, D: ArrayExtents, S: DeviceRead<Item = T> + ?Sized>(
        &mut self,
        from: &'a S,
        to: &'a mut Array<T, D>,
    ) -> Result<()> {
        let region = Region::whole(to);
        self.add_to_array(from, to, region)
    }

    /// Adds a copy of device memory, which has the texels without gaps, to the part of an array that begins `at` these places and has this
    /// `size`.
    ///
    /// # Errors
    ///
    /// The part has no texels or does not lie in the array, or the lengths differ.
    pub fn copy_to_array_region<T: Texel, D: ArrayExtents, S: DeviceRead<Item = T> + ?Sized>(
        &mut self,
        from: &'a S,
        to: &'a mut Array<T, D>,
        at: D,
        size: D,
    ) -> Result<()> {
        let region = Region::of(to, at, size)?;
        self.add_to_array(from, to, region)
    }

    /// The caller has borrowed the array exclusively.
    fn add_to_array<T: Texel, D: ArrayExtents, S: DeviceRead<Item = T> + ?Sized>(
        &mut self,
        from: &'a S,
        to: &'a Array<T, D>,
        region: Region,
    ) -> Result<()> {
        let source = from.raw_view();
        if source.len != region.texels {
            return Err(length_mismatch(CALL, source.len, region.texels));
        }
        let packed = Side::Memory {
            address: source.address,
            row: region.size[0],
        };
        let copy = BoxCopy::of_texels::<T>(packed, Side::of(to, region), region);
        self.add_box(source, to.view(), copy);
        Ok(())
    }

    /// Adds a copy of an array to device memory, where its texels lie without gaps.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_from_array<T: Texel, D: ArrayExtents, W: DeviceWrite<Item = T> + ?Sized>(
        &mut self,
        from: &'a Array<T, D>,
        to: &'a mut W,
    ) -> Result<()> {
        self.add_from_array(from, Region::whole(from), to)
    }

    /// Adds a copy of the part of an array that begins `at` these places and has this `size` to device memory, where its texels lie without
    /// gaps.
    ///
    /// # Errors
    ///
    /// The part has no texels or does not lie in the array, or the lengths differ.
    pub fn copy_from_array_region<T: Texel, D: ArrayExtents, W: DeviceWrite<Item = T> + ?Sized>(
        &mut self,
        from: &'a Array<T, D>,
        at: D,
        size: D,
        to: &'a mut W,
    ) -> Result<()> {
        self.add_from_array(from, Region::of(from, at, size)?, to)
    }

    fn add_from_array<T: Texel, D: ArrayExtents, W: DeviceWrite<Item = T> + ?Sized>(
        &mut self,
        from: &'a Array<T, D>,
        region: Region,
        to: &'a mut W,
    ) -> Result<()> {
        let to: &'a W = to;
        let target = to.raw_view();
        if target.len != region.texels {
            return Err(length_mismatch(CALL, region.texels, target.len));
        }
        let packed = Side::Memory {
            address: target.address,
            row: region.size[0],
        };
        let copy = BoxCopy::of_texels::<T>(Side::of(from, region), packed, region);
        self.add_box(from.view(), target, copy);
        Ok(())
    }
}

impl Stream {
    /// # Safety
    ///
    /// Both sides of each copy have the box until it is done, and are put in order.
    pub(super) unsafe fn enqueue_boxes(&self, copies: &[BoxCopy]) -> Result<()> {
        let stream = self.handle.raw();
        if self.takes_batches() && !copies.is_empty() {
            let mut operations: Vec<_> = copies.iter().map(BoxCopy::operation).collect();
            let (count, first) = (operations.len(), operations.as_mut_ptr());
            // SAFETY: the array has as many operations and outlives the call; the copies are as the caller says.
            let done = unsafe { call!(cuMemcpy3DBatchAsync_v2(count, first, 0, stream)) };
            if !is_missing(&done) {
                return done;
            }
            let mut failed = usize::MAX;
            // SAFETY: as above; the driver writes one number to `failed`, which outlives the call.
            let done = unsafe { call!(cuMemcpy3DBatchAsync(count, first, &mut failed, 0, stream)) };
            if !is_missing(&done) {
                return done.map_err(|error: Error| error.while_doing(|| format!("copy {failed}")));
            }
        }
        for copy in copies {
            // SAFETY: as the caller says; the driver reads the description before the call returns.
            unsafe { call!(cuMemcpy3DAsync_v2(&copy.alone(), stream)) }?;
        }
        Ok(())
    }
}

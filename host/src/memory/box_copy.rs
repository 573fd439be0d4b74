//! Copies of rectangles, boxes and arrays: what the driver is told of them, in batches and one by one.

use warpsmith_driver::raw::{
    self, CUDA_MEMCPY3D, CUDA_MEMCPY3D_BATCH_OP, CUarray, CUmemcpy3DOperand, CUmemorytype,
};

use super::array::{Array, ArrayExtents, Region, Texel};
use super::batch::by_newest;
use super::matrix::Shape;
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::error::Result;
use crate::stream::Stream;

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
pub(super) enum Side {
    /// Memory: the address that the driver is told, and the elements from row to row; slices follow each other without gaps between the rows.
    Memory { address: u64, row: usize },
    /// An array, from this element, row and slice on.
    Array(Handle<CUarray>, [usize; 3]),
}

impl Side {
    pub(super) fn rows_of(address: u64, shape: Shape) -> Side {
        Side::Memory {
            address,
            row: shape.stride as usize,
        }
    }

    pub(super) fn of<T: Texel, D: ArrayExtents>(array: &Array<T, D>, region: Region) -> Side {
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
    pub(super) fn of_rows<T>(source: Side, target: Side, shape: Shape) -> BoxCopy {
        BoxCopy {
            source,
            target,
            size: [shape.columns as usize, shape.rows as usize, 1],
            element: size_of::<T>(),
        }
    }

    pub(super) fn of_texels<T>(source: Side, target: Side, region: Region) -> BoxCopy {
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

impl Stream {
    /// # Safety
    ///
    /// Both sides of each copy have the box until it is done, and are put in order.
    pub(super) unsafe fn enqueue_boxes(&self, copies: &[BoxCopy]) -> Result<()> {
        let stream = self.handle.raw();
        if self.takes_batches() && !copies.is_empty() {
            let mut operations: Vec<_> = copies.iter().map(BoxCopy::operation).collect();
            let (count, first) = (operations.len(), operations.as_mut_ptr());
            let done = by_newest(
                // SAFETY: the array has as many operations and outlives the call; the copies are as the caller says.
                || unsafe { call!(cuMemcpy3DBatchAsync_v2(count, first, 0, stream)) },
                // SAFETY: the array has as many operations and outlives the call, as does the number; the copies are as the caller says.
                |failed| unsafe { call!(cuMemcpy3DBatchAsync(count, first, failed, 0, stream)) },
            );
            if let Some(done) = done {
                return done;
            }
        }
        for copy in copies {
            // SAFETY: both sides have the box until the copy is done, in order (the caller); the driver reads the description before the call returns.
            unsafe { call!(cuMemcpy3DAsync_v2(&copy.alone(), stream)) }?;
        }
        Ok(())
    }
}

//! Copies as programs describe them: the driver's structures, there and back.

use super::Transfer;
use super::end::End;
use super::side::{Side, texel_of};
use crate::error::{Result, code};
use crate::memory::allocation::Use;
use crate::memory::extent::{Extent, product};
use warpsmith_abi::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_BATCH_OP, CUarray, CUmemcpy3DOperand, CUmemorytype,
};

/// One end of a copy of bytes in a row.
#[derive(Clone, Copy)]
pub(crate) enum ArrayOrMemory {
    /// The first row of an array, from a byte on.
    Array(CUarray, usize),
    /// Memory at an address.
    Memory(usize, CUmemorytype),
}

impl Transfer {
    /// A copy of `bytes` in a row.
    pub(crate) fn linear(
        to: usize,
        to_type: CUmemorytype,
        from: usize,
        from_type: CUmemorytype,
        bytes: usize,
    ) -> Result<Self> {
        let side = |address, kind| Side::linear(address, kind, bytes);
        let extent = Extent::new(bytes, 1, 1)?;
        Self::new(side(to, to_type), side(from, from_type), extent)
    }

    /// A copy of `bytes` in a row between an array, from the byte `offset` of its first row on, and other memory. `arrays` are destination
    /// and source.
    pub(crate) fn array_row(to: ArrayOrMemory, from: ArrayOrMemory, bytes: usize) -> Result<Self> {
        let side = |given| match given {
            ArrayOrMemory::Array(array, offset) => Side {
                kind: CUmemorytype::CU_MEMORYTYPE_ARRAY,
                array,
                at: [offset, 0, 0],
                ..Side::linear(0, CUmemorytype::CU_MEMORYTYPE_ARRAY, bytes)
            },
            ArrayOrMemory::Memory(address, kind) => Side::linear(address, kind, bytes),
        };
        Self::new(side(to), side(from), Extent::new(bytes, 1, 1)?)
    }

    pub(crate) fn two_dimensional(copy: &CUDA_MEMCPY2D) -> Result<Self> {
        let extent = Extent::new(copy.WidthInBytes, copy.Height, 1)?;
        let row = |pitch| match pitch {
            0 => copy.WidthInBytes,
            pitch => pitch,
        };
        let to = Side {
            kind: copy.dstMemoryType,
            host: copy.dstHost as usize,
            device: copy.dstDevice,
            array: copy.dstArray,
            at: [copy.dstXInBytes, copy.dstY, 0],
            level: 0,
            row: row(copy.dstPitch),
            slice: 0,
        };
        let from = Side {
            kind: copy.srcMemoryType,
            host: copy.srcHost as usize,
            device: copy.srcDevice,
            array: copy.srcArray,
            at: [copy.srcXInBytes, copy.srcY, 0],
            level: 0,
            row: row(copy.srcPitch),
            slice: 0,
        };
        Self::new(to, from, extent)
    }

    pub(crate) fn three_dimensional(copy: &CUDA_MEMCPY3D) -> Result<Self> {
        let extent = Extent::new(copy.WidthInBytes, copy.Height, copy.Depth)?;
        let steps = |kind, pitch, rows| {
            // An array has its own.
            if kind == CUmemorytype::CU_MEMORYTYPE_ARRAY {
                return Ok((0, 0));
            }
            let row = if pitch == 0 { copy.WidthInBytes } else { pitch };
            let rows = if rows == 0 { copy.Height } else { rows };
            let slice = product(&[row, rows]).ok_or(code::INVALID_VALUE)?;
            Ok((row, slice))
        };
        let (from_row, from_slice) = steps(copy.srcMemoryType, copy.srcPitch, copy.srcHeight)?;
        let (to_row, to_slice) = steps(copy.dstMemoryType, copy.dstPitch, copy.dstHeight)?;
        let to = Side {
            kind: copy.dstMemoryType,
            host: copy.dstHost as usize,
            device: copy.dstDevice,
            array: copy.dstArray,
            at: [copy.dstXInBytes, copy.dstY, copy.dstZ],
            level: copy.dstLOD,
            row: to_row,
            slice: to_slice,
        };
        let from = Side {
            kind: copy.srcMemoryType,
            host: copy.srcHost as usize,
            device: copy.srcDevice,
            array: copy.srcArray,
            at: [copy.srcXInBytes, copy.srcY, copy.srcZ],
            level: copy.srcLOD,
            row: from_row,
            slice: from_slice,
        };
        Self::new(to, from, extent)
    }

    /// A copy of a batch, whose sizes are in texels of the array that takes part, else in bytes.
    ///
    /// # Errors
    ///
    /// Invalid value if an extent is 0, a row or a slice is shorter than what is copied of it, or the texels of two arrays differ in size.
    pub(crate) fn of_batch(copy: &CUDA_MEMCPY3D_BATCH_OP) -> Result<Self> {
        let texel = match (texel_of(&copy.dst)?, texel_of(&copy.src)?) {
            (Some(to), Some(from)) if to != from => return Err(code::INVALID_VALUE),
            (Some(texel), _) | (None, Some(texel)) => texel,
            (None, None) => 1,
        };
        let asked = &copy.extent;
        let width = product(&[asked.width, texel]).ok_or(code::INVALID_VALUE)?;
        let extent = Extent::new(width, asked.height, asked.depth)?;
        if extent.is_empty() {
            return Err(code::INVALID_VALUE);
        }
        let side = |operand: &CUmemcpy3DOperand| Side::of_operand(operand, texel, &extent);
        Self::new(side(&copy.dst)?, side(&copy.src)?, extent)
    }

    fn new(to: Side, from: Side, extent: Extent) -> Result<Self> {
        Ok(Self {
            from: End::new(Use::Read, &from, &extent)?,
            to: End::new(Use::Write, &to, &extent)?,
            extent,
            asked: Some((to.kind, from.kind)),
        })
    }

    /// The copy as the driver's structure. The offsets into arrays are there; those into other memory are in its address.
    pub(crate) fn parameters(&self) -> CUDA_MEMCPY3D {
        let (to, from) = self.asked.unwrap_or((
            CUmemorytype::CU_MEMORYTYPE_UNIFIED,
            CUmemorytype::CU_MEMORYTYPE_UNIFIED,
        ));
        let (source, target) = (self.from.parameters(), self.to.parameters());
        CUDA_MEMCPY3D {
            srcXInBytes: source.at[0],
            srcY: source.at[1],
            srcZ: source.at[2],
            srcMemoryType: from,
            srcHost: source.host as *const _,
            srcDevice: source.device,
            srcArray: source.array,
            srcPitch: source.row,
            srcHeight: self.from.rows(),
            dstXInBytes: target.at[0],
            dstY: target.at[1],
            dstZ: target.at[2],
            dstMemoryType: to,
            dstHost: target.host as *mut _,
            dstDevice: target.device,
            dstArray: target.array,
            dstPitch: target.row,
            dstHeight: self.to.rows(),
            WidthInBytes: self.extent.width(),
            Height: self.extent.height(),
            Depth: self.extent.depth(),
            ..Default::default()
        }
    }
}

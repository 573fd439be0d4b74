//! An end of a copy as a program gives it.

use std::ptr::null_mut;

use crate::error::{Result, code};
use crate::memory::array::Array;
use crate::memory::extent::{Extent, product};
use warpsmith_abi::{
    CUarray, CUdeviceptr, CUmemcpy3DOperand, CUmemcpy3DOperandType as OperandType, CUmemorytype,
};

/// One end as a program gives it.
pub(super) struct Side {
    pub(super) kind: CUmemorytype,
    pub(super) host: usize,
    pub(super) device: CUdeviceptr,
    pub(super) array: CUarray,
    /// Bytes, rows and slices before the box.
    pub(super) at: [usize; 3],
    /// The level of a mipmapped array, which must be 0.
    pub(super) level: usize,
    pub(super) row: usize,
    pub(super) slice: usize,
}

/// The size of a texel, if the operand is an array.
pub(super) fn texel_of(operand: &CUmemcpy3DOperand) -> Result<Option<usize>> {
    match operand.type_ {
        OperandType::CU_MEMCPY_OPERAND_TYPE_POINTER => Ok(None),
        OperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY => {
            // SAFETY: the operand's type says that this is the member; every bit pattern of a handle is valid.
            let handle = unsafe { operand.op.array.array };
            Ok(Some(Array::of_use(handle)?.shape.texel()))
        }
        _ => Err(code::INVALID_VALUE),
    }
}

impl Side {
    /// An operand of a batch, for a copy of this many bytes, rows and slices.
    pub(super) fn of_operand(
        operand: &CUmemcpy3DOperand,
        texel: usize,
        extent: &Extent,
    ) -> Result<Self> {
        if operand.type_ == OperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY {
            // SAFETY: the operand's type says that this is the member; every bit pattern of handle and numbers is valid.
            let array = unsafe { operand.op.array };
            let kind = CUmemorytype::CU_MEMORYTYPE_ARRAY;
            let x = product(&[array.offset.x, texel]).ok_or(code::INVALID_VALUE)?;
            return Ok(Self {
                array: array.array,
                at: [x, array.offset.y, array.offset.z],
                ..Self::linear(0, kind, 0)
            });
        }
        // SAFETY: every bit pattern of the member's numbers is valid.
        let memory = unsafe { operand.op.ptr };
        let given = |size: usize, least: usize| match size {
            0 => Some(least),
            size => (size >= least).then_some(size),
        };
        let row = product(&[memory.rowLength, texel])
            .and_then(|row| given(row, extent.width()))
            .ok_or(code::INVALID_VALUE)?;
        let rows = given(memory.layerHeight, extent.height()).ok_or(code::INVALID_VALUE)?;
        Ok(Self {
            row,
            slice: product(&[row, rows]).ok_or(code::INVALID_VALUE)?,
            ..Self::linear(memory.ptr as usize, CUmemorytype::CU_MEMORYTYPE_UNIFIED, 0)
        })
    }

    /// `bytes` in a row.
    pub(super) fn linear(address: usize, kind: CUmemorytype, bytes: usize) -> Self {
        Self {
            kind,
            host: address,
            device: address as CUdeviceptr,
            array: null_mut(),
            at: [0; 3],
            level: 0,
            row: bytes,
            slice: bytes,
        }
    }
}

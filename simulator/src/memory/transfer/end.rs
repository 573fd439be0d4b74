//! An end of a copy: where it lies, and whether it is there.

use std::sync::Arc;

use super::side::Side;
use crate::error::{Result, code};
use crate::memory::allocation::Use;
use crate::memory::array::{ARRAYS, Array, ArrayPart};
use crate::memory::extent::{Extent, Layout};
use crate::memory::pool;
use crate::memory::refusal;
use crate::memory::space::Memory;
use warpsmith_abi::{CUarray, CUmemorytype};

/// Which memory one end of a copy lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndMemory {
    /// Memory that the driver knows and that the device reaches: device, managed, page-locked.
    Known,
    /// A CUDA array.
    Array,
    /// Ordinary host memory, of which the driver knows nothing.
    Pageable,
}

/// One end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(super) layout: Layout,
    pub(crate) memory: EndMemory,
    /// Whose memory it is; `None` for the host's, managed and mapped memory, and arrays.
    pub(super) device: Option<u16>,
    /// Of which array, if it is one.
    pub(super) array: Option<ArrayPart>,
}

impl End {
    pub(super) fn new(how: Use, side: &Side, extent: &Extent) -> Result<Self> {
        let base = match side.kind {
            CUmemorytype::CU_MEMORYTYPE_HOST => side.host,
            CUmemorytype::CU_MEMORYTYPE_DEVICE | CUmemorytype::CU_MEMORYTYPE_UNIFIED => {
                side.device as usize
            }
            CUmemorytype::CU_MEMORYTYPE_ARRAY => return Self::in_array(side, extent),
            _ => return Err(code::INVALID_VALUE),
        };
        let layout = Layout::new(base, side.at, [side.row, side.slice], extent)?;
        let mut end = Self {
            layout,
            memory: EndMemory::Known,
            device: None,
            array: None,
        };
        if extent.is_empty() {
            return Ok(end);
        }
        let address = layout.address();
        let rows_overlap = extent.height() > 1 && layout.row() < extent.width();
        let slices_overlap =
            extent.depth() > 1 && layout.slice() < layout.row().saturating_mul(extent.height());
        if rows_overlap || slices_overlap {
            return Err(code::INVALID_VALUE);
        }
        let what = || format!("a copy of {} bytes", extent.bytes());
        let name = match how {
            Use::Read => "its source",
            Use::Write => "its destination",
        };
        let is_said_to_be_device = side.kind == CUmemorytype::CU_MEMORYTYPE_DEVICE;
        if address != 0 && Memory::global().allows(address, layout.span(), how) {
            // As measured, whoever has access: memory of a pool of the host is the host's.
            if is_said_to_be_device && pool::of_host_memory(address).is_some() {
                refusal::tell_of_host_memory(&what(), name, address);
                return Err(code::INVALID_VALUE);
            }
            let owner = Memory::global().find(address).and_then(|info| info.device);
            end.device = owner.and_then(|device| u16::try_from(device).ok());
            return Ok(end);
        }
        // An address in the arena that is no live allocation cannot be the program's own memory.
        if is_said_to_be_device || address == 0 || Memory::global().contains(address) {
            refusal::tell(&what(), name, address, layout.span(), how);
            return Err(code::INVALID_VALUE);
        }
        end.memory = EndMemory::Pageable;
        Ok(end)
    }

    /// A box of an array, whatever pitch and address are given.
    fn in_array(side: &Side, extent: &Extent) -> Result<Self> {
        if side.level != 0 {
            return Err(code::INVALID_VALUE);
        }
        let array = Array::of_use(side.array)?;
        Ok(Self {
            layout: array.layout(side.at, extent)?,
            memory: EndMemory::Array,
            device: None,
            array: Some(ArrayPart {
                handle: array.handle,
                at: side.at,
            }),
        })
    }

    /// The array that the end is a part of.
    pub(super) fn array(&self) -> Option<Arc<Array>> {
        let part = self.array?;
        ARRAYS.get(part.handle as CUarray).ok()
    }

    /// The end as a program gives it.
    pub(super) fn parameters(&self) -> Side {
        match self.array {
            Some(part) => Side {
                kind: CUmemorytype::CU_MEMORYTYPE_ARRAY,
                host: 0,
                device: 0,
                array: part.handle as CUarray,
                at: part.at,
                level: 0,
                row: 0,
                slice: 0,
            },
            None => Side {
                row: self.layout.row(),
                slice: self.layout.slice(),
                ..Side::linear(self.address(), CUmemorytype::CU_MEMORYTYPE_UNIFIED, 0)
            },
        }
    }

    /// The first byte's address.
    pub(crate) fn address(&self) -> usize {
        self.layout.address()
    }

    /// Rows from one slice to the next, as a program gives them: none of an array.
    pub(super) fn rows(&self) -> usize {
        if self.array.is_some() {
            return 0;
        }
        let rows = self.layout.slice().checked_div(self.layout.row());
        rows.unwrap_or(0)
    }
}

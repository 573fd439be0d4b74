//! Copies of up to three dimensions, checked when they are issued and again when they run.

use super::allocation::Use;
use super::extent::{Extent, Layout, product};
use super::guest::{self, Source};
use super::hold::Hold;
use super::space::Memory;
use crate::error::{Result, code};
use warpsmith_abi::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype};

/// Which memory one end of a copy lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndMemory {
    /// Memory that the driver knows and that the device reaches: device, managed, page-locked.
    Known,
    /// Ordinary host memory, of which the driver knows nothing.
    Pageable,
}

/// One end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    layout: Layout,
    pub(crate) memory: EndMemory,
}

/// A copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) from: End,
    pub(crate) to: End,
    extent: Extent,
    /// What was asked for, for `cuGraphMemcpyNodeGetParams`.
    asked: Option<(CUmemorytype, CUmemorytype)>,
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
        let extent = Extent::new(bytes, 1, 1)?;
        let end = |how, address, kind| {
            let layout = Layout::new(address, [0; 3], [bytes, bytes], &extent)?;
            End::new(how, layout, kind, &extent)
        };
        Ok(Self {
            from: end(Use::Read, from, from_type)?,
            to: end(Use::Write, to, to_type)?,
            extent,
            asked: Some((to_type, from_type)),
        })
    }

    pub(crate) fn two_dimensional(copy: &CUDA_MEMCPY2D) -> Result<Self> {
        let extent = Extent::new(copy.WidthInBytes, copy.Height, 1)?;
        let end = |how, kind, host, device, [x, y]: [usize; 2], pitch| {
            let row = if pitch == 0 { copy.WidthInBytes } else { pitch };
            let layout = Layout::new(base(kind, host, device)?, [x, y, 0], [row, 0], &extent)?;
            End::new(how, layout, kind, &extent)
        };
        Ok(Self {
            from: end(
                Use::Read,
                copy.srcMemoryType,
                copy.srcHost as usize,
                copy.srcDevice,
                [copy.srcXInBytes, copy.srcY],
                copy.srcPitch,
            )?,
            to: end(
                Use::Write,
                copy.dstMemoryType,
                copy.dstHost as usize,
                copy.dstDevice,
                [copy.dstXInBytes, copy.dstY],
                copy.dstPitch,
            )?,
            extent,
            asked: Some((copy.dstMemoryType, copy.srcMemoryType)),
        })
    }

    pub(crate) fn three_dimensional(copy: &CUDA_MEMCPY3D) -> Result<Self> {
        let extent = Extent::new(copy.WidthInBytes, copy.Height, copy.Depth)?;
        let end = |how, kind, host, device, offset, pitch, rows| {
            let row = if pitch == 0 { copy.WidthInBytes } else { pitch };
            let rows = if rows == 0 { copy.Height } else { rows };
            let slice = product(&[row, rows]).ok_or(code::INVALID_VALUE)?;
            let layout = Layout::new(base(kind, host, device)?, offset, [row, slice], &extent)?;
            End::new(how, layout, kind, &extent)
        };
        Ok(Self {
            from: end(
                Use::Read,
                copy.srcMemoryType,
                copy.srcHost as usize,
                copy.srcDevice,
                [copy.srcXInBytes, copy.srcY, copy.srcZ],
                copy.srcPitch,
                copy.srcHeight,
            )?,
            to: end(
                Use::Write,
                copy.dstMemoryType,
                copy.dstHost as usize,
                copy.dstDevice,
                [copy.dstXInBytes, copy.dstY, copy.dstZ],
                copy.dstPitch,
                copy.dstHeight,
            )?,
            extent,
            asked: Some((copy.dstMemoryType, copy.srcMemoryType)),
        })
    }

    /// The copy as the driver's structure, without offsets.
    pub(crate) fn parameters(&self) -> CUDA_MEMCPY3D {
        let (to, from) = self.asked.unwrap_or((
            CUmemorytype::CU_MEMORYTYPE_UNIFIED,
            CUmemorytype::CU_MEMORYTYPE_UNIFIED,
        ));
        CUDA_MEMCPY3D {
            srcMemoryType: from,
            srcHost: self.from.address() as *const _,
            srcDevice: self.from.address() as CUdeviceptr,
            srcPitch: self.from.layout.row(),
            srcHeight: self.from.rows(),
            dstMemoryType: to,
            dstHost: self.to.address() as *mut _,
            dstDevice: self.to.address() as CUdeviceptr,
            dstPitch: self.to.layout.row(),
            dstHeight: self.to.rows(),
            WidthInBytes: self.extent.width(),
            Height: self.extent.height(),
            Depth: self.extent.depth(),
            ..Default::default()
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.extent.bytes()
    }

    /// Whether an end is memory of which the driver knows nothing.
    pub(crate) fn has_pageable_end(&self) -> bool {
        [self.from.memory, self.to.memory].contains(&EndMemory::Pageable)
    }

    pub(crate) fn is_linear(&self) -> bool {
        self.extent.height() == 1 && self.extent.depth() == 1
    }

    /// The kinds of memory at both ends, destination first: what an update of a graph may not change.
    pub(crate) fn memory_kinds(&self) -> (EndMemory, EndMemory) {
        (self.to.memory, self.from.memory)
    }

    /// Copies the source of pageable memory away, so that the caller may change it at once.
    ///
    /// # Safety
    ///
    /// The source is readable.
    pub(crate) unsafe fn stage(&self) -> Vec<u8> {
        let mut staged = vec![0; self.bytes()];
        let to = self.staging(staged.as_mut_ptr().expose_provenance());
        // SAFETY: the staging buffer has the copy's size, and the source is readable by the caller's contract.
        unsafe { Self { to, ..self.clone() }.copy() };
        staged
    }

    /// The same copy out of a staging buffer.
    pub(crate) fn with_staged_source(&self, staged: &[u8]) -> Self {
        let from = self.staging(staged.as_ptr().expose_provenance());
        Self {
            from,
            ..self.clone()
        }
    }

    /// A staging buffer as an end.
    fn staging(&self, address: usize) -> End {
        End {
            layout: Layout::packed(address, &self.extent),
            memory: EndMemory::Pageable,
        }
    }

    /// Copies, after a look whether the memory that the driver knows is still there.
    ///
    /// # Safety
    ///
    /// Pageable ends are valid.
    pub(crate) unsafe fn execute(&self) -> core::result::Result<(), String> {
        let _source = self.hold(&self.from, "source", Use::Read)?;
        let _destination = self.hold(&self.to, "destination", Use::Write)?;
        // SAFETY: known ends were just found live and are held, pageable ones are valid by the caller's contract.
        unsafe { self.copy() };
        Ok(())
    }

    /// Holds an end that the driver knows.
    fn hold(
        &self,
        end: &End,
        name: &str,
        how: Use,
    ) -> core::result::Result<Option<Hold<'static>>, String> {
        if end.memory == EndMemory::Pageable {
            return Ok(None);
        }
        match Memory::global().hold(end.address(), end.layout.span(), how) {
            None => Err(format!(
                "a copy of {} bytes cannot start: its {name} at {:#x} {}",
                self.bytes(),
                end.address(),
                Memory::global().why_not_held(end.address())
            )),
            held => Ok(held),
        }
    }

    /// # Safety
    ///
    /// Both ends are valid.
    unsafe fn copy(&self) {
        let source = match self.from.memory {
            EndMemory::Known => Source::Guest,
            EndMemory::Pageable => Source::Host,
        };
        for z in 0..self.extent.depth() {
            for y in 0..self.extent.height() {
                let (from, to) = (self.from.layout.start(y, z), self.to.layout.start(y, z));
                // SAFETY: rows lie inside the two ends, which are valid by the caller's contract.
                unsafe { guest::copy(to, from, source, self.extent.width()) };
            }
        }
    }
}

fn base(kind: CUmemorytype, host: usize, device: CUdeviceptr) -> Result<usize> {
    match kind {
        CUmemorytype::CU_MEMORYTYPE_HOST => Ok(host),
        CUmemorytype::CU_MEMORYTYPE_DEVICE | CUmemorytype::CU_MEMORYTYPE_UNIFIED => {
            Ok(device as usize)
        }
        CUmemorytype::CU_MEMORYTYPE_ARRAY => Err(code::NOT_SUPPORTED),
        _ => Err(code::INVALID_VALUE),
    }
}

impl End {
    fn new(how: Use, layout: Layout, kind: CUmemorytype, extent: &Extent) -> Result<Self> {
        let mut end = Self {
            layout,
            memory: EndMemory::Known,
        };
        if extent.is_empty() {
            return Ok(end);
        }
        let address = layout.address();
        if (extent.height() > 1 && layout.row() < extent.width()) || address == 0 {
            return Err(code::INVALID_VALUE);
        }
        let live = Memory::global().allows(address, layout.span(), how);
        match kind {
            CUmemorytype::CU_MEMORYTYPE_DEVICE if !live => return Err(code::INVALID_VALUE),
            CUmemorytype::CU_MEMORYTYPE_DEVICE => {}
            // An address in the arena that is no live allocation cannot be the program's own memory.
            _ if !live && Memory::global().contains(address) => {
                return Err(code::INVALID_VALUE);
            }
            _ if !live => end.memory = EndMemory::Pageable,
            CUmemorytype::CU_MEMORYTYPE_HOST | CUmemorytype::CU_MEMORYTYPE_UNIFIED => {}
            _ => return Err(code::INVALID_VALUE),
        }
        Ok(end)
    }

    /// The first byte's address.
    pub(crate) fn address(&self) -> usize {
        self.layout.address()
    }

    /// Rows from one slice to the next.
    fn rows(&self) -> usize {
        let rows = self.layout.slice().checked_div(self.layout.row());
        rows.unwrap_or(0)
    }
}

//! Copies of up to three dimensions, checked when they are issued and again when they run.

use super::guest;
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

/// One end of a copy: the first byte's address and the distances of rows and slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) address: usize,
    pub(crate) memory: EndMemory,
    pub(crate) row: usize,
    pub(crate) slice: usize,
}

/// A copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) from: End,
    pub(crate) to: End,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
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
        let end = |address, kind| End::new(address, kind, bytes, bytes, [bytes, 1, 1]);
        Ok(Self {
            from: end(from, from_type)?,
            to: end(to, to_type)?,
            width: bytes,
            height: 1,
            depth: 1,
            asked: Some((to_type, from_type)),
        })
    }

    pub(crate) fn two_dimensional(copy: &CUDA_MEMCPY2D) -> Result<Self> {
        let size = [copy.WidthInBytes, copy.Height, 1];
        let pitch = |pitch: usize| if pitch == 0 { copy.WidthInBytes } else { pitch };
        let (from_row, to_row) = (pitch(copy.srcPitch), pitch(copy.dstPitch));
        let from = base(copy.srcMemoryType, copy.srcHost as usize, copy.srcDevice)?;
        let to = base(copy.dstMemoryType, copy.dstHost as usize, copy.dstDevice)?;
        Ok(Self {
            from: End::new(
                from + copy.srcY * from_row + copy.srcXInBytes,
                copy.srcMemoryType,
                from_row,
                0,
                size,
            )?,
            to: End::new(
                to + copy.dstY * to_row + copy.dstXInBytes,
                copy.dstMemoryType,
                to_row,
                0,
                size,
            )?,
            width: size[0],
            height: size[1],
            depth: 1,
            asked: Some((copy.dstMemoryType, copy.srcMemoryType)),
        })
    }

    pub(crate) fn three_dimensional(copy: &CUDA_MEMCPY3D) -> Result<Self> {
        let size = [copy.WidthInBytes, copy.Height, copy.Depth];
        let pitch = |pitch: usize| if pitch == 0 { copy.WidthInBytes } else { pitch };
        let rows = |rows: usize| if rows == 0 { copy.Height } else { rows };
        let (from_row, to_row) = (pitch(copy.srcPitch), pitch(copy.dstPitch));
        let (from_slice, to_slice) = (
            from_row * rows(copy.srcHeight),
            to_row * rows(copy.dstHeight),
        );
        let from = base(copy.srcMemoryType, copy.srcHost as usize, copy.srcDevice)?
            + copy.srcZ * from_slice
            + copy.srcY * from_row
            + copy.srcXInBytes;
        let to = base(copy.dstMemoryType, copy.dstHost as usize, copy.dstDevice)?
            + copy.dstZ * to_slice
            + copy.dstY * to_row
            + copy.dstXInBytes;
        Ok(Self {
            from: End::new(from, copy.srcMemoryType, from_row, from_slice, size)?,
            to: End::new(to, copy.dstMemoryType, to_row, to_slice, size)?,
            width: size[0],
            height: size[1],
            depth: size[2],
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
            srcHost: self.from.address as *const _,
            srcDevice: self.from.address as CUdeviceptr,
            srcPitch: self.from.row,
            srcHeight: self.from.slice.checked_div(self.from.row).unwrap_or(0),
            dstMemoryType: to,
            dstHost: self.to.address as *mut _,
            dstDevice: self.to.address as CUdeviceptr,
            dstPitch: self.to.row,
            dstHeight: self.to.slice.checked_div(self.to.row).unwrap_or(0),
            WidthInBytes: self.width,
            Height: self.height,
            Depth: self.depth,
            ..Default::default()
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.width * self.height * self.depth
    }

    pub(crate) fn is_linear(&self) -> bool {
        self.height == 1 && self.depth == 1
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
        let packed = End {
            address: staged.as_mut_ptr().expose_provenance(),
            memory: EndMemory::Pageable,
            row: self.width,
            slice: 0,
        };
        let packed = End {
            slice: self.width * self.height,
            ..packed
        };
        // SAFETY: the staging buffer has the copy's size, and the source is readable by the caller's contract.
        unsafe {
            Self {
                to: packed,
                ..self.clone()
            }
            .copy()
        };
        staged
    }

    /// The same copy out of a staging buffer.
    pub(crate) fn with_staged_source(&self, staged: &[u8]) -> Self {
        let address = staged.as_ptr().expose_provenance();
        let from = End {
            address,
            memory: EndMemory::Pageable,
            row: self.width,
            slice: self.width * self.height,
        };
        Self {
            from,
            ..self.clone()
        }
    }

    /// Copies, after a look whether the memory that the driver knows is still there.
    ///
    /// # Safety
    ///
    /// Pageable ends are valid.
    pub(crate) unsafe fn execute(&self) -> core::result::Result<(), String> {
        for (end, name) in [(&self.from, "source"), (&self.to, "destination")] {
            if end.memory == EndMemory::Known
                && !Memory::global()
                    .is_live(end.address, end.span([self.width, self.height, self.depth]))
            {
                return Err(format!(
                    "a copy of {} bytes started after its {name} at {:#x} had been freed",
                    self.bytes(),
                    end.address
                ));
            }
        }
        // SAFETY: known ends were just found live, pageable ones are valid by the caller's contract.
        unsafe { self.copy() };
        Ok(())
    }

    /// # Safety
    ///
    /// Both ends are valid.
    unsafe fn copy(&self) {
        for z in 0..self.depth {
            for y in 0..self.height {
                let from = self.from.address + z * self.from.slice + y * self.from.row;
                let to = self.to.address + z * self.to.slice + y * self.to.row;
                // SAFETY: rows lie inside the two ends, which are valid by the caller's contract.
                unsafe { guest::copy(to, from, self.width) };
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
    fn new(
        address: usize,
        kind: CUmemorytype,
        row: usize,
        slice: usize,
        size: [usize; 3],
    ) -> Result<Self> {
        let mut end = Self {
            address,
            memory: EndMemory::Known,
            row,
            slice,
        };
        if size.contains(&0) {
            return Ok(end);
        }
        if (size[1] > 1 && row < size[0]) || address == 0 {
            return Err(code::INVALID_VALUE);
        }
        let live = Memory::global().is_live(address, end.span(size));
        match kind {
            CUmemorytype::CU_MEMORYTYPE_DEVICE if !live => return Err(code::INVALID_VALUE),
            CUmemorytype::CU_MEMORYTYPE_DEVICE => {}
            // An address in the arena that is no live allocation cannot be the program's own memory.
            _ if !live && Memory::global().detail(address).is_some() => {
                return Err(code::INVALID_VALUE);
            }
            _ if !live => end.memory = EndMemory::Pageable,
            CUmemorytype::CU_MEMORYTYPE_HOST | CUmemorytype::CU_MEMORYTYPE_UNIFIED => {}
            _ => return Err(code::INVALID_VALUE),
        }
        Ok(end)
    }

    /// Bytes from the first to the last.
    fn span(&self, [width, height, depth]: [usize; 3]) -> usize {
        if width == 0 || height == 0 || depth == 0 {
            return 0;
        }
        width + (height - 1) * self.row + (depth - 1) * self.slice
    }
}

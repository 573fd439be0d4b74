//! Copies of up to three dimensions, checked when they are issued and again when they run.

use std::ptr::null_mut;
use std::sync::Arc;

use super::allocation::Use;
use super::array::{ARRAYS, Array, ArrayPart};
use super::attachment;
use super::discarded;
use super::extent::{Extent, Layout, product};
use super::graph_memory::StreamIdentity;
use super::guest::{self, Source};
use super::hold::Hold;
use super::pool;
use super::refusal;
use super::space::Memory;
use crate::check::stream_order::Class;
use crate::error::{Result, code};
use crate::report;
use crate::settings;
use warpsmith_abi::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_BATCH_OP, CUarray, CUdeviceptr, CUmemcpy3DOperand,
    CUmemcpy3DOperandType as OperandType, CUmemorytype,
};

/// Copies and fills up to this size are taken for those of flags.
pub(super) const WORD: usize = 16;

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
    layout: Layout,
    pub(crate) memory: EndMemory,
    /// Whose memory it is; `None` for the host's, managed and mapped memory, and arrays.
    device: Option<u16>,
    /// Of which array, if it is one.
    array: Option<ArrayPart>,
}

/// One end as a program gives it.
struct Side {
    kind: CUmemorytype,
    host: usize,
    device: CUdeviceptr,
    array: CUarray,
    /// Bytes, rows and slices before the box.
    at: [usize; 3],
    /// The level of a mipmapped array, which must be 0.
    level: usize,
    row: usize,
    slice: usize,
}

/// One end of a copy of bytes in a row.
#[derive(Clone, Copy)]
pub(crate) enum ArrayOrMemory {
    /// The first row of an array, from a byte on.
    Array(CUarray, usize),
    /// Memory at an address.
    Memory(usize, CUmemorytype),
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

    /// Refuses a copy in a stream of a device by which the device would access managed memory that is not for it.
    ///
    /// # Errors
    ///
    /// Those of [`attachment::refuse_device`].
    pub(crate) fn refuse_incoherent(&self, device: usize, stream: StreamIdentity) -> Result {
        let (to, from) = self.asked.unzip();
        for (end, kind) in [(&self.to, to), (&self.from, from)] {
            if kind == Some(CUmemorytype::CU_MEMORYTYPE_DEVICE) {
                attachment::refuse_device("a copy", end.address(), device, stream)?;
            }
        }
        Ok(())
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

    /// The devices whose memory the ends are, destination first: what an update of a graph may not change.
    pub(crate) fn devices(&self) -> [Option<u16>; 2] {
        [self.to.device, self.from.device]
    }

    /// Refuses a copy in a graph, by a device, of memory of a pool that the device may not use. Plain memory needs no access (H100, driver
    /// 580.159.04).
    ///
    /// # Errors
    ///
    /// Invalid value.
    pub(crate) fn refuse_other_pools(&self, device: usize) -> Result {
        for (end, name) in [(&self.from, "its source"), (&self.to, "its destination")] {
            if end.device.is_some_and(|owner| usize::from(owner) != device)
                && pool::of_address(end.address()).is_some_and(|pool| !pool.is_accessible(device))
            {
                let what = format!("a copy of {} bytes", self.bytes());
                refusal::tell_of_no_access(&what, name, end.address(), device);
                return Err(code::INVALID_VALUE);
            }
        }
        Ok(())
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
            device: None,
            array: None,
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
        self.check_discarded();
        // SAFETY: known ends were just found live and are held, pageable ones are valid by the caller's contract.
        unsafe { self.copy() };
        self.note_what_is_written();
        Ok(())
    }

    /// Whether it may be a copy of a flag.
    pub(crate) fn is_of_word(&self) -> bool {
        self.bytes() <= WORD
    }

    /// Tells which bytes of memory that the driver knows it reads and writes.
    pub(crate) fn touches(&self, mut tell: impl FnMut(Class, u64, u64)) {
        let classes = match self.is_of_word() {
            true => [Class::WordRead, Class::WordWrite],
            false => [Class::Read, Class::Write],
        };
        for (end, class) in [&self.from, &self.to].into_iter().zip(classes) {
            if end.memory == EndMemory::Pageable || !Memory::global().contains(end.address()) {
                continue;
            }
            for z in 0..self.extent.depth() {
                for y in 0..self.extent.height() {
                    let start = end.layout.start(y, z);
                    tell(class, start as u64, self.extent.width() as u64);
                }
            }
        }
    }

    /// Keeps what is known of the contents of arrays.
    fn note_what_is_written(&self) {
        let (source, target) = (&self.from.layout, &self.to.layout);
        match (self.from.array(), self.to.array()) {
            (Some(from), Some(to)) => to.note_copied(target, (&from, source), &self.extent),
            (Some(from), None) => from.check_written(source, &self.extent),
            (None, Some(to)) => to.note_written(target, &self.extent),
            (None, None) => {}
        }
    }

    /// Says where the copy reads what was discarded and not written since.
    fn check_discarded(&self) {
        let is_wanted = discarded::are_there() && settings::get().checks.uninitialised;
        if !is_wanted || self.from.memory != EndMemory::Known {
            return;
        }
        let mut rows = self.from.layout.rows(&self.extent);
        let found = rows.find_map(|row| discarded::first_unwritten(row, self.extent.width()));
        if let Some(address) = found {
            report::remark(&format!(
                "a copy of {} bytes from {:#x} on reads managed memory at {address:#x} that was discarded and that nothing has written \
                 since: its contents are indeterminate (cuMemDiscardBatchAsync)",
                self.bytes(),
                self.from.address(),
            ));
        }
    }

    /// Holds an end that the driver knows, in an array's case its memory.
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
            EndMemory::Known | EndMemory::Array => Source::Guest,
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

/// The size of a texel, if the operand is an array.
fn texel_of(operand: &CUmemcpy3DOperand) -> Result<Option<usize>> {
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
    fn of_operand(operand: &CUmemcpy3DOperand, texel: usize, extent: &Extent) -> Result<Self> {
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
    fn linear(address: usize, kind: CUmemorytype, bytes: usize) -> Self {
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

impl End {
    fn new(how: Use, side: &Side, extent: &Extent) -> Result<Self> {
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
    fn array(&self) -> Option<Arc<Array>> {
        let part = self.array?;
        ARRAYS.get(part.handle as CUarray).ok()
    }

    /// The end as a program gives it.
    fn parameters(&self) -> Side {
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
    fn rows(&self) -> usize {
        if self.array.is_some() {
            return 0;
        }
        let rows = self.layout.slice().checked_div(self.layout.row());
        rows.unwrap_or(0)
    }
}

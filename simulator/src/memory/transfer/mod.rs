//! Copies of up to three dimensions, checked when they are issued and again when they run.

mod described;
mod end;
mod side;

pub(crate) use self::described::ArrayOrMemory;
use self::end::End;
pub(crate) use self::end::EndMemory;
use super::allocation::Use;
use super::attachment;
use super::discarded;
use super::extent::{Extent, Layout};
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
use warpsmith_abi::CUmemorytype;

/// Copies and fills up to this size are taken for those of flags.
pub(super) const WORD: usize = 16;

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

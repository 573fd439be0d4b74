//! What the driver knows about an address.

use super::allocation::{AllocationDetail, AllocationInfo, AllocationKind, AllocationState};
use super::space::Memory;

/// What the driver knows about an address.
pub(crate) struct PointerInfo {
    pub(crate) info: AllocationInfo,
    pub(crate) kind: AllocationKind,
    pub(crate) context: u64,
    pub(crate) device: usize,
    /// See [`AllocationDetail::serial`]; 0 for registered memory.
    pub(crate) serial: u64,
    /// It lies in host memory that the program has registered.
    pub(crate) is_registered: bool,
}

impl PointerInfo {
    /// What is known about an address; `None` if it lies in no live allocation and no registered range.
    pub(crate) fn of(address: usize) -> Option<Self> {
        let memory = Memory::global();
        if let Some((info, detail)) = memory.detail(address) {
            let live = info.state == AllocationState::Live && info.holds(address, 1);
            let AllocationDetail {
                kind,
                context,
                device,
                serial,
                ..
            } = detail;
            return live.then_some(Self {
                info,
                kind,
                context,
                device,
                serial,
                is_registered: false,
            });
        }
        let (base, range) = memory.registered_range(address)?;
        Some(Self {
            info: AllocationInfo {
                base,
                len: range.len,
                state: AllocationState::Live,
            },
            kind: AllocationKind::Pinned(range.flags),
            context: range.context,
            device: 0,
            serial: 0,
            is_registered: true,
        })
    }

    /// The flags of page-locked host memory; `None` for other memory.
    pub(crate) fn pinned_flags(&self) -> Option<u32> {
        match self.kind {
            AllocationKind::Pinned(flags) => Some(flags),
            _ => None,
        }
    }
}

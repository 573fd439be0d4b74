//! What the driver knows about an address.

use std::sync::Arc;

use super::allocation::{AllocationDetail, AllocationInfo, AllocationKind, AllocationState};
use super::location::MemoryLocation;
use super::space::Memory;
use super::virtual_memory::{Physical, memory_at};

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
    /// The physical memory that is mapped there, if the address is virtual memory's.
    pub(crate) mapped: Option<Arc<Physical>>,
}

impl PointerInfo {
    /// What is known about an address; `None` if it lies in no live allocation, no memory of a graph and no
    /// registered range.
    pub(crate) fn of(address: usize) -> Option<Self> {
        let memory = Memory::global();
        if let Some((info, detail)) = memory.detail(address) {
            let known = info.state == AllocationState::Live || info.is_graph;
            let live = known && info.holds(address, 1);
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
                mapped: (kind == AllocationKind::Mapping)
                    .then(|| Some(memory_at(address)?.0))
                    .flatten(),
            });
        }
        let (base, range) = memory.registered_range(address)?;
        Some(Self {
            info: AllocationInfo {
                base,
                len: range.len,
                state: AllocationState::Live,
                is_mapping: false,
                is_graph: false,
                device: None,
            },
            kind: AllocationKind::Pinned(range.flags),
            context: range.context,
            device: 0,
            serial: 0,
            is_registered: true,
            mapped: None,
        })
    }

    /// Whether it is memory of the host: page-locked, of a pool there, or virtual memory that lies there.
    pub(crate) fn is_host_memory(&self) -> bool {
        let on_host = |memory: &Arc<Physical>| {
            matches!(memory.properties.location, MemoryLocation::Host { .. })
        };
        matches!(self.kind, AllocationKind::Pinned(_))
            || self.info.is_of_host_pool()
            || self.mapped.as_ref().is_some_and(on_host)
    }

    /// The flags of page-locked host memory; `None` for other memory.
    pub(crate) fn pinned_flags(&self) -> Option<u32> {
        match self.kind {
            AllocationKind::Pinned(flags) => Some(flags),
            _ => None,
        }
    }
}

//! The address space as the engine sees it.

use std::sync::atomic::AtomicU64;

use super::allocation::{AllocationDetail, AllocationInfo, AllocationKind, AllocationState};
use super::space::Memory;
use crate::engine::{self, AccessError, DeviceMemory, Extent};

/// `CU_MEMHOSTREGISTER_READ_ONLY`
const READ_ONLY: u32 = 8;

impl DeviceMemory for Memory {
    fn arena(&self) -> (u64, u64) {
        let (base, len) = Memory::arena(self);
        (base as u64, len as u64)
    }

    fn validate(&self, address: u64, size: u64, write: bool) -> Result<Extent, AccessError> {
        let (address, size) = (address as usize, size as usize);
        let info = self.find(address).ok_or(AccessError::OutOfBounds)?;
        if info.state == AllocationState::Freed {
            return Err(AccessError::Freed);
        }
        if !info.holds(address, size) {
            return Err(AccessError::OutOfBounds);
        }
        let writable = self.arena.contains(address)
            || self
                .registered_range(address)
                .is_none_or(|(_, range)| range.flags & READ_ONLY == 0);
        if write && !writable {
            return Err(AccessError::ReadOnly);
        }
        Ok(Extent {
            base: info.base as u64,
            end: (info.base + info.len) as u64,
            writable,
        })
    }

    fn nearest(&self, address: u64) -> Option<engine::AllocationInfo> {
        let address = address as usize;
        if let Some((info, detail)) = self.detail(address) {
            return Some(describe(info, &detail));
        }
        if !self.arena.contains(address) {
            let (base, range) = self.registered_range(address)?;
            let what = "registered host memory".to_owned();
            return Some(engine::AllocationInfo {
                base: base as u64,
                size: range.len as u64,
                freed: false,
                what,
            });
        }
        let distance = |info: &AllocationInfo| {
            if address < info.base {
                info.base - address
            } else {
                address.saturating_sub(info.base + info.len)
            }
        };
        let (info, detail) = self
            .neighbours(address)
            .into_iter()
            .flatten()
            .min_by_key(|(info, _)| distance(info))?;
        Some(describe(info, &detail))
    }

    fn generation(&self) -> &AtomicU64 {
        &self.generation
    }
}

fn describe(info: AllocationInfo, detail: &AllocationDetail) -> engine::AllocationInfo {
    let kind = match detail.kind {
        AllocationKind::Device => "device memory",
        AllocationKind::Managed => "managed memory",
        AllocationKind::Pinned(_) => "pinned host memory",
        AllocationKind::Pool(_) => "stream-ordered device memory",
        AllocationKind::Global => "module variable",
        AllocationKind::Internal => "memory of the device heap",
    };
    let freed = info.state == AllocationState::Freed;
    let mut what = format!("{kind} of {}", detail.made_by);
    if let Some(by) = detail.freed_by {
        what.push_str(&format!(", freed by {by}"));
    }
    engine::AllocationInfo {
        base: info.base as u64,
        size: info.len as u64,
        freed,
        what,
    }
}

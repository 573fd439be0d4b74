//! The address space as the engine sees it: from one device.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::allocation::{AllocationDetail, AllocationInfo, AllocationKind, AllocationState};
use super::discarded;
use super::graph_memory::{self, NodeScope};
use super::pageable;
use super::peers;
use super::pointer::PointerInfo;
use super::space::Memory;
use super::texture;
use super::virtual_memory;
use crate::device;
use crate::engine::{self, AccessError, DeviceMemory, Extent, ObjectError, Texels, TextureObject};
use warpsmith_abi::CUdevice_attribute;

/// `CU_MEMHOSTREGISTER_READ_ONLY`
const READ_ONLY: u32 = 8;

/// The address space as one device reaches it.
#[derive(Clone)]
pub struct DeviceView<'a> {
    memory: &'a Memory,
    device: usize,
    /// Whose kernels these are.
    context: u64,
    /// Of the graph's node that is executed.
    scope: Option<Arc<NodeScope>>,
}

impl Memory {
    /// The address space as kernels of a context of this device reach it, in the node of a graph that this thread executes.
    pub fn seen_by(&self, device: usize, context: u64) -> DeviceView<'_> {
        DeviceView {
            memory: self,
            device,
            context,
            scope: graph_memory::current(),
        }
    }
}

impl DeviceMemory for DeviceView<'_> {
    fn arena(&self) -> (u64, u64) {
        let (base, len) = self.memory.arena();
        (base as u64, len as u64)
    }

    fn validate(&self, address: u64, size: u64, write: bool) -> Result<Extent, AccessError> {
        let (address, size) = (address as usize, size as usize);
        let memory = self.memory;
        let Some(info) = memory.find(address) else {
            if !memory.contains(address) && pageable::is_reached_by(self.device) {
                return pageable::validate(address, size, write);
            }
            return Err(match virtual_memory::reserved_around(address) {
                Some(_) => AccessError::Unmapped,
                None => AccessError::OutOfBounds,
            });
        };
        if info.is_graph
            && let Some(scope) = &self.scope
            && !scope.allows(info.base)
        {
            return Err(AccessError::Unordered);
        }
        if info.state == AllocationState::Freed {
            let was_freed = || {
                let detail = memory.detail(address);
                detail.is_some_and(|(_, detail)| detail.freed_by.is_some())
            };
            return Err(match info.is_mapping {
                true => AccessError::Unmapped,
                false if info.is_graph && !was_freed() => AccessError::NotAllocated,
                false => AccessError::Freed,
            });
        }
        if info.is_mapping {
            return virtual_memory::validate(address, size, write, Some(self.device));
        }
        if !info.holds(address, size) {
            return Err(AccessError::OutOfBounds);
        }
        if info.device.is_some_and(|device| device != self.device)
            && let Some((_, detail)) = memory.detail(address)
        {
            peers::check(self.context, self.device, info.base, &detail)?;
        }
        let writable = memory.contains(address)
            || memory
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

    fn replicas(&self, address: u64, size: u64, write: bool) -> Result<Vec<u64>, AccessError> {
        virtual_memory::replicas(address as usize, size as usize, write, self.device)
    }

    fn nearest(&self, address: u64) -> Option<engine::AllocationInfo> {
        let address = address as usize;
        let memory = self.memory;
        if let Some((info, detail)) = memory.detail(address) {
            return Some(describe(info, &detail));
        }
        if let Some((base, bytes, what)) = virtual_memory::describe(address) {
            return Some(engine::AllocationInfo {
                base: base as u64,
                size: bytes as u64,
                freed: false,
                what: what.into(),
            });
        }
        if !memory.contains(address) {
            let (base, range) = memory.registered_range(address)?;
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
        let (info, detail) = memory
            .neighbours(address)
            .into_iter()
            .flatten()
            .min_by_key(|(info, _)| distance(info))?;
        Some(describe(info, &detail))
    }

    fn generation(&self) -> &AtomicU64 {
        &self.memory.generation
    }

    fn lacks_host_atomics(&self, address: u64) -> bool {
        let address = address as usize;
        // First what costs no lock: most atomic operations are on memory of a device.
        let may_be_host = self
            .memory
            .find(address)
            .is_some_and(|info| info.device.is_none() || info.is_of_host_pool());
        let native = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED;
        may_be_host
            && device::profile(self.device).limit(native) == 0
            && PointerInfo::of(address).is_some_and(|known| known.is_host_memory())
    }

    fn has_discarded(&self) -> bool {
        discarded::are_there()
    }

    fn first_discarded(&self, address: u64, bytes: u64) -> Option<u64> {
        discarded::first_unwritten(address as usize, bytes as usize).map(|found| found as u64)
    }

    fn texture(&self, object: u64) -> Result<TextureObject, ObjectError> {
        texture::texture(object)
    }

    fn surface(&self, object: u64) -> Result<Texels, ObjectError> {
        texture::surface(object)
    }
}

pub(super) fn describe(info: AllocationInfo, detail: &AllocationDetail) -> engine::AllocationInfo {
    let kind = match detail.kind {
        AllocationKind::Device => "device memory",
        AllocationKind::Managed => "managed memory",
        AllocationKind::Pinned(_) => "pinned host memory",
        AllocationKind::Pool(_) if info.is_of_host_pool() => "stream-ordered host memory",
        AllocationKind::Pool(_) => "stream-ordered device memory",
        AllocationKind::Graph => "graph memory",
        AllocationKind::Global => "module variable",
        AllocationKind::Array => "CUDA array",
        AllocationKind::Mapping => "virtual memory",
        AllocationKind::Opened => "device memory of another process",
        AllocationKind::External => "external memory",
        AllocationKind::ExternalArray => "CUDA array in external memory",
        AllocationKind::Internal => "memory of the device heap",
    };
    // A graph's memory may not have been allocated yet.
    let freed = info.state == AllocationState::Freed
        && (detail.kind != AllocationKind::Graph || detail.freed_by.is_some());
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

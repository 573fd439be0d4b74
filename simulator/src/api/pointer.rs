//! What is known about a pointer.

use super::entry::*;
use crate::context::current;
use crate::device;
use crate::memory::access::Access;
use crate::memory::location::MemoryLocation;
use crate::memory::pool::{self, POOLS};
use crate::memory::virtual_memory::{GRANULARITY, access_of, reserved_around};
use crate::memory::{AllocationKind, AllocationState, Memory, PointerInfo};
use crate::order_check;

type Pointer = CUpointer_attribute;

driver_calls! {
    Ready fn cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr) {
        current()?;
        if data.is_null() {
            return Err(code::INVALID_VALUE);
        }
        report_freed(ptr as usize, "cuPointerGetAttribute");
        let known = PointerInfo::of(ptr as usize).ok_or(code::INVALID_VALUE)?;
        write_attribute(data, attribute, ptr, Some(&known))?;
    }

    Ready fn cuPointerGetAttributes(
        numAttributes: c_uint, attributes: *mut CUpointer_attribute, data: *mut *mut c_void, ptr: CUdeviceptr,
    ) {
        current()?;
        if attributes.is_null() || data.is_null() {
            return Err(code::INVALID_VALUE);
        }
        report_freed(ptr as usize, "cuPointerGetAttributes");
        let known = PointerInfo::of(ptr as usize);
        for i in 0..numAttributes as usize {
            write_attribute(data.add(i).read(), attributes.add(i).read(), ptr, known.as_ref())?;
        }
    }

    Ready fn cuPointerSetAttribute(value: *const c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr) {
        current()?;
        if attribute != Pointer::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || value.is_null() || PointerInfo::of(ptr as usize).is_none() {
            return Err(code::INVALID_VALUE);
        }
    }
}

/// Says that the driver is asked about memory that a stream has been told to free: what it answers then means nothing.
fn report_freed(address: usize, call: &str) {
    let Some((info, detail)) = Memory::global()
        .detail(address)
        .filter(|_| order_check::is_on())
    else {
        return;
    };
    let AllocationKind::Pool(pool) = detail.kind else {
        return;
    };
    let stream = match (info.state, detail.freed_by) {
        (AllocationState::Freed, Some("cuMemFreeAsync")) => Some("a stream".into()),
        (AllocationState::Freed, _) => None,
        (AllocationState::Live, _) => {
            pool::of_allocation(pool).and_then(|pool| pool.freed_in(info.base))
        }
    };
    if let Some(stream) = stream {
        order_check::misuse(
            format!("query of freed memory: {call} of {address:#x}"),
            [
                (call, "the host's call", "asks about"),
                ("cuMemFreeAsync", &stream, "frees"),
            ],
            "ask before cuMemFreeAsync is called: the answer means nothing from the call on, even while the stream may use the memory",
        );
    }
}

/// # Safety
///
/// `data` is null or valid for the attribute's type.
unsafe fn write_attribute(
    data: *mut c_void,
    attribute: Pointer,
    address: CUdeviceptr,
    known: Option<&PointerInfo>,
) -> Result {
    if data.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let device = current()?.device;
    let mapped = known.and_then(|known| known.mapped.as_ref());
    let is_host = known.is_some_and(PointerInfo::is_host_memory);
    let access = |location| match mapped {
        Some(_) => access_of(address as usize, location).unwrap_or_default(),
        None => Access::ReadWrite,
    };
    let by_device = access(MemoryLocation::Device(device));
    let by_host = access(MemoryLocation::Host { node: None });
    let host_pool = known.and_then(|known| pool::of_host_memory(known.info.base));
    // Of virtual memory, all that is reserved. As measured, that of a pool of the host has a size and no start.
    let range = known.map(|known| match mapped {
        Some(_) => reserved_around(address as usize).unwrap_or_default(),
        None if host_pool.is_some() => (0, known.info.len),
        None => (known.info.base, known.info.len),
    });
    let is_managed = known.is_some_and(|known| known.kind == AllocationKind::Managed);
    // SAFETY: not null, so valid for the attribute's type by the caller's contract.
    unsafe {
        match attribute {
            Pointer::CU_POINTER_ATTRIBUTE_CONTEXT => {
                // Stream-ordered memory belongs to no context, and neither do mappings.
                let context = known
                    .filter(|known| {
                        !matches!(known.kind, AllocationKind::Pool(_) | AllocationKind::Graph)
                    })
                    .map_or(0, |known| known.context);
                data.cast::<usize>().write(context as usize);
            }
            Pointer::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => data.cast::<u32>().write(match known {
                None => 0,
                Some(_) if is_host => CUmemorytype::CU_MEMORYTYPE_HOST.0,
                Some(_) => CUmemorytype::CU_MEMORYTYPE_DEVICE.0,
            }),
            Pointer::CU_POINTER_ATTRIBUTE_DEVICE_POINTER => {
                // As measured, of a pool of the host by its grants, which the access flags do not show.
                let reached = match &host_pool {
                    Some(pool) => pool.access_of(device),
                    None => by_device,
                };
                if reached == Access::None {
                    data.cast::<CUdeviceptr>().write(0);
                    return Err(code::INVALID_VALUE);
                }
                data.cast::<CUdeviceptr>()
                    .write(if known.is_some() { address } else { 0 });
            }
            Pointer::CU_POINTER_ATTRIBUTE_HOST_POINTER => {
                let reachable = is_host || is_managed || known.is_none();
                if !reachable || by_host == Access::None {
                    data.cast::<usize>().write(0);
                    return Err(code::INVALID_VALUE);
                }
                data.cast::<usize>()
                    .write(if known.is_some() { address as usize } else { 0 });
            }
            Pointer::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => data.cast::<u32>().write(0),
            Pointer::CU_POINTER_ATTRIBUTE_BUFFER_ID => data
                .cast::<u64>()
                .write(known.map_or(0, |known| known.serial)),
            Pointer::CU_POINTER_ATTRIBUTE_IS_MANAGED => {
                data.cast::<u32>().write(u32::from(is_managed))
            }
            Pointer::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => {
                data.cast::<c_int>().write(match &host_pool {
                    // As measured.
                    Some(_) => 0,
                    None => known.map_or(CU_DEVICE_INVALID, ordinal),
                });
            }
            Pointer::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR => {
                data.cast::<CUdeviceptr>()
                    .write(range.map_or(0, |(base, _)| base as CUdeviceptr));
            }
            Pointer::CU_POINTER_ATTRIBUTE_RANGE_SIZE => {
                data.cast::<usize>()
                    .write(range.map_or(0, |(_, bytes)| bytes));
            }
            Pointer::CU_POINTER_ATTRIBUTE_MAPPED => {
                data.cast::<u32>()
                    .write(u32::from(known.is_some_and(|known| !known.is_registered)));
            }
            Pointer::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS if known.is_some() => {
                data.cast::<u32>().write(by_device as u32)
            }
            Pointer::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
            | Pointer::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE => {
                let is_plain = known.is_some_and(|known| known.kind == AllocationKind::Device);
                data.cast::<u32>().write(u32::from(is_plain));
            }
            Pointer::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => {
                let types = mapped.map(|memory| memory.properties.handle_types.0);
                data.cast::<u64>().write(u64::from(types.unwrap_or(0)));
            }
            Pointer::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR => data
                .cast::<CUdeviceptr>()
                .write(known.map_or(0, |known| known.info.base as CUdeviceptr)),
            Pointer::CU_POINTER_ATTRIBUTE_MAPPING_SIZE => data
                .cast::<usize>()
                .write(known.map_or(0, |known| known.info.len.next_multiple_of(GRANULARITY))),
            Pointer::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => {
                let pool = known.and_then(|known| match known.kind {
                    AllocationKind::Pool(pool) => POOLS.get(pool as usize as *mut ()).ok(),
                    _ => None,
                });
                data.cast::<usize>()
                    .write(pool.map_or(0, |pool| pool.handle));
            }
            _ => return Err(code::INVALID_VALUE),
        }
    }
    Ok(())
}

/// The device's number, if this process sees it.
fn ordinal(known: &PointerInfo) -> CUdevice {
    match known.device < device::count() {
        true => known.device as CUdevice,
        false => CU_DEVICE_INVALID,
    }
}

//! Stream-ordered allocation and memory pools.

use std::borrow::Cow;
use std::os::fd::{IntoRawFd, RawFd};
use std::sync::Arc;

use super::descriptor::{in_place_of_pointer, is_descriptor};
use super::device::index;
use super::entry::*;
use super::managed::HOST_NODES;
use crate::context::current;
use crate::graph;
use crate::memory::access::Access;
use crate::memory::graph_memory::{self, Placement};
use crate::memory::location::MemoryLocation;
use crate::memory::pool::{self, POOLS, Pool, PoolKind};
use crate::memory::{AllocationKind, AllocationState, Memory, refusal};
use crate::order_check;
use crate::report;
use crate::settings;
use crate::streams::{self, Operation, Stream};

const DEVICE: CUmemLocationType = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;

driver_calls! {
    Ready fn cuMemAllocAsync(dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream) {
        let stream = streams::find(hStream)?;
        let pool = pool::current_of(stream.context()?.device)?;
        put(dptr, allocate(&stream, &pool, bytesize, dptr.is_null())? as CUdeviceptr)?;
    }

    Ready fn cuMemAllocFromPoolAsync(dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, hStream: CUstream) {
        let stream = streams::find(hStream)?;
        let pool = pool::of_handle(pool)?;
        put(dptr, allocate(&stream, &pool, bytesize, dptr.is_null())? as CUdeviceptr)?;
    }

    Ready fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) {
        let stream = streams::find(hStream)?;
        if dptr == 0 {
            return Ok(());
        }
        if let Some(allocation) = graph_memory::find(dptr as usize) {
            if !stream.capture.is_capturing() {
                stream.context()?;
                stream.capture.refuse_implicit_dependency()?;
                allocation.begin_free()?;
            }
            graph::perform(&stream, Operation::GraphFree(allocation, "cuMemFreeAsync"))?;
            return Ok(());
        }
        let Some((info, detail)) = Memory::global().detail(dptr as usize) else {
            foreign_free(&stream, dptr as usize, "no allocation that the driver knows");
            return Err(code::INVALID_VALUE);
        };
        let freeable = matches!(detail.kind, AllocationKind::Device | AllocationKind::Pool(_));
        if info.state == AllocationState::Freed {
            second_free(&stream, info.base, detail.freed_by.unwrap_or("a free"), "an earlier call");
        } else if info.base != dptr as usize || !freeable {
            foreign_free(&stream, dptr as usize, &detail.made_by);
        }
        if info.base != dptr as usize || info.state == AllocationState::Freed || !freeable {
            // As measured.
            let is_managed = info.state != AllocationState::Freed && detail.kind == AllocationKind::Managed;
            return Err(if is_managed { code::NOT_SUPPORTED } else { code::INVALID_VALUE });
        }
        let AllocationKind::Pool(pool) = detail.kind else {
            graph::perform(&stream, Operation::Free(info.base))?;
            return Ok(());
        };
        // From here on the pool knows it as free in this stream.
        let pool = pool::of_allocation(pool);
        if let Some(pool) = &pool
            && let Err(error) = pool.announce_free(info.base, info.len, stream.label())
        {
            let place = pool.freed_in(info.base);
            second_free(&stream, info.base, "cuMemFreeAsync", place.as_deref().unwrap_or("a stream"));
            return Err(error);
        }
        let enqueued = graph::perform(&stream, Operation::Free(info.base));
        if let Some(pool) = &pool {
            pool.note_free(info.base, enqueued.as_ref().ok().cloned().flatten());
        }
        enqueued?;
    }

    Ready fn cuDeviceGetDefaultMemPool(pool_out: *mut CUmemoryPool, dev: CUdevice) {
        put(pool_out, pool::default_of(index(dev)?)?.handle as CUmemoryPool)?;
    }

    Ready fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice) {
        put(pool, pool::current_of(index_as_value(dev)?)?.handle as CUmemoryPool)?;
    }

    Ready fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) {
        pool::set_current(index_as_value(dev)?, pool::of_handle(pool)?)?;
    }

    Ready fn cuMemPoolCreate(pool: *mut CUmemoryPool, poolProps: *const CUmemPoolProps) {
        let properties = parameters(poolProps)?;
        let pinned = properties.allocType == CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        if pool.is_null() || !pinned || properties.reserved.iter().any(|&byte| byte != 0) {
            return Err(code::INVALID_VALUE);
        }
        let kind = match properties.handleTypes {
            CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE => PoolKind::Private,
            CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR => PoolKind::Shareable,
            CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC => return Err(code::NOT_SUPPORTED),
            _ => return Err(code::INVALID_VALUE),
        };
        let location = location_of_pool(&properties.location)?;
        // CUDA driver API, `cuMemPoolCreate`: such pools are not for other processes.
        if location == (MemoryLocation::Host { node: None }) && kind != PoolKind::Private {
            return Err(code::INVALID_VALUE);
        }
        let made = POOLS.add(|handle| Pool::new(handle, location, kind, properties.maxSize));
        pool.write(made.handle as CUmemoryPool);
    }

    Ready fn cuMemPoolDestroy(pool: CUmemoryPool) {
        pool::destroy(pool)?;
    }

    Ready fn cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize) {
        let pool = pool::of_handle(pool)?;
        pool.refuse_imported()?;
        pool.trim(minBytesToKeep);
    }

    Ready fn cuMemPoolExportToShareableHandle(
        handle_out: *mut c_void, pool: CUmemoryPool, handleType: CUmemAllocationHandleType, flags: c_ulonglong,
    ) {
        let pool = pool::of_handle(pool)?;
        if handle_out.is_null() || flags != 0 || !is_descriptor(handleType) {
            return Err(code::INVALID_VALUE);
        }
        put(handle_out.cast::<RawFd>(), pool.export()?.into_raw_fd())?;
    }

    Ready fn cuMemPoolImportFromShareableHandle(
        pool_out: *mut CUmemoryPool, handle: *mut c_void, handleType: CUmemAllocationHandleType, flags: c_ulonglong,
    ) {
        if pool_out.is_null() || flags != 0 || !is_descriptor(handleType) {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: the caller keeps the descriptor open during the call.
        let descriptor = unsafe { in_place_of_pointer(handle) }?;
        put(pool_out, pool::import(descriptor)?.handle as CUmemoryPool)?;
    }

    Ready fn cuMemPoolExportPointer(shareData_out: *mut CUmemPoolPtrExportData, ptr: CUdeviceptr) {
        let (info, detail) = Memory::global().detail(ptr as usize).ok_or(code::INVALID_VALUE)?;
        let AllocationKind::Pool(pool) = detail.kind else { return Err(code::INVALID_VALUE) };
        if info.base != ptr as usize || info.state == AllocationState::Freed {
            return Err(code::INVALID_VALUE);
        }
        let pool = pool::of_allocation(pool).ok_or(code::INVALID_VALUE)?;
        put(shareData_out, CUmemPoolPtrExportData { reserved: pool.export_pointer(info.base)? })?;
    }

    Ready fn cuMemPoolImportPointer(
        ptr_out: *mut CUdeviceptr, pool: CUmemoryPool, shareData: *mut CUmemPoolPtrExportData,
    ) {
        let pool = pool::of_handle(pool)?;
        let data = parameters(shareData)?;
        if ptr_out.is_null() {
            return Err(code::INVALID_VALUE);
        }
        put(ptr_out, pool.import_pointer(current()?.id(), &data.reserved)? as CUdeviceptr)?;
    }

    Ready fn cuMemPoolGetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) {
        let answer = pool::of_handle(pool)?.attribute(attr)?;
        if pool::is_int(attr) {
            put(value.cast::<c_int>(), answer as c_int)?;
        } else {
            put(value.cast::<u64>(), answer)?;
        }
    }

    Ready fn cuMemPoolSetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) {
        let pool = pool::of_handle(pool)?;
        if value.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let value = if pool::is_int(attr) { value.cast::<c_int>().read() as u64 } else { value.cast::<u64>().read() };
        pool.set_attribute(attr, value)?;
    }

    Ready fn cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize) {
        let pool = pool::of_handle(pool)?;
        if map.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let mut wishes = Vec::new();
        for i in 0..count {
            let wish = &*map.add(i);
            // As measured: access is a device's alone, and for both or none.
            if wish.location.type_ != DEVICE {
                return Err(code::NOT_SUPPORTED);
            }
            if wish.flags == CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ {
                return Err(code::NOT_SUPPORTED);
            }
            let device = index(wish.location.__bindgen_anon_1.id)?;
            let access = match wish.flags {
                CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE => Access::None,
                CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => Access::ReadWrite,
                _ => return Err(code::INVALID_VALUE),
            };
            // A device cannot lose its own pool.
            if pool.is_of(device) && access == Access::None {
                return Err(code::INVALID_DEVICE);
            }
            wishes.push((device, access));
        }
        for (device, access) in wishes {
            pool.set_access(device, access);
        }
    }

    Ready fn cuMemPoolGetAccess(flags: *mut CUmemAccess_flags, memPool: CUmemoryPool, location: *mut CUmemLocation) {
        let pool = pool::of_handle(memPool)?;
        let location = parameters(location)?;
        let access = match location.type_ {
            DEVICE => {
                let device = index(location.__bindgen_anon_1.id).map_err(|_| code::INVALID_VALUE)?;
                pool.access_of(device)
            }
            // The host has none but to its own.
            CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST | CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA => {
                match pool.is_of_host() {
                    true => Access::ReadWrite,
                    false => Access::None,
                }
            }
            _ => return Err(code::INVALID_VALUE),
        };
        put(flags, CUmemAccess_flags(access as u32))?;
    }
}

/// Where the memory of a pool is to lie.
///
/// # Errors
///
/// Invalid value if there is no such place.
fn location_of_pool(location: &CUmemLocation) -> Result<MemoryLocation> {
    // SAFETY: every bit pattern of the union's integer is valid.
    let id = unsafe { location.__bindgen_anon_1.id };
    match location.type_ {
        DEVICE => {
            let device = index_as_value(id)?;
            pool::default_of(device)?;
            Ok(MemoryLocation::Device(device))
        }
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST => Ok(MemoryLocation::Host { node: None }),
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA if (0..HOST_NODES).contains(&id) => {
            Ok(MemoryLocation::Host { node: Some(id) })
        }
        _ => Err(code::INVALID_VALUE),
    }
}

/// Checks a device ordinal where a wrong one is an invalid value, as measured.
fn index_as_value(device: CUdevice) -> Result<usize> {
    index(device).map_err(|_| code::INVALID_VALUE)
}

/// Says that memory is freed for the second time.
fn second_free(stream: &Stream, address: usize, by: &str, place: &str) {
    if !order_check::is_on() {
        report::remark(&format!(
            "cuMemFreeAsync of {address:#x} is refused: {by} has freed it already"
        ));
        return;
    }
    order_check::misuse(
        format!(
            "double free: cuMemFreeAsync of {address:#x} in {}",
            stream.label()
        ),
        [
            ("cuMemFreeAsync", &stream.label(), "frees"),
            (by, place, "frees"),
        ],
        "free each allocation once, in the stream in which it is used last",
    );
}

/// Says that what is freed is not the start of memory that a stream may free.
fn foreign_free(stream: &Stream, address: usize, made_by: &str) {
    if !order_check::is_on() {
        let wanted = "what cuMemAllocAsync, cuMemAllocFromPoolAsync or cuMemAlloc gave";
        refusal::tell_of_free("cuMemFreeAsync", address, wanted);
        return;
    }
    order_check::misuse(
        format!(
            "free of a foreign pointer: cuMemFreeAsync of {address:#x} in {}",
            stream.label()
        ),
        [
            ("cuMemFreeAsync", &stream.label(), "frees"),
            (made_by, "the host's call", "allocates"),
        ],
        "give cuMemFreeAsync the address that cuMemAllocAsync, cuMemAllocFromPoolAsync or cuMemAlloc gave",
    );
}

fn allocate(stream: &Stream, pool: &Pool, bytes: usize, no_result: bool) -> Result<usize> {
    let context = stream.context()?;
    pool.refuse_imported()?;
    if no_result {
        return Err(code::INVALID_VALUE);
    }
    // Graphs allocate for themselves, never what other processes see, and on devices alone.
    let device = pool.location.device();
    if stream.capture.is_capturing() && (pool.is_shared() || device.is_none()) {
        return Err(code::NOT_SUPPORTED);
    }
    // As measured: nothing costs nothing.
    if bytes == 0 {
        return Ok(0);
    }
    if let Some(device) = device.filter(|_| stream.capture.is_capturing()) {
        let placement = Placement {
            bytes,
            device,
            context: context.id(),
            access: granted(pool),
            made_by: "a captured cuMemAllocAsync",
        };
        let made = graph::capture_allocation(stream, placement)?;
        return Ok(made.map_or(0, |allocation| allocation.address()));
    }
    let by: Cow<'static, str> = match settings::get().leaks {
        true => format!("cuMemAllocAsync in {}", stream.label()).into(),
        false => "cuMemAllocAsync".into(),
    };
    let (address, waits) = pool.allocate(context.id(), bytes, &stream.end(), by)?;
    for point in waits {
        stream.wait_for(point)?;
    }
    stream.note_allocation(pool, address, bytes)?;
    Ok(address)
}

/// Whom a pool is granted to at this moment: a captured allocation keeps it, whatever the pool is told later.
fn granted(pool: &Pool) -> Arc<[CUmemAccessDesc]> {
    let grants = pool.grants().into_iter();
    grants
        .map(|(device, access)| CUmemAccessDesc {
            location: CUmemLocation {
                type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                __bindgen_anon_1: CUmemLocation_st__bindgen_ty_1 {
                    id: device as c_int,
                },
            },
            flags: CUmemAccess_flags(access as u32),
        })
        .collect()
}

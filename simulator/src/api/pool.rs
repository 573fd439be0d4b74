//! Stream-ordered allocation and memory pools.

use super::device::index;
use super::entry::*;
use crate::context::current;
use crate::graph;
use crate::memory::pool::{self, POOLS, Pool};
use crate::memory::{AllocationKind, AllocationState, Memory};
use crate::streams::{self, Operation, Stream};

driver_calls! {
    Ready fn cuMemAllocAsync(dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream) {
        let stream = streams::find(hStream)?;
        let pool = pool::current_of(stream.context()?.device)?;
        put(dptr, allocate(&stream, &pool, bytesize, dptr.is_null())? as CUdeviceptr)?;
    }

    Ready fn cuMemAllocFromPoolAsync(dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, hStream: CUstream) {
        let stream = streams::find(hStream)?;
        let pool = POOLS.get(pool)?;
        put(dptr, allocate(&stream, &pool, bytesize, dptr.is_null())? as CUdeviceptr)?;
    }

    Ready fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) {
        let stream = streams::find(hStream)?;
        if dptr == 0 {
            return Ok(());
        }
        let (info, detail) = Memory::global().detail(dptr as usize).ok_or(code::INVALID_VALUE)?;
        let freeable = matches!(detail.kind, AllocationKind::Device | AllocationKind::Pool(_));
        if info.base != dptr as usize || info.state == AllocationState::Freed || !freeable {
            return Err(code::INVALID_VALUE);
        }
        graph::perform(&stream, Operation::Free(info.base))?;
    }

    Ready fn cuDeviceGetDefaultMemPool(pool_out: *mut CUmemoryPool, dev: CUdevice) {
        put(pool_out, pool::default_of(index(dev)?)?.handle as CUmemoryPool)?;
    }

    Ready fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice) {
        put(pool, pool::current_of(index(dev)?)?.handle as CUmemoryPool)?;
    }

    Ready fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) {
        pool::set_current(index(dev)?, POOLS.get(pool)?)?;
    }

    Ready fn cuMemPoolCreate(pool: *mut CUmemoryPool, poolProps: *const CUmemPoolProps) {
        let properties = parameters(poolProps)?;
        let pinned = properties.allocType == CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        let on_device = properties.location.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        if pool.is_null() || !pinned || properties.reserved.iter().any(|&byte| byte != 0) {
            return Err(code::INVALID_VALUE);
        }
        if !on_device || properties.handleTypes.0 != 0 {
            return Err(code::NOT_SUPPORTED);
        }
        let device = index(properties.location.__bindgen_anon_1.id)?;
        pool::default_of(device)?;
        let made = POOLS.add(|handle| Pool::new(handle, device, false, properties.maxSize));
        pool.write(made.handle as CUmemoryPool);
    }

    Ready fn cuMemPoolDestroy(pool: CUmemoryPool) {
        pool::destroy(pool)?;
    }

    Ready fn cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize) {
        POOLS.get(pool)?.trim(minBytesToKeep);
    }

    Ready fn cuMemPoolGetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) {
        let answer = POOLS.get(pool)?.attribute(attr)?;
        if pool::is_int(attr) {
            put(value.cast::<c_int>(), answer as c_int)?;
        } else {
            put(value.cast::<u64>(), answer)?;
        }
    }

    Ready fn cuMemPoolSetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void) {
        let pool = POOLS.get(pool)?;
        if value.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let value = if pool::is_int(attr) { value.cast::<c_int>().read() as u64 } else { value.cast::<u64>().read() };
        pool.set_attribute(attr, value)?;
    }

    Ready fn cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize) {
        let pool = POOLS.get(pool)?;
        if map.is_null() && count > 0 {
            return Err(code::INVALID_VALUE);
        }
        for i in 0..count {
            let wish = &*map.add(i);
            let device = index(wish.location.__bindgen_anon_1.id)?;
            // A device cannot lose its own pool.
            if device == pool.device && wish.flags != CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE {
                return Err(code::INVALID_VALUE);
            }
        }
    }

    Ready fn cuMemPoolGetAccess(flags: *mut CUmemAccess_flags, memPool: CUmemoryPool, location: *mut CUmemLocation) {
        POOLS.get(memPool)?;
        index(parameters(location)?.__bindgen_anon_1.id)?;
        // All simulated devices reach all memory.
        put(flags, CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE)?;
    }
}

fn allocate(stream: &Stream, pool: &Pool, bytes: usize, no_result: bool) -> Result<usize> {
    let context = stream.context()?;
    if no_result {
        return Err(code::INVALID_VALUE);
    }
    // As measured: nothing costs nothing.
    if bytes == 0 {
        return Ok(0);
    }
    let address = match pool.allocate(context.id(), bytes) {
        // Frees that are still under way may make room, unless the stream must not be waited for.
        Err(error)
            if error == code::OUT_OF_MEMORY
                && !stream.capture.is_capturing()
                && current().is_ok() =>
        {
            context.queues.wait_all();
            pool::after_synchronisation(context.device);
            pool.allocate(context.id(), bytes)?
        }
        other => other?,
    };
    if stream.capture.is_capturing() {
        graph::perform(stream, Operation::Allocate { address, bytes })?;
    }
    Ok(address)
}

//! Allocation: device, managed and page-locked host memory.

use super::*;
use crate::memory::{Kind, Memory, Registered, State};
use crate::state::{Context, current, device_memory};

const KNOWN_HOST_FLAGS: c_uint =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
const KNOWN_REGISTER_FLAGS: c_uint = CU_MEMHOSTREGISTER_PORTABLE
    | CU_MEMHOSTREGISTER_DEVICEMAP
    | CU_MEMHOSTREGISTER_IOMEMORY
    | CU_MEMHOSTREGISTER_READ_ONLY;

driver_calls! {
    Ready fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let (is_free, in_all) = crate::device::memory_info(current()?.device);
        put(free, is_free)?;
        put(total, in_all)?;
    }

    Ready fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize) {
        let base = allocate(&*current()?, dptr.is_null(), bytesize, Kind::Device, "cuMemAlloc")?;
        put(dptr, base as CUdeviceptr)?;
    }

    Ready fn cuMemAllocPitch_v2(
        dptr: *mut CUdeviceptr, pPitch: *mut usize, WidthInBytes: usize, Height: usize, ElementSizeBytes: c_uint,
    ) {
        let context = current()?;
        if !matches!(ElementSizeBytes, 4 | 8 | 16) || pPitch.is_null() || WidthInBytes == 0 {
            return Err(code::INVALID_VALUE);
        }
        let pitch = WidthInBytes.checked_next_multiple_of(512).ok_or(code::INVALID_VALUE)?;
        let bytes = pitch.checked_mul(Height).ok_or(code::OUT_OF_MEMORY)?;
        let base = allocate(&context, dptr.is_null(), bytes, Kind::Device, "cuMemAllocPitch")?;
        put(pPitch, pitch)?;
        put(dptr, base as CUdeviceptr)?;
    }

    Ready fn cuMemAllocManaged(dptr: *mut CUdeviceptr, bytesize: usize, flags: c_uint) {
        let context = current()?;
        if !matches!(flags, 1 | 2) {
            return Err(code::INVALID_VALUE);
        }
        let base = allocate(&context, dptr.is_null(), bytesize, Kind::Managed, "cuMemAllocManaged")?;
        put(dptr, base as CUdeviceptr)?;
    }

    Ready fn cuMemFree_v2(dptr: CUdeviceptr) {
        let context = current()?;
        if dptr == 0 {
            return Ok(());
        }
        crate::graph::guard_unsafe_call()?;
        let wanted = |kind| matches!(kind, Kind::Device | Kind::Managed | Kind::Pool(_));
        device_memory::free(&context, dptr as usize, wanted, "cuMemFree")?;
    }

    Ready fn cuMemGetAddressRange_v2(pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr) {
        current()?;
        let info = Memory::global().find(dptr as usize).ok_or(code::NOT_FOUND)?;
        if info.state == State::Freed || !info.holds(dptr as usize, 1) {
            return Err(code::NOT_FOUND);
        }
        if !pbase.is_null() {
            pbase.write(info.base as CUdeviceptr);
        }
        if !psize.is_null() {
            psize.write(info.len);
        }
    }

    Ready fn cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize) {
        let kind = Kind::Pinned(CU_MEMHOSTALLOC_DEVICEMAP);
        let base = allocate(&*current()?, pp.is_null(), bytesize, kind, "cuMemAllocHost")?;
        put(pp, base as *mut c_void)?;
    }

    Ready fn cuMemHostAlloc(pp: *mut *mut c_void, bytesize: usize, Flags: c_uint) {
        let context = current()?;
        if Flags & !KNOWN_HOST_FLAGS != 0 {
            return Err(code::INVALID_VALUE);
        }
        let base = allocate(&context, pp.is_null(), bytesize, Kind::Pinned(Flags | CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc")?;
        put(pp, base as *mut c_void)?;
    }

    Ready fn cuMemFreeHost(p: *mut c_void) {
        let context = current()?;
        if p.is_null() {
            return Ok(());
        }
        device_memory::free(&context, p as usize, |kind| matches!(kind, Kind::Pinned(_)), "cuMemFreeHost")?;
    }

    Ready fn cuMemHostGetDevicePointer_v2(pdptr: *mut CUdeviceptr, p: *mut c_void, Flags: c_uint) {
        current()?;
        if Flags != 0 || pinned_flags(p as usize).is_none() {
            return Err(code::INVALID_VALUE);
        }
        put(pdptr, p as CUdeviceptr)?;
    }

    Ready fn cuMemHostGetFlags(pFlags: *mut c_uint, p: *mut c_void) {
        current()?;
        put(pFlags, pinned_flags(p as usize).ok_or(code::INVALID_VALUE)?)?;
    }

    Ready fn cuMemHostRegister_v2(p: *mut c_void, bytesize: usize, Flags: c_uint) {
        let context = current()?;
        if p.is_null() || bytesize == 0 || Flags & !KNOWN_REGISTER_FLAGS != 0 {
            return Err(code::INVALID_VALUE);
        }
        if (p as usize).checked_add(bytesize).is_none() {
            return Err(code::INVALID_VALUE);
        }
        let range = Registered { len: bytesize, flags: Flags, context: context.id() };
        if !Memory::global().register(p as usize, range) {
            return Err(code::HOST_MEMORY_ALREADY_REGISTERED);
        }
    }

    Ready fn cuMemHostUnregister(p: *mut c_void) {
        let context = current()?;
        device_memory::settle(&context);
        if !Memory::global().unregister(p as usize) {
            return Err(code::HOST_MEMORY_NOT_REGISTERED);
        }
    }
}

fn allocate(
    context: &Context,
    no_result: bool,
    bytes: usize,
    kind: Kind,
    by: &'static str,
) -> Result<usize> {
    crate::graph::guard_unsafe_call()?;
    if no_result || bytes == 0 {
        return Err(code::INVALID_VALUE);
    }
    device_memory::allocate(context, bytes, kind, by)
}

/// The flags of page-locked memory at an address.
fn pinned_flags(address: usize) -> Option<u32> {
    let memory = Memory::global();
    match memory.detail(address) {
        Some((info, detail)) if info.state == State::Live && info.holds(address, 1) => {
            match detail.kind {
                Kind::Pinned(flags) => Some(flags),
                _ => None,
            }
        }
        Some(_) => None,
        None => memory
            .registered_range(address)
            .map(|(_, range)| range.flags),
    }
}

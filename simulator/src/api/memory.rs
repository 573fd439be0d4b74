//! Allocation: device, managed and page-locked host memory.

use super::entry::*;
use crate::context::{Context, current};
use crate::memory::attachment::{self, Attachment};
use crate::memory::{AllocationKind, AllocationState, Memory, PointerInfo, RegisteredRange};
use crate::memory::{external, graph_memory};
use crate::order_check;
use crate::streams::capture;

const KNOWN_HOST_FLAGS: c_uint =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
const KNOWN_REGISTER_FLAGS: c_uint = CU_MEMHOSTREGISTER_PORTABLE
    | CU_MEMHOSTREGISTER_DEVICEMAP
    | CU_MEMHOSTREGISTER_IOMEMORY
    | CU_MEMHOSTREGISTER_READ_ONLY;

driver_calls! {
    Ready fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let (is_free, in_all) = crate::device::memory_info(current()?.device);
        // As measured: who gives no place for an answer does not get it.
        if !free.is_null() {
            free.write(is_free);
        }
        if !total.is_null() {
            total.write(in_all);
        }
    }

    Ready fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize) {
        let base = allocate(&*current()?, dptr.is_null(), bytesize, AllocationKind::Device, "cuMemAlloc")?;
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
        let bytes = pitch.checked_mul(Height).ok_or(code::INVALID_VALUE)?;
        let base = allocate(&context, dptr.is_null(), bytes, AllocationKind::Device, "cuMemAllocPitch")?;
        put(pPitch, pitch)?;
        put(dptr, base as CUdeviceptr)?;
    }

    Ready fn cuMemAllocManaged(dptr: *mut CUdeviceptr, bytesize: usize, flags: c_uint) {
        let context = current()?;
        if !matches!(flags, 1 | 2) {
            return Err(code::INVALID_VALUE);
        }
        let base = allocate(&context, dptr.is_null(), bytesize, AllocationKind::Managed, "cuMemAllocManaged")?;
        if CUmemAttach_flags(flags) == CUmemAttach_flags::CU_MEM_ATTACH_HOST {
            attachment::attach(base, Attachment::Host);
        }
        put(dptr, base as CUdeviceptr)?;
    }

    Ready fn cuMemFree_v2(dptr: CUdeviceptr) {
        let context = current()?;
        if dptr == 0 {
            return Ok(());
        }
        capture::refuse_unsafe_call()?;
        if let Some(allocation) = graph_memory::find(dptr as usize) {
            let backing = allocation.begin_free()?;
            // At once: the program has waited for what uses it, or the use is found to be wrong.
            return allocation.end("cuMemFree").map_err(|_| {
                // The launch has not come to the allocation yet.
                allocation.begin(backing);
                code::INVALID_VALUE
            });
        }
        if external::free_ended(dptr as usize) {
            return Ok(());
        }
        let wanted = |kind| {
            matches!(
                kind,
                AllocationKind::Device | AllocationKind::Managed | AllocationKind::Pool(_) | AllocationKind::External
            )
        };
        let bytes = Memory::global().find(dptr as usize).map_or(0, |info| info.len);
        order_check::owner_frees("cuMemFree", "the host's call", dptr as usize);
        context.free(dptr as usize, wanted, "device and managed memory, but no mappings", "cuMemFree")?;
        order_check::freed_on_host(&context, "cuMemFree", dptr as usize, bytes);
    }

    Ready fn cuMemGetAddressRange_v2(pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr) {
        current()?;
        let info = Memory::global().find(dptr as usize).ok_or(code::NOT_FOUND)?;
        if info.state == AllocationState::Freed || !info.holds(dptr as usize, 1) {
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
        put(pp, allocate_host(&*current()?, pp.is_null(), bytesize, 0, "cuMemAllocHost")?)?;
    }

    Ready fn cuMemHostAlloc(pp: *mut *mut c_void, bytesize: usize, Flags: c_uint) {
        let context = current()?;
        if Flags & !KNOWN_HOST_FLAGS != 0 {
            return Err(code::INVALID_VALUE);
        }
        put(pp, allocate_host(&context, pp.is_null(), bytesize, Flags, "cuMemHostAlloc")?)?;
    }

    Ready fn cuMemFreeHost(p: *mut c_void) {
        let context = current()?;
        if p.is_null() {
            return Ok(());
        }
        let wanted = |kind| matches!(kind, AllocationKind::Pinned(_));
        context.free(p as usize, wanted, "page-locked memory that the driver has allocated", "cuMemFreeHost")?;
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
        let end = (p as usize).checked_add(bytesize).ok_or(code::INVALID_VALUE)?;
        // What the driver has allocated, page-locked or not.
        if [p as usize, end - 1].iter().any(|&byte| Memory::global().contains(byte)) {
            return Err(code::INVALID_VALUE);
        }
        let range = RegisteredRange { len: bytesize, flags: Flags, context: context.id() };
        if !Memory::global().register(p as usize, range) {
            return Err(code::HOST_MEMORY_ALREADY_REGISTERED);
        }
    }

    Ready fn cuMemHostUnregister(p: *mut c_void) {
        let context = current()?;
        context.queues.wait_all();
        if !Memory::global().unregister(p as usize) {
            // As measured: a place in page-locked memory, registered or the driver's, is a wrong value.
            let is_of_driver = p.is_null() || Memory::global().contains(p as usize) || pinned_flags(p as usize).is_some();
            return Err(if is_of_driver { code::INVALID_VALUE } else { code::HOST_MEMORY_NOT_REGISTERED });
        }
    }
}

fn allocate(
    context: &Context,
    no_result: bool,
    bytes: usize,
    kind: AllocationKind,
    by: &'static str,
) -> Result<usize> {
    capture::refuse_unsafe_call()?;
    if no_result || bytes == 0 {
        return Err(code::INVALID_VALUE);
    }
    context.allocate(bytes, kind, by)
}

/// Page-locked memory; as measured, null in place of none.
fn allocate_host(
    context: &Context,
    no_result: bool,
    bytes: usize,
    flags: c_uint,
    by: &'static str,
) -> Result<*mut c_void> {
    if bytes == 0 && !no_result {
        capture::refuse_unsafe_call()?;
        return Ok(core::ptr::null_mut());
    }
    let kind = AllocationKind::Pinned(flags | CU_MEMHOSTALLOC_DEVICEMAP);
    Ok(allocate(context, no_result, bytes, kind, by)? as *mut c_void)
}

/// The flags of page-locked memory at an address.
fn pinned_flags(address: usize) -> Option<u32> {
    PointerInfo::of(address)?.pinned_flags()
}

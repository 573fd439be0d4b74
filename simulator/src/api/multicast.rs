//! Multicast objects: a team of devices whose memory `multimem` instructions use as one.

use super::device::index;
use super::entry::*;
use crate::device;
use crate::memory::virtual_memory::{
    GRANULARITY, HandleTypes, Multicast, Physical, handle_of, memory_at,
};
use std::sync::Arc;

driver_calls! {
    Ready fn cuMulticastGetGranularity(
        granularity: *mut usize, prop: *const CUmulticastObjectProp, option: CUmulticastGranularity_flags,
    ) {
        let properties = parameters(prop)?;
        handle_types(properties)?;
        let known = [
            CUmulticastGranularity_flags::CU_MULTICAST_GRANULARITY_MINIMUM,
            CUmulticastGranularity_flags::CU_MULTICAST_GRANULARITY_RECOMMENDED,
        ];
        if properties.numDevices == 0 || !known.contains(&option) {
            return Err(code::INVALID_VALUE);
        }
        put(granularity, GRANULARITY)?;
    }

    Ready fn cuMulticastCreate(mcHandle: *mut CUmemGenericAllocationHandle, prop: *const CUmulticastObjectProp) {
        let properties = parameters(prop)?;
        if !(0..device::count()).any(is_supported) {
            return Err(code::NOT_SUPPORTED);
        }
        let handle_types = handle_types(properties)?;
        if mcHandle.is_null() {
            return Err(code::INVALID_VALUE);
        }
        put(mcHandle, Multicast::create(properties.numDevices as usize, properties.size, handle_types)?)?;
    }

    Ready fn cuMulticastAddDevice(mcHandle: CUmemGenericAllocationHandle, dev: CUdevice) {
        let object = Multicast::of_handle(mcHandle)?;
        let device = index(dev)?;
        if !is_supported(device) {
            return Err(code::NOT_SUPPORTED);
        }
        object.add(device)?;
    }

    Ready fn cuMulticastBindMem(
        mcHandle: CUmemGenericAllocationHandle, mcOffset: usize, memHandle: CUmemGenericAllocationHandle,
        memOffset: usize, size: usize, flags: c_ulonglong,
    ) {
        bind("cuMulticastBindMem", mcHandle, None, mcOffset, handle_of(memHandle), memOffset, size, flags)?;
    }

    Ready fn cuMulticastBindMem_v2(
        mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, memHandle: CUmemGenericAllocationHandle,
        memOffset: usize, size: usize, flags: c_ulonglong,
    ) {
        bind("cuMulticastBindMem", mcHandle, Some(index(dev)?), mcOffset, handle_of(memHandle), memOffset, size, flags)?;
    }

    Ready fn cuMulticastBindAddr(
        mcHandle: CUmemGenericAllocationHandle, mcOffset: usize, memptr: CUdeviceptr, size: usize, flags: c_ulonglong,
    ) {
        let (memory, start) = memory_at(memptr as usize).ok_or(code::INVALID_VALUE)?;
        bind("cuMulticastBindAddr", mcHandle, None, mcOffset, Ok(memory), start, size, flags)?;
    }

    Ready fn cuMulticastBindAddr_v2(
        mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, memptr: CUdeviceptr, size: usize,
        flags: c_ulonglong,
    ) {
        let (memory, start) = memory_at(memptr as usize).ok_or(code::INVALID_VALUE)?;
        bind("cuMulticastBindAddr", mcHandle, Some(index(dev)?), mcOffset, Ok(memory), start, size, flags)?;
    }

    Ready fn cuMulticastUnbind(mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, size: usize) {
        Multicast::of_handle(mcHandle)?.unbind(index(dev)?, mcOffset, size)?;
    }
}

fn is_supported(device: usize) -> bool {
    let key = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED;
    device::profile(device).attribute(key) == Some(1)
}

/// # Errors
///
/// Invalid value for kinds that there are not; not permitted for those of the fabric, of which no channel is set up.
fn handle_types(properties: &CUmulticastObjectProp) -> Result<HandleTypes> {
    let descriptor = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.0;
    let fabric = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC.0;
    let types = u32::try_from(properties.handleTypes).map_err(|_| code::INVALID_VALUE)?;
    if properties.flags != 0 || types & !(descriptor | fabric) != 0 {
        return Err(code::INVALID_VALUE);
    }
    if types & fabric != 0 {
        return Err(code::NOT_PERMITTED);
    }
    Ok(HandleTypes(types))
}

#[expect(clippy::too_many_arguments, reason = "they are the driver function's")]
fn bind(
    call: &str,
    object: CUmemGenericAllocationHandle,
    device: Option<usize>,
    start: usize,
    memory: Result<Arc<Physical>>,
    memory_start: usize,
    bytes: usize,
    flags: c_ulonglong,
) -> Result {
    let object = Multicast::of_handle(object)?;
    if flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    object.bind(call, device, start, memory?, memory_start, bytes)
}

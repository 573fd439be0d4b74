//! Virtual memory: physical allocations, reserved addresses, mappings, access, and their exchange between processes.

use std::os::fd::{IntoRawFd, RawFd};

use super::descriptor::{in_place_of_pointer, is_descriptor};
use super::device::index;
use super::entry::*;
use crate::context::current;
use crate::memory::access::Access;
use crate::memory::location::MemoryLocation;
use crate::memory::virtual_memory::{
    self, GRANULARITY, HandleTypes, Mappable, Physical, PhysicalProperties, access_of, free_range,
    handle_of, mapped_at, reserve, set_access, unmap,
};

/// `CU_MEM_ALLOCATION_COMP_GENERIC`
const GENERIC_COMPRESSION: u8 = 1;

driver_calls! {
    Ready fn cuMemGetAllocationGranularity(
        granularity: *mut usize, prop: *const CUmemAllocationProp, option: CUmemAllocationGranularity_flags,
    ) {
        let properties = parameters(prop)?;
        if properties.type_ != CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED {
            return Err(code::INVALID_VALUE);
        }
        location_of(&properties.location)?;
        let known = [
            CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM,
            CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
        ];
        if !known.contains(&option) {
            return Err(code::INVALID_VALUE);
        }
        put(granularity, GRANULARITY)?;
    }

    Ready fn cuMemCreate(
        handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp, flags: c_ulonglong,
    ) {
        let properties = asked(parameters(prop)?)?;
        if handle.is_null() || flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        put(handle, Physical::create(size, properties)?)?;
    }

    Ready fn cuMemRelease(handle: CUmemGenericAllocationHandle) {
        Mappable::release(handle)?;
    }

    Ready fn cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, addr: *mut c_void) {
        if handle.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let memory = mapped_at(addr as usize).ok_or(code::INVALID_VALUE)?;
        put(handle, memory.hold())?;
    }

    Ready fn cuMemGetAllocationPropertiesFromHandle(prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle) {
        put(prop, granted(handle_of(handle)?.properties))?;
    }

    Ready fn cuMemAddressReserve(
        ptr: *mut CUdeviceptr, size: usize, alignment: usize, addr: CUdeviceptr, flags: c_ulonglong,
    ) {
        // The wish for an address need not be granted, and is not.
        if ptr.is_null() || flags != 0 || !(addr as usize).is_multiple_of(GRANULARITY) {
            return Err(code::INVALID_VALUE);
        }
        put(ptr, reserve(size, alignment)? as CUdeviceptr)?;
    }

    Ready fn cuMemAddressFree(ptr: CUdeviceptr, size: usize) {
        free_range(ptr as usize, size)?;
    }

    Ready fn cuMemMap(
        ptr: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: c_ulonglong,
    ) {
        let shown = Mappable::of_handle(handle)?;
        if flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        if offset != 0 {
            return Err(code::NOT_SUPPORTED);
        }
        if let Mappable::Multicast(object) = &shown {
            object.require_team("cuMemMap")?;
        }
        virtual_memory::map(ptr as usize, size, shown)?;
    }

    Ready fn cuMemUnmap(ptr: CUdeviceptr, size: usize) {
        unmap(ptr as usize, size)?;
    }

    Ready fn cuMemSetAccess(ptr: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize) {
        if desc.is_null() || count == 0 {
            return Err(code::INVALID_VALUE);
        }
        let mut grants = Vec::with_capacity(count);
        for i in 0..count {
            let grant = &*desc.add(i);
            // Other than a question about it, a right for a device that there is not is an invalid value, as measured.
            let location = location_of(&grant.location).map_err(|_| code::INVALID_VALUE)?;
            grants.push((location, access(grant.flags)?));
        }
        set_access(ptr as usize, size, &grants)?;
    }

    Ready fn cuMemGetAccess(flags: *mut c_ulonglong, location: *const CUmemLocation, ptr: CUdeviceptr) {
        // As measured, also for a location of no type.
        let location = location_of(parameters(location)?).map_err(|_| code::INVALID_DEVICE)?;
        put(flags, access_of(ptr as usize, location)? as c_ulonglong)?;
    }

    Ready fn cuMemExportToShareableHandle(
        shareableHandle: *mut c_void, handle: CUmemGenericAllocationHandle, handleType: CUmemAllocationHandleType,
        flags: c_ulonglong,
    ) {
        let shared = Mappable::of_handle(handle)?;
        if shareableHandle.is_null() || flags != 0 || !is_descriptor(handleType) {
            return Err(code::INVALID_VALUE);
        }
        put(shareableHandle.cast::<RawFd>(), shared.export()?.into_raw_fd())?;
    }

    Ready fn cuMemImportFromShareableHandle(
        handle: *mut CUmemGenericAllocationHandle, osHandle: *mut c_void, shHandleType: CUmemAllocationHandleType,
    ) {
        current()?;
        if handle.is_null() || shHandleType == CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE {
            return Err(code::INVALID_VALUE);
        }
        if !is_descriptor(shHandleType) {
            return Err(code::NOT_SUPPORTED);
        }
        // SAFETY: the caller keeps the descriptor open during the call.
        let descriptor = unsafe { in_place_of_pointer(osHandle) }?;
        put(handle, Mappable::import(descriptor)?)?;
    }
}

fn access(flags: CUmemAccess_flags) -> Result<Access> {
    match flags {
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE => Ok(Access::None),
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ => Ok(Access::Read),
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => Ok(Access::ReadWrite),
        _ => Err(code::INVALID_VALUE),
    }
}

/// A location that memory may have or be accessed from.
///
/// # Errors
///
/// Invalid device if there is no such one; invalid value for locations of other types.
pub(super) fn location_of(location: &CUmemLocation) -> Result<MemoryLocation> {
    // SAFETY: every bit pattern of the union's integer is valid.
    let id = unsafe { location.__bindgen_anon_1.id };
    match location.type_ {
        CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => index(id).map(MemoryLocation::Device),
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST => Ok(MemoryLocation::Host { node: None }),
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA if id >= 0 => {
            Ok(MemoryLocation::Host { node: Some(id) })
        }
        _ => Err(code::INVALID_VALUE),
    }
}

fn asked(wish: &CUmemAllocationProp) -> Result<PhysicalProperties> {
    let flags = &wish.allocFlags;
    let handle_types = HandleTypes(wish.requestedHandleTypes.0);
    let fabric = HandleTypes(CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC.0);
    let descriptor = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if wish.type_ != CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED
        || flags.compressionType > GENERIC_COMPRESSION
        || flags.reserved.iter().any(|&byte| byte != 0)
        || handle_types.0 & !(descriptor.0 | fabric.0) != 0
    {
        return Err(code::INVALID_VALUE);
    }
    let location = location_of(&wish.location)?;
    if handle_types.contains(fabric) {
        // No channel to other nodes is set up, as on the measured machine.
        return Err(code::NOT_PERMITTED);
    }
    Ok(PhysicalProperties {
        location,
        handle_types,
        compressible: flags.compressionType == GENERIC_COMPRESSION,
        rdma_capable: flags.gpuDirectRDMACapable != 0,
    })
}

fn granted(properties: PhysicalProperties) -> CUmemAllocationProp {
    let location = match properties.location {
        MemoryLocation::Device(device) => (
            CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            device as i32,
        ),
        MemoryLocation::Host { node: None } => (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 0),
        MemoryLocation::Host { node: Some(node) } => {
            (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA, node)
        }
    };
    let mut answer = CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: CUmemAllocationHandleType(properties.handle_types.0),
        ..Default::default()
    };
    answer.location.type_ = location.0;
    answer.location.__bindgen_anon_1.id = location.1;
    answer.allocFlags.compressionType = u8::from(properties.compressible);
    answer.allocFlags.gpuDirectRDMACapable = u8::from(properties.rdma_capable);
    answer
}

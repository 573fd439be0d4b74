//! Devices and what they report.

use core::ffi::CStr;

use super::entry::*;
use crate::device::{self, BusAddress};

driver_calls! {
    Ready fn cuDeviceGetCount(count: *mut c_int) {
        put(count, device::count() as c_int)?;
    }

    Ready fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) {
        index(ordinal)?;
        put(device, ordinal)?;
    }

    Ready fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice) {
        let text = device::profile(index(dev)?).name.as_bytes();
        if name.is_null() || len <= 0 {
            return Err(code::INVALID_VALUE);
        }
        let count = text.len().min(len as usize - 1);
        core::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, count);
        name.add(count).write(0);
    }

    Ready fn cuDeviceGetAttribute(pi: *mut c_int, attrib: CUdevice_attribute, dev: CUdevice) {
        let device = index(dev)?;
        let value = device::profile(device).attribute(attrib).ok_or(code::INVALID_VALUE)?;
        let is_address = attrib == CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID;
        put(pi, if is_address { device::bus_address(device).device as c_int } else { value })?;
    }

    Ready fn cuDeviceGetProperties(prop: *mut CUdevprop, dev: CUdevice) {
        use CUdevice_attribute as Attribute;
        let profile = device::profile(index(dev)?);
        let number = |attribute| profile.limit(attribute) as c_int;
        put(prop, CUdevprop {
            maxThreadsPerBlock: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            maxThreadsDim: [
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
            ].map(number),
            maxGridSize: [
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
            ].map(number),
            sharedMemPerBlock: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
            totalConstantMemory: number(Attribute::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
            SIMDWidth: number(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE),
            memPitch: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_PITCH),
            regsPerBlock: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
            clockRate: number(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            textureAlign: number(Attribute::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
        })?;
    }

    Ready fn cuDeviceGetExecAffinitySupport(pi: *mut c_int, type_: CUexecAffinityType, dev: CUdevice) {
        index(dev)?;
        if type_ != CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT {
            return Err(code::INVALID_VALUE);
        }
        // Contexts of some of the multiprocessors are those of the Multi-Process Service.
        put(pi, 0)?;
    }

    Ready fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) {
        put(bytes, device::total_memory(index(dev)?))?;
    }

    Ready fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice) {
        put(uuid, uuid_of(index(dev)?))?;
    }

    Ready fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice) {
        put(uuid, uuid_of(index(dev)?))?;
    }

    Ready fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, dev: CUdevice) {
        let profile = device::profile(index(dev)?);
        put(major, profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) as c_int)?;
        put(minor, profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) as c_int)?;
    }

    Ready fn cuDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, dev: CUdevice) {
        let text = format!("{}\0", device::bus_address(index(dev)?));
        if pciBusId.is_null() || len < text.len() as c_int {
            return Err(code::INVALID_VALUE);
        }
        core::ptr::copy_nonoverlapping(text.as_ptr().cast(), pciBusId, text.len());
    }

    Ready fn cuDeviceGetByPCIBusId(dev: *mut CUdevice, pciBusId: *const c_char) {
        if dev.is_null() || pciBusId.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let text = CStr::from_ptr(pciBusId).to_str().map_err(|_| code::INVALID_VALUE)?;
        let address = BusAddress::parse(text).ok_or(code::INVALID_VALUE)?;
        let mut devices = 0..device::count();
        let found = devices.find(|&index| device::bus_address(index) == address);
        dev.write(found.ok_or(code::INVALID_DEVICE)? as CUdevice);
    }
}

/// Checks a device ordinal.
pub(super) fn index(device: CUdevice) -> Result<usize> {
    usize::try_from(device)
        .ok()
        .filter(|&index| index < device::count())
        .ok_or(code::INVALID_DEVICE)
}

fn uuid_of(device: usize) -> CUuuid {
    CUuuid {
        bytes: device::identity(device::in_machine(device)).map(|byte| byte as c_char),
    }
}

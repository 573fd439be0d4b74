//! The memory that a device's graphs take together: statistics, and giving it back.

use super::device::index;
use super::entry::*;
use crate::memory::graph_memory;

driver_calls! {
    Ready fn cuDeviceGraphMemTrim(device: CUdevice) {
        graph_memory::trim(index(device)?);
    }

    Ready fn cuDeviceGetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void) {
        put(value.cast::<cuuint64_t>(), graph_memory::attribute(index(device)?, attr)?)?;
    }

    Ready fn cuDeviceSetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void) {
        let value = *parameters(value.cast::<cuuint64_t>().cast_const())?;
        graph_memory::set_attribute(index(device)?, attr, value)?;
    }
}

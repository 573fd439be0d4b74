//! Copies between host and device.

use super::*;
use crate::memory::Memory;
use crate::state::current;

driver_calls! {
    Ready fn cuMemcpyHtoD_v2(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize) {
        current()?;
        check(dstDevice, ByteCount)?;
        core::ptr::copy(srcHost.cast::<u8>(), dstDevice as *mut u8, ByteCount);
    }

    Ready fn cuMemcpyDtoH_v2(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize) {
        current()?;
        check(srcDevice, ByteCount)?;
        core::ptr::copy(srcDevice as *const u8, dstHost.cast::<u8>(), ByteCount);
    }
}

fn check(address: CUdeviceptr, bytes: usize) -> Result {
    if bytes == 0 || Memory::global().is_live(address as usize, bytes) { Ok(()) } else { Err(code::INVALID_VALUE) }
}

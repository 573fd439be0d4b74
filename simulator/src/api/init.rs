//! Initialisation, version, and lookup of functions by name and version.

use core::ffi::{CStr, c_void};

use super::*;
use crate::device;

driver_calls! {
    Early fn cuInit(Flags: c_uint) {
        if Flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        if device::count() == 0 {
            return Err(code::NO_DEVICE);
        }
        crate::state::initialise();
    }

    Early fn cuDriverGetVersion(driverVersion: *mut c_int) {
        put(driverVersion, device::DRIVER_VERSION)?;
    }

    Early fn cuGetProcAddress(symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: cuuint64_t) {
        let (address, status) = by_version(symbol, pfn, cudaVersion, flags)?;
        pfn.write(address.cast_mut());
        if status != CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS {
            return Err(code::NOT_FOUND);
        }
    }

    Early fn cuGetProcAddress_v2(
        symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: cuuint64_t,
        symbolStatus: *mut CUdriverProcAddressQueryResult,
    ) {
        let (address, status) = by_version(symbol, pfn, cudaVersion, flags)?;
        pfn.write(address.cast_mut());
        if !symbolStatus.is_null() {
            symbolStatus.write(status);
        } else if status != CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS {
            return Err(code::NOT_FOUND);
        }
    }
}

/// # Safety
///
/// `symbol` is null or a C string.
unsafe fn by_version(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    version: c_int,
    flags: u64,
) -> Result<(*const c_void, CUdriverProcAddressQueryResult)> {
    if symbol.is_null() || pfn.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // As measured: a version newer than the driver is no question that it answers.
    if flags > 2 || version > device::DRIVER_VERSION {
        // SAFETY: not null, so valid by the caller's contract.
        unsafe { pfn.write(core::ptr::null_mut()) };
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: not null, so a C string by the caller's contract.
    let name = unsafe { CStr::from_ptr(symbol) }
        .to_str()
        .map_err(|_| code::INVALID_VALUE)?;
    Ok(match super::symbols::find(name, version, flags == 2) {
        super::symbols::Found::Function(address) => (
            address,
            CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS,
        ),
        super::symbols::Found::TooNew => (
            core::ptr::null(),
            CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
        ),
        super::symbols::Found::Nothing => (
            core::ptr::null(),
            CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
        ),
    })
}

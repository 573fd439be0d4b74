//! Initialisation and version.

use super::entry::*;
use crate::context;
use crate::device;
use crate::memory::leaks;

driver_calls! {
    Early fn cuInit(Flags: c_uint) {
        if Flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        if device::count() == 0 {
            return Err(code::NO_DEVICE);
        }
        context::initialise();
        leaks::watch_end_of_process();
    }

    Early fn cuDriverGetVersion(driverVersion: *mut c_int) {
        put(driverVersion, device::DRIVER_VERSION)?;
    }
}

//! Which device each one is, and the version of the driver.

use super::h200;
use super::profile::Profile;
use warpsmith_abi::CUdevice_attribute;

/// The version of the driver that is simulated.
pub(crate) const DRIVER_VERSION: i32 = 13000;

/// The profile of a device.
pub(crate) fn profile(_device: usize) -> &'static Profile {
    &h200::PROFILE
}

/// A device's compute capability.
pub(crate) fn compute_capability(device: usize) -> (u32, u32) {
    let profile = profile(device);
    (
        profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
    )
}

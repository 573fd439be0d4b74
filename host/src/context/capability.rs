//! The compute capability of a device.

use std::fmt;

use warpsmith_driver::raw;

use super::attribute::Attribute;
use crate::error::Result;

/// The compute capability of a device: what its architecture can do. Greater ones can do more.
///
/// ```
/// use warpsmith_host::ComputeCapability;
///
/// let hopper = ComputeCapability::new(9, 0);
/// assert_eq!(hopper.to_string(), "9.0");
/// assert!(hopper > ComputeCapability::new(8, 9));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ComputeCapability {
    /// The architecture: 7 for Volta and Turing, 8 for Ampere and Ada, 9 for Hopper.
    pub major: u32,
    /// The step within it.
    pub minor: u32,
}

impl ComputeCapability {
    /// `major.minor`
    pub const fn new(major: u32, minor: u32) -> ComputeCapability {
        ComputeCapability { major, minor }
    }

    /// That of a device.
    ///
    /// # Errors
    ///
    /// The driver does not know the device.
    pub(crate) fn of(device: raw::CUdevice) -> Result<ComputeCapability> {
        let get = |attribute: Attribute| attribute.of(device).map(|value| value.max(0) as u32);
        Ok(ComputeCapability {
            major: get(Attribute::COMPUTE_CAPABILITY_MAJOR)?,
            minor: get(Attribute::COMPUTE_CAPABILITY_MINOR)?,
        })
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

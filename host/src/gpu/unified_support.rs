//! How a device shares memory with the host.

use crate::context::attribute::Attribute;
use crate::error::Result;
use crate::gpu::Gpu;

/// How a device shares memory with the host (CUDA C++ Programming Guide, "Unified Memory System Requirements"): the more of it, the later.
///
/// It is derived from attributes of the device, so that it says nothing about speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnifiedSupport {
    /// Not at all: [`Gpu::unified`] is an error.
    None,
    /// Unified memory that the host may not touch while a kernel runs ([`Attribute::CONCURRENT_MANAGED_ACCESS`] is 0).
    Limited,
    /// Unified memory that host and kernels may use at a time.
    Managed,
    /// All memory of the program: kernels also reach heap, stacks, statics and mapped files, by their addresses
    /// ([`Attribute::PAGEABLE_MEMORY_ACCESS`]).
    Full,
}

impl Gpu {
    /// How the device shares memory with the host.
    ///
    /// ```
    /// use warpsmith_host::UnifiedSupport;
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// match gpu.unified_support()? {
    ///     UnifiedSupport::Full => println!("kernels reach whatever the program has allocated"),
    ///     UnifiedSupport::Managed => println!("kernels reach unified memory beside the host"),
    ///     UnifiedSupport::Limited => println!("kernels and the host take turns with unified memory"),
    ///     UnifiedSupport::None => println!("there is no unified memory"),
    /// }
    /// assert!(gpu.unified_support()? >= UnifiedSupport::Managed);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The driver does not answer.
    // covers: UM-01
    pub fn unified_support(&self) -> Result<UnifiedSupport> {
        let has = |attribute| -> Result<bool> { Ok(self.attribute(attribute)? != 0) };
        if has(Attribute::PAGEABLE_MEMORY_ACCESS)? {
            Ok(UnifiedSupport::Full)
        } else if has(Attribute::CONCURRENT_MANAGED_ACCESS)? {
            Ok(UnifiedSupport::Managed)
        } else if has(Attribute::MANAGED_MEMORY)? {
            Ok(UnifiedSupport::Limited)
        } else {
            Ok(UnifiedSupport::None)
        }
    }
}

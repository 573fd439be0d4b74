//! What a device and its driver answer, where that is more than one number.

use std::fmt;

/// Device memory, in bytes: [`Gpu::memory_info`](crate::Gpu::memory_info).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryInfo {
    /// What can be allocated.
    pub free: usize,
    /// All there is.
    pub total: usize,
}

/// A version of CUDA: [`Gpu::driver_version`](crate::Gpu::driver_version).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CudaVersion {
    /// 13 of 13.1.
    pub major: u32,
    /// 1 of 13.1.
    pub minor: u32,
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

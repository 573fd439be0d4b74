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

/// What a device's graphs have of its memory, in bytes: [`Gpu::graph_memory`](crate::Gpu::graph_memory).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GraphMemoryUsage {
    /// What they hold, in use or not.
    pub reserved: u64,
    /// What at least one graph is mapped to.
    pub used: u64,
    /// The most that was reserved.
    pub reserved_peak: u64,
    /// The most that was used.
    pub used_peak: u64,
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

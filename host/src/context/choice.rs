//! Which device to run on, and what it can do.

use std::fmt;
use std::str::FromStr;

use crate::error::{Code, Error, Result};

/// The device to run on.
///
/// ```
/// use warpsmith_host::DeviceChoice;
///
/// assert_eq!("cuda:1".parse::<DeviceChoice>()?, DeviceChoice::Cuda(1));
/// assert_eq!(DeviceChoice::Simulator.to_string(), "simulator");
/// # Ok::<(), warpsmith_host::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeviceChoice {
    /// The simulator in this process.
    Simulator,
    /// The GPU of this number, as the driver counts them.
    Cuda(u32),
}

impl DeviceChoice {
    /// What the environment variable `WARPSMITH_DEVICE` asks for: `simulator`, `cuda` or `cuda:N`; `None` where it is not set.
    pub fn from_env() -> Result<Option<DeviceChoice>> {
        match std::env::var("WARPSMITH_DEVICE") {
            Ok(text) if !text.is_empty() => text.parse().map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn ordinal(self) -> u32 {
        match self {
            DeviceChoice::Simulator => 0,
            DeviceChoice::Cuda(ordinal) => ordinal,
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<DeviceChoice> {
        match text {
            "simulator" => Ok(DeviceChoice::Simulator),
            "cuda" => Ok(DeviceChoice::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|number| number.parse().ok())
                .map(DeviceChoice::Cuda)
                .ok_or_else(|| {
                    Error::misuse(
                        "DeviceChoice",
                        Code::INVALID_DEVICE,
                        format!("`{text}` is not a device"),
                        "WARPSMITH_DEVICE may be `simulator`, `cuda` or `cuda:N`",
                    )
                }),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Simulator => write!(f, "simulator"),
            DeviceChoice::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

/// A device that can be opened.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// How to open it.
    pub choice: DeviceChoice,
    /// Its name.
    pub name: String,
    /// Its compute capability.
    pub compute_capability: (i32, i32),
    /// Its memory in bytes.
    pub total_memory: usize,
}

/// A number that a device reports about itself (`CUdevice_attribute`). The driver knows more than the named ones; any number works.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// assert_eq!(gpu.attribute(Attribute::WARP_SIZE)?, 32);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Attribute(pub u32);

macro_rules! attributes {
    ($($number:literal $name:ident $text:literal;)*) => {
        impl Attribute {
            $(#[doc = $text] pub const $name: Attribute = Attribute($number);)*

            /// The named attributes, with their names.
            pub const ALL: &'static [(&'static str, Attribute)] = &[$((stringify!($name), Attribute($number))),*];
        }
    };
}

// covers: BUILD-28
attributes! {
    1 MAX_THREADS_PER_BLOCK "Threads in a block, at most.";
    2 MAX_BLOCK_DIM_X "A block's extent in x, at most.";
    3 MAX_BLOCK_DIM_Y "A block's extent in y, at most.";
    4 MAX_BLOCK_DIM_Z "A block's extent in z, at most.";
    5 MAX_GRID_DIM_X "A grid's extent in x, at most.";
    6 MAX_GRID_DIM_Y "A grid's extent in y, at most.";
    7 MAX_GRID_DIM_Z "A grid's extent in z, at most.";
    8 MAX_SHARED_MEMORY_PER_BLOCK "Bytes of shared memory that a block can have without an opt-in.";
    9 TOTAL_CONSTANT_MEMORY "Bytes of constant memory.";
    10 WARP_SIZE "Threads in a warp.";
    11 MAX_PITCH "Bytes between two rows of a copy, at most.";
    12 MAX_REGISTERS_PER_BLOCK "Registers that a block can have.";
    13 CLOCK_RATE "The multiprocessors' clock in kHz.";
    14 TEXTURE_ALIGNMENT "Alignment of a texture's memory.";
    16 MULTIPROCESSOR_COUNT "Multiprocessors.";
    17 KERNEL_EXEC_TIMEOUT "Whether kernels are cut off after a time.";
    18 INTEGRATED "Whether device and host share one memory.";
    19 CAN_MAP_HOST_MEMORY "Whether kernels can reach pinned host memory.";
    20 COMPUTE_MODE "Who may use the device: 0 all, 2 nobody, 3 one process.";
    31 CONCURRENT_KERNELS "Whether several kernels can run at a time.";
    32 ECC_ENABLED "Whether memory errors are corrected.";
    36 MEMORY_CLOCK_RATE "The memory's clock in kHz.";
    37 GLOBAL_MEMORY_BUS_WIDTH "The memory bus's width in bits.";
    38 L2_CACHE_SIZE "Bytes of L2 cache.";
    39 MAX_THREADS_PER_MULTIPROCESSOR "Threads resident on a multiprocessor, at most.";
    40 ASYNC_ENGINE_COUNT "Copies that can run beside kernels at a time.";
    41 UNIFIED_ADDRESSING "Whether host and devices share one address space.";
    75 COMPUTE_CAPABILITY_MAJOR "The compute capability's first number.";
    76 COMPUTE_CAPABILITY_MINOR "The compute capability's second number.";
    78 STREAM_PRIORITIES_SUPPORTED "Whether streams have priorities.";
    81 MAX_SHARED_MEMORY_PER_MULTIPROCESSOR "Bytes of shared memory of a multiprocessor.";
    82 MAX_REGISTERS_PER_MULTIPROCESSOR "Registers of a multiprocessor.";
    83 MANAGED_MEMORY "Whether unified memory exists.";
    86 HOST_NATIVE_ATOMIC_SUPPORTED "Whether atomics reach host memory natively.";
    88 PAGEABLE_MEMORY_ACCESS "Whether kernels can reach ordinary host memory.";
    89 CONCURRENT_MANAGED_ACCESS "Whether the host may touch unified memory while kernels run.";
    95 COOPERATIVE_LAUNCH "Whether grids can synchronise.";
    97 MAX_SHARED_MEMORY_PER_BLOCK_OPTIN "Bytes of shared memory that a block can have with an opt-in.";
    100 PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES "Whether the device uses the host's page tables.";
    101 DIRECT_MANAGED_MEM_ACCESS_FROM_HOST "Whether the host reaches unified memory on the device directly.";
    102 VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED "Whether address ranges can be reserved and mapped.";
    106 MAX_BLOCKS_PER_MULTIPROCESSOR "Blocks resident on a multiprocessor, at most.";
    111 RESERVED_SHARED_MEMORY_PER_BLOCK "Bytes of a block's shared memory that the driver keeps.";
    115 MEMORY_POOLS_SUPPORTED "Whether memory can be allocated in stream order.";
    120 CLUSTER_LAUNCH "Whether blocks can form clusters.";
    126 MEM_SYNC_DOMAIN_COUNT "Memory synchronisation domains.";
    132 MULTICAST_SUPPORTED "Whether multicast memory exists.";
}

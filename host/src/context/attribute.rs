//! The numbers that a device reports about itself.

use warpsmith_driver::raw;

use crate::driver_call::call;
use crate::error::{Code, Result};

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

impl Attribute {
    /// What the driver says of `device`; `None` where it does not know the attribute.
    pub(crate) fn of_if_known(self, device: raw::CUdevice) -> Result<Option<i32>> {
        match self.of(device) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.code() == Some(Code::INVALID_VALUE) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What the driver says of `device`.
    pub(crate) fn of(self, device: raw::CUdevice) -> Result<i32> {
        let mut value = 0;
        // SAFETY: the driver writes one number to `value`, which outlives the call, and refuses attributes that it does not know.
        unsafe {
            call!(cuDeviceGetAttribute(
                &mut value,
                raw::CUdevice_attribute(self.0),
                device
            ))
        }
        .map_err(|error| {
            error
                .while_doing(|| format!("{self:?}"))
                .with_hint(|| "the driver has no such attribute: `Attribute::ALL` lists those that have names, `gpu.driver_version()` says how old the driver is".into())
        })?;
        Ok(value)
    }
}

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
    103 HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED "Whether memory can be exported to other processes as a file descriptor.";
    106 MAX_BLOCKS_PER_MULTIPROCESSOR "Blocks resident on a multiprocessor, at most.";
    107 GENERIC_COMPRESSION_SUPPORTED "Whether physical memory can be compressed.";
    108 MAX_PERSISTING_L2_CACHE_SIZE "Bytes of L2 cache that can be set aside for accesses that persist.";
    109 MAX_ACCESS_POLICY_WINDOW_SIZE "Bytes of an access policy window, at most.";
    111 RESERVED_SHARED_MEMORY_PER_BLOCK "Bytes of a block's shared memory that the driver keeps.";
    114 TIMELINE_SEMAPHORE_INTEROP_SUPPORTED "Whether timeline semaphores of other interfaces can be imported.";
    115 MEMORY_POOLS_SUPPORTED "Whether memory can be allocated in stream order.";
    119 MEMPOOL_SUPPORTED_HANDLE_TYPES "As what pools can be exported to other processes, as bits of `CUmemAllocationHandleType`: 1 is a file descriptor.";
    120 CLUSTER_LAUNCH "Whether blocks can form clusters.";
    122 CAN_USE_64_BIT_STREAM_MEM_OPS "Whether streams wait for 64-bit words and write them.";
    123 CAN_USE_STREAM_WAIT_VALUE_NOR "Whether streams wait until some bit is not set.";
    126 MEM_SYNC_DOMAIN_COUNT "Memory synchronisation domains.";
    128 HANDLE_TYPE_FABRIC_SUPPORTED "Whether memory can be exported to other nodes.";
    132 MULTICAST_SUPPORTED "Whether multicast memory exists.";
    134 HOST_NUMA_ID "The NUMA node of the host that is nearest to the device, or -1.";
    142 HOST_NUMA_MEMORY_POOLS_SUPPORTED "Whether memory pools of the host's NUMA nodes exist.";
    144 HOST_MEMORY_POOLS_SUPPORTED "Whether memory pools of the host exist.";
}

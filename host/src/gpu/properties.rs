//! What a device is, as one value.

use warpsmith_driver::raw;

use super::Gpu;
use crate::context::attribute::Attribute;
use crate::context::capability::ComputeCapability;
use crate::context::uuid::Uuid;
use crate::driver_call::call;
use crate::error::Result;

/// A property's type, from the attribute's number.
trait FromAttribute {
    fn of(number: i32) -> Self;
}

impl FromAttribute for u32 {
    fn of(number: i32) -> u32 {
        number.max(0) as u32
    }
}

impl FromAttribute for usize {
    fn of(number: i32) -> usize {
        number.max(0) as usize
    }
}

impl FromAttribute for bool {
    fn of(number: i32) -> bool {
        number != 0
    }
}

macro_rules! properties {
    ($($field:ident: $kind:ty = $attribute:ident, $text:literal;)*) => {
        /// What a device is and can do: [`Gpu::properties`]. [`Gpu::attribute`] asks for one number, also for those that are not here.
        #[derive(Clone, PartialEq, Debug)]
        #[non_exhaustive]
        pub struct DeviceProperties {
            /// The device's name.
            pub name: String,
            /// Its identity.
            pub uuid: Uuid,
            /// Its address on the PCI bus, `domain:bus:device.function` in hexadecimal digits.
            pub pci_bus_id: String,
            /// The compute capability.
            pub compute_capability: ComputeCapability,
            /// All of its memory, in bytes.
            pub total_memory: usize,
            /// A block's extents in x, y and z, at most.
            pub max_block_dim: [u32; 3],
            /// A grid's extents in x, y and z, at most.
            pub max_grid_dim: [u32; 3],
            $(#[doc = $text] pub $field: $kind,)*
        }

        impl DeviceProperties {
            fn of(gpu: &Gpu) -> Result<DeviceProperties> {
                let extents = |[x, y, z]: [Attribute; 3]| -> Result<[u32; 3]> {
                    let get = |attribute| gpu.attribute(attribute).map(u32::of);
                    Ok([get(x)?, get(y)?, get(z)?])
                };
                let device = gpu.inner.context().device;
                Ok(DeviceProperties {
                    name: gpu.name(),
                    uuid: Uuid::of(device)?,
                    pci_bus_id: pci_bus_id(device)?,
                    compute_capability: gpu.compute_capability(),
                    total_memory: gpu.total_memory(),
                    max_block_dim: extents([
                        Attribute::MAX_BLOCK_DIM_X,
                        Attribute::MAX_BLOCK_DIM_Y,
                        Attribute::MAX_BLOCK_DIM_Z,
                    ])?,
                    max_grid_dim: extents([
                        Attribute::MAX_GRID_DIM_X,
                        Attribute::MAX_GRID_DIM_Y,
                        Attribute::MAX_GRID_DIM_Z,
                    ])?,
                    $($field: FromAttribute::of(gpu.attribute(Attribute::$attribute)?),)*
                })
            }
        }
    };
}

properties! {
    multiprocessors: u32 = MULTIPROCESSOR_COUNT, "Multiprocessors.";
    warp_size: u32 = WARP_SIZE, "Threads in a warp.";
    max_threads_per_block: u32 = MAX_THREADS_PER_BLOCK, "Threads in a block, at most.";
    max_threads_per_multiprocessor: u32 = MAX_THREADS_PER_MULTIPROCESSOR, "Threads resident on a multiprocessor, at most.";
    max_blocks_per_multiprocessor: u32 = MAX_BLOCKS_PER_MULTIPROCESSOR, "Blocks resident on a multiprocessor, at most.";
    registers_per_block: u32 = MAX_REGISTERS_PER_BLOCK, "Registers of 32 bits that a block can have.";
    registers_per_multiprocessor: u32 = MAX_REGISTERS_PER_MULTIPROCESSOR, "Registers of 32 bits of a multiprocessor.";
    shared_memory_per_block: usize = MAX_SHARED_MEMORY_PER_BLOCK, "Bytes of shared memory that a block can have without an opt-in.";
    shared_memory_per_block_optin: usize = MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, "Bytes of shared memory that a block can have with an opt-in.";
    shared_memory_per_multiprocessor: usize = MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, "Bytes of shared memory of a multiprocessor.";
    reserved_shared_memory_per_block: usize = RESERVED_SHARED_MEMORY_PER_BLOCK, "Bytes of a block's shared memory that the driver keeps.";
    constant_memory: usize = TOTAL_CONSTANT_MEMORY, "Bytes of constant memory.";
    l2_cache: usize = L2_CACHE_SIZE, "Bytes of L2 cache.";
    max_persisting_l2_cache: usize = MAX_PERSISTING_L2_CACHE_SIZE, "Bytes of L2 cache that can be set aside for accesses that persist.";
    max_access_policy_window: usize = MAX_ACCESS_POLICY_WINDOW_SIZE, "Bytes of an access policy window, at most.";
    max_pitch: usize = MAX_PITCH, "Bytes between two rows of a copy, at most.";
    texture_alignment: usize = TEXTURE_ALIGNMENT, "Bytes by which a texture's memory is aligned.";
    memory_bus_width: u32 = GLOBAL_MEMORY_BUS_WIDTH, "Bits of the memory bus.";
    clock_rate: u32 = CLOCK_RATE, "The multiprocessors' clock in kHz.";
    memory_clock_rate: u32 = MEMORY_CLOCK_RATE, "The memory's clock in kHz.";
    copy_engines: u32 = ASYNC_ENGINE_COUNT, "Copies that can run beside kernels at a time.";
    memory_sync_domains: u32 = MEM_SYNC_DOMAIN_COUNT, "Memory synchronisation domains.";
    is_integrated: bool = INTEGRATED, "Whether device and host share one memory.";
    has_ecc: bool = ECC_ENABLED, "Whether memory errors are corrected.";
    limits_kernel_time: bool = KERNEL_EXEC_TIMEOUT, "Whether kernels are cut off after a time.";
    runs_kernels_concurrently: bool = CONCURRENT_KERNELS, "Whether several kernels can run at a time.";
    maps_host_memory: bool = CAN_MAP_HOST_MEMORY, "Whether kernels can reach pinned host memory.";
    has_unified_addressing: bool = UNIFIED_ADDRESSING, "Whether host and devices share one address space.";
    has_managed_memory: bool = MANAGED_MEMORY, "Whether unified memory exists.";
    has_concurrent_managed_access: bool = CONCURRENT_MANAGED_ACCESS, "Whether the host may touch unified memory while kernels run.";
    has_pageable_memory_access: bool = PAGEABLE_MEMORY_ACCESS, "Whether kernels can reach ordinary host memory.";
    has_host_native_atomics: bool = HOST_NATIVE_ATOMIC_SUPPORTED, "Whether atomics reach host memory natively.";
    has_stream_priorities: bool = STREAM_PRIORITIES_SUPPORTED, "Whether streams have priorities.";
    has_cooperative_launch: bool = COOPERATIVE_LAUNCH, "Whether grids can synchronise.";
    has_cluster_launch: bool = CLUSTER_LAUNCH, "Whether blocks can form clusters.";
    has_memory_pools: bool = MEMORY_POOLS_SUPPORTED, "Whether memory can be allocated in stream order.";
    has_virtual_memory_management: bool = VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, "Whether address ranges can be reserved and mapped.";
    has_multicast: bool = MULTICAST_SUPPORTED, "Whether multicast memory exists.";
}

impl Gpu {
    /// What the device is and can do, as one value (`cudaGetDeviceProperties`).
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let properties = gpu.properties()?;
    /// assert_eq!((properties.warp_size, properties.multiprocessors), (32, 132));
    /// println!("{} ({}) at {}", properties.name, properties.uuid, properties.pci_bus_id);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The driver does not know one of the attributes: it is older than CUDA 12.1.
    // covers: INTEROP-08
    pub fn properties(&self) -> Result<DeviceProperties> {
        DeviceProperties::of(self)
    }
}

fn pci_bus_id(device: raw::CUdevice) -> Result<String> {
    let mut text = [0_u8; 32];
    // SAFETY: the driver writes as many bytes as it is told that there are, at most, the last of them zero.
    unsafe {
        call!(cuDeviceGetPCIBusId(
            text.as_mut_ptr().cast(),
            text.len() as i32,
            device
        ))
    }?;
    let end = text
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(text.len());
    Ok(String::from_utf8_lossy(&text[..end]).into_owned())
}

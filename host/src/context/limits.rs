//! What a device can do, asked for once.

use warpsmith_driver::raw;

use super::attribute::Attribute;
use crate::error::{Error, Result};

/// The limits that launches are checked against and the features that this crate asks about.
pub(crate) struct Limits {
    /// Threads of a block.
    pub(crate) threads: u32,
    /// A block's extents in threads.
    pub(crate) block: [u32; 3],
    /// A grid's extents in blocks.
    pub(crate) grid: [u32; 3],
    /// Bytes of shared memory of a block.
    pub(crate) shared: u32,
    /// The same for kernels that opt in.
    pub(crate) shared_optin: u32,
    pub(crate) multiprocessors: u32,
    pub(crate) warps_per_multiprocessor: u32,
    /// Whether blocks can form clusters.
    pub(crate) clusters: bool,
    /// Whether grids can synchronise.
    pub(crate) cooperative: bool,
    /// Whether memory can be allocated in stream order.
    pools: bool,
    /// Whether addresses and memory can be allocated apart.
    virtual_memory: bool,
    /// Whether unified memory exists.
    pub(crate) managed: bool,
    /// Whether the host may touch unified memory while kernels run.
    pub(crate) concurrent_managed: bool,
    /// Bytes of L2 cache that can be set aside; 0 where none can.
    pub(crate) persisting_l2: u32,
    /// Bytes of an access policy window; 0 where there are none.
    pub(crate) access_window: u32,
    /// Physical memory synchronisation domains.
    pub(crate) domains: u32,
}

impl Limits {
    /// # Errors
    ///
    /// The driver does not know the device.
    pub(crate) fn of(device: raw::CUdevice) -> Result<Limits> {
        let get = |attribute: Attribute| attribute.of(device).map(|value| value.max(0) as u32);
        // An attribute that an old driver does not know means that it lacks the feature.
        let has = |attribute: Attribute| attribute.of(device).is_ok_and(|value| value != 0);
        let or_none = |attribute: Attribute| get(attribute).unwrap_or(0);
        Ok(Limits {
            threads: get(Attribute::MAX_THREADS_PER_BLOCK)?,
            block: [
                get(Attribute::MAX_BLOCK_DIM_X)?,
                get(Attribute::MAX_BLOCK_DIM_Y)?,
                get(Attribute::MAX_BLOCK_DIM_Z)?,
            ],
            grid: [
                get(Attribute::MAX_GRID_DIM_X)?,
                get(Attribute::MAX_GRID_DIM_Y)?,
                get(Attribute::MAX_GRID_DIM_Z)?,
            ],
            shared: get(Attribute::MAX_SHARED_MEMORY_PER_BLOCK)?,
            shared_optin: get(Attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            multiprocessors: get(Attribute::MULTIPROCESSOR_COUNT)?,
            warps_per_multiprocessor: get(Attribute::MAX_THREADS_PER_MULTIPROCESSOR)?
                / get(Attribute::WARP_SIZE)?.max(1),
            clusters: has(Attribute::CLUSTER_LAUNCH),
            cooperative: has(Attribute::COOPERATIVE_LAUNCH),
            pools: has(Attribute::MEMORY_POOLS_SUPPORTED),
            virtual_memory: has(Attribute::VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
            managed: has(Attribute::MANAGED_MEMORY),
            concurrent_managed: has(Attribute::CONCURRENT_MANAGED_ACCESS),
            persisting_l2: or_none(Attribute::MAX_PERSISTING_L2_CACHE_SIZE),
            access_window: or_none(Attribute::MAX_ACCESS_POLICY_WINDOW_SIZE),
            domains: or_none(Attribute::MEM_SYNC_DOMAIN_COUNT),
        })
    }

    /// # Errors
    ///
    /// The device or the driver cannot allocate memory in stream order.
    pub(crate) fn require_pools(&self) -> Result<()> {
        match self.pools {
            true => Ok(()),
            false => Err(Error::unsupported(
                "memory in stream order",
                "a driver since CUDA 11.2 and a device with memory pools (`Attribute::MEMORY_POOLS_SUPPORTED`)",
            )),
        }
    }

    /// # Errors
    ///
    /// The device or the driver cannot allocate addresses and memory apart.
    pub(crate) fn require_virtual_memory(&self) -> Result<()> {
        match self.virtual_memory {
            true => Ok(()),
            false => Err(Error::unsupported(
                "virtual memory management",
                "a device and a driver with it (`Attribute::VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED`)",
            )),
        }
    }
}

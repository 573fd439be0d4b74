//! Memory pools: from which memory is allocated, and given back, in the order of streams.
//!
//! | file | what |
//! | --- | --- |
//! | `settings` | what a pool keeps and reuses, and how much it holds |
//! | `allocator` | buffers, made in a stream from a pool |
//! | `handle` | the driver's pool, and which devices reach its memory |
//! | `shared` | pools and buffers of other processes |
//! | `taken` | which buffers of an imported pool this process has |

mod allocator;
pub(super) mod handle;
mod settings;
mod shared;
pub(super) mod taken;

use std::sync::Arc;

use warpsmith_driver::raw;

pub use self::allocator::PoolAllocator;
use self::handle::{EndedPool, Owner, PoolHandle, default_of};
pub use self::settings::{PoolUsage, ReusePolicy};
pub use self::shared::{ImportedPool, PoolPointer};
use super::descriptor::handle_type;
use super::hints::{Location, NEAREST_NODE, driver_location};
use super::peer_access::{PeerAccess, ReachedMemory};
use crate::context::attribute::Attribute;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{OpenDevice, check_same_device};

/// A memory pool: of a device's memory, or of the host's, which the device's kernels and copies use as its own. Buffers are allocated from it in a stream ([`Stream::alloc_from`](crate::Stream::alloc_from)) and go back
/// to it when they are dropped, after their last use; the pool keeps freed memory for later allocations, which then cost no call of the
/// operating system.
///
/// Buffers may outlive the pool object: the memory goes when the last of them does.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{PoolOptions, ReusePolicy};
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let pool = gpu.pool(PoolOptions { max_bytes: Some(64 << 20), ..Default::default() })?;
/// // Freed memory stays in the pool, however much it is.
/// pool.set_release_threshold(u64::MAX)?;
/// for round in 0..10 {
///     let buffer = stream.alloc_from(&pool)?.filled(1000, round)?;
///     assert_eq!(stream.download(&buffer)?, [round; 1000]);
/// }
/// let usage = pool.usage()?;
/// assert!(usage.reserved > 0 && usage.used_peak < 1 << 20);
/// stream.synchronize()?;
/// pool.trim_to(0)?;
/// # Ok(())
/// # }
/// ```
// covers: POOL-13, POOL-14
pub struct MemoryPool {
    gpu: Arc<OpenDevice>,
    /// Shared with the accesses of other devices.
    handle: Arc<PoolHandle>,
    max_bytes: Option<usize>,
    location: Location,
}

/// What a pool should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolOptions {
    /// The most bytes that are allocated from it at a time, at least 1; the driver may round up. `None`: as many as the device has.
    pub max_bytes: Option<usize>,
    /// It can be exported to other processes; not at [`Location::Host`].
    pub shareable: bool,
    /// Where its memory lies: the device's by default. Memory of the host is page-locked; the host itself reaches it by copies, as any
    /// [`DeviceBuffer`](crate::DeviceBuffer).
    pub location: Location,
}

impl Gpu {
    /// A new pool, for streams of this device.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::{Location, PoolOptions};
    ///
    /// # fn main() -> Result<()> {
    /// let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let pool = gpu.pool(PoolOptions { location: Location::Host, ..Default::default() })?;
    /// let mut rarely_used = stream.alloc_from(&pool)?.zeroed::<u32>(1000)?;
    /// stream.fill(&mut rarely_used, 7)?;
    /// assert_eq!(stream.download(&rarely_used)?, [7; 1000]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The device or the driver has no memory pools, or none there (`Attribute::HOST_MEMORY_POOLS_SUPPORTED`,
    /// `Attribute::HOST_NUMA_MEMORY_POOLS_SUPPORTED`): [`Error::Unsupported`]. [`PoolOptions::max_bytes`] is `Some(0)`; there is no such NUMA node;
    /// the pool is to be shareable at [`Location::Host`].
    // covers: POOL-16, DRV-26, EGM-04
    pub fn pool(&self, options: PoolOptions) -> Result<MemoryPool> {
        if options.max_bytes == Some(0) {
            return Err(Error::misuse(
                "cuMemPoolCreate",
                Code::INVALID_VALUE,
                "`max_bytes` is `Some(0)`: nothing could be allocated from the pool, and the driver takes 0 for no limit",
                "give the most bytes that it shall hold, or `None` for no limit",
            ));
        }
        self.inner.bind()?;
        self.inner.limits().require_pools()?;
        let place = self.place_of(options)?;
        let properties = raw::CUmemPoolProps {
            handleTypes: handle_type(options.shareable),
            allocType: raw::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            location: place,
            maxSize: options.max_bytes.unwrap_or(0),
            ..Default::default()
        };
        let owner = match options.location {
            Location::Device => Owner::Program,
            _ => Owner::ProgramOnHost,
        };
        let mut raw = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `raw` and reads the properties, which outlive the call.
        unsafe { call!(cuMemPoolCreate(&mut raw, &properties)) }.map_err(|error| {
            let error = error.while_doing(|| format!("a pool at {:?}", options.location));
            match options.location {
                Location::HostNuma(_) => {
                    error.with_hint_for(Code::INVALID_VALUE, || NEAREST_NODE.into())
                }
                Location::Device | Location::Host => error,
            }
        })?;
        let pool = MemoryPool {
            gpu: self.inner.clone(),
            handle: PoolHandle::new(self.inner.context(), raw, owner),
            max_bytes: options.max_bytes,
            location: options.location,
        };
        if pool.is_of_host() {
            // At first the host alone reaches it.
            let device = self.inner.context().device;
            pool.handle.set_reached_by(device, true)?;
        }
        Ok(pool)
    }

    /// # Errors
    ///
    /// The device has no pools there, or none that can be exported; there is no such NUMA node.
    fn place_of(&self, options: PoolOptions) -> Result<raw::CUmemLocation> {
        let (attribute, name) = match options.location {
            Location::Device => return driver_location(options.location, &self.inner),
            Location::Host => (
                Attribute::HOST_MEMORY_POOLS_SUPPORTED,
                "a device with pools of the host's memory (`Attribute::HOST_MEMORY_POOLS_SUPPORTED`)",
            ),
            Location::HostNuma(_) => (
                Attribute::HOST_NUMA_MEMORY_POOLS_SUPPORTED,
                "a device with pools of the host's NUMA nodes (`Attribute::HOST_NUMA_MEMORY_POOLS_SUPPORTED`)",
            ),
        };
        // A driver that does not know the attribute has none.
        if self.attribute(attribute).unwrap_or(0) == 0 {
            let what = format!("a memory pool at {:?}", options.location);
            return Err(Error::unsupported(what, name));
        }
        if options.location == Location::Host && options.shareable {
            return Err(Error::misuse(
                "cuMemPoolCreate",
                Code::INVALID_VALUE,
                "a pool at `Location::Host` cannot be exported",
                "name a node of the host: `Location::HostNuma(..)`; `Attribute::HOST_NUMA_ID` is the one that is nearest to the device",
            ));
        }
        driver_location(options.location, &self.inner)
    }

    /// The pool that the device always has. All libraries of the process share it, and buffers come from it unless
    /// [`use_pool`](Self::use_pool) says otherwise.
    ///
    /// # Errors
    ///
    /// The device or the driver has no memory pools.
    // covers: POOL-12
    pub fn default_pool(&self) -> Result<MemoryPool> {
        self.inner.bind()?;
        self.inner.limits().require_pools()?;
        let raw = default_of(self.inner.context().device)?;
        Ok(MemoryPool {
            gpu: self.inner.clone(),
            handle: PoolHandle::new(self.inner.context(), raw, Owner::Device),
            max_bytes: None,
            location: Location::Device,
        })
    }

    /// Lets all allocations in streams of this device, of the whole process, that name no pool come from this one. When the pool is
    /// dropped, the default one takes its place again.
    ///
    /// # Errors
    ///
    /// The pool is another device's, or the host's.
    // covers: POOL-11
    pub fn use_pool(&self, pool: &MemoryPool) -> Result<()> {
        const CALL: &str = "cuDeviceSetMemPool";
        check_same_device(CALL, ("the pool", &pool.gpu), ("the `Gpu`", &self.inner))?;
        if pool.is_of_host() {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!(
                    "the pool's memory lies at {:?}: a device allocates from pools of its own memory unless one is named",
                    pool.location
                ),
                "name it where it is meant: `stream.alloc_from(&pool)`",
            ));
        }
        self.inner.bind()?;
        // SAFETY: the pool is alive, `pool` owns it or the device does.
        unsafe {
            call!(cuDeviceSetMemPool(
                self.inner.context().device,
                pool.handle.raw()
            ))
        }
    }
}

impl MemoryPool {
    /// Lets another device use the pool's memory: what was allocated from it, and what will be. Kernels, copies and fills in streams of `peer` take
    /// such buffers by [`PeerAccess::view`] and [`PeerAccess::view_mut`]. Peer access by [`Gpu::allow_peer`] is another thing.
    ///
    /// The pool stays until the access has been given up.
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let buffer = one.stream()?.upload(&[1, 2, 3])?;
    /// let access = one.default_pool()?.allow_peer(&other)?;
    /// assert_eq!(other.stream()?.download(&access.view(&buffer)?)?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `peer` is the pool's own device, or the devices cannot reach each other.
    // covers: POOL-27, POOL-X12
    pub fn allow_peer(&self, peer: &Gpu) -> Result<PeerAccess> {
        let memory = ReachedMemory::Pool(self.handle.clone());
        PeerAccess::grant("cuMemPoolSetAccess", &self.gpu, &peer.inner, memory)
    }

    /// Where its memory lies.
    pub fn location(&self) -> Location {
        self.location
    }

    fn is_of_host(&self) -> bool {
        self.handle.is_of_host()
    }

    /// The driver's handle (`CUmemoryPool`), for calls of libraries that take one. It is valid as long as the object, or, for the
    /// default pool, as the device.
    pub fn as_raw(&self) -> *mut core::ffi::c_void {
        self.handle.raw().cast()
    }
}

impl Drop for MemoryPool {
    fn drop(&mut self) {
        if !self.handle.is_of_program() {
            return;
        }
        let ended = EndedPool(self.handle.clone());
        self.gpu.call_driver_later(|gpu| {
            gpu.report_drop(ended.0.give_place_back());
            gpu.retire_from_all(Box::new(ended));
        });
    }
}

impl std::fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "MemoryPool({:?}, {:?})",
            self.handle.raw(),
            self.handle.owner
        )
    }
}

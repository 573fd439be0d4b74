//! The driver's pool, and which devices reach its memory.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use warpsmith_driver::raw;

use crate::context::primary::Context;
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::error::Result;
use crate::memory::virtual_memory::device_location;
use crate::reclaim::{FreeCost, Reclaim};

type Flags = raw::CUmemAccess_flags;

/// Who destroys a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Who has its handle last.
    Program,
    /// Who has its handle last; the memory is the host's.
    ProgramOnHost,
    /// Who has its handle last; it is another process's, from which it was imported.
    Imported,
    /// Nobody: every device has one.
    Device,
}

/// A pool of the driver's.
pub(crate) struct PoolHandle {
    context: Arc<Context>,
    raw: Handle<raw::CUmemoryPool>,
    pub(super) owner: Owner,
    /// The buffers of an imported pool that this process has.
    pub(super) taken: Mutex<HashSet<[u8; 64]>>,
}

impl PoolHandle {
    pub(super) fn new(context: &Arc<Context>, raw: raw::CUmemoryPool, owner: Owner) -> Arc<Self> {
        Arc::new(PoolHandle {
            context: context.clone(),
            raw: Handle::new(raw),
            owner,
            taken: Mutex::default(),
        })
    }

    /// The driver's handle, valid as long as `self`.
    pub(crate) fn raw(&self) -> raw::CUmemoryPool {
        self.raw.raw()
    }

    /// What the pool's owner needs to allocate from it.
    pub(crate) fn handle(&self) -> Handle<raw::CUmemoryPool> {
        self.raw
    }

    /// Whether it is destroyed with its last share: a device's own is not.
    pub(crate) fn is_of_program(&self) -> bool {
        self.owner != Owner::Device
    }

    /// Whether its memory is the host's.
    pub(crate) fn is_of_host(&self) -> bool {
        self.owner == Owner::ProgramOnHost
    }

    /// Where this is the device's pool ([`Gpu::use_pool`](crate::Gpu::use_pool)), makes it the default one again, as a destruction would.
    pub(super) fn give_place_back(&self) -> Result<()> {
        let device = self.context.device;
        let mut current = std::ptr::null_mut();
        self.context.bind()?;
        // SAFETY: the driver writes one handle to `current`, which outlives the call.
        unsafe { call!(cuDeviceGetMemPool(&mut current, device)) }?;
        if current != self.raw() {
            return Ok(());
        }
        let default = default_of(device)?;
        // SAFETY: the default pool is the device's, and stays.
        unsafe { call!(cuDeviceSetMemPool(device, default)) }
    }

    /// Whether the memory at this address, which is allocated, comes from this pool.
    pub(crate) fn has(&self, address: u64) -> Result<bool> {
        let mut pool: raw::CUmemoryPool = std::ptr::null_mut();
        self.context.bind()?;
        // SAFETY: the driver writes one handle to `pool`, which outlives the call.
        unsafe {
            call!(cuPointerGetAttribute(
                (&raw mut pool).cast(),
                raw::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                address
            ))
        }?;
        Ok(pool == self.raw())
    }

    /// Bytes that are allocated from it and not freed.
    fn used(&self) -> Result<u64> {
        let mut bytes = 0_u64;
        // SAFETY: for this attribute the driver writes a `u64` to `bytes`, which outlives the call; `self` keeps the pool.
        unsafe {
            call!(cuMemPoolGetAttribute(
                self.raw(),
                raw::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
                (&raw mut bytes).cast()
            ))
        }?;
        Ok(bytes)
    }

    /// Whether a device reaches the pool's memory.
    pub(crate) fn is_reached_by(&self, device: raw::CUdevice) -> Result<bool> {
        // SAFETY: `self` keeps the pool.
        let flags = unsafe { access_of(self.raw(), device) }?;
        Ok(flags != Flags::CU_MEM_ACCESS_FLAGS_PROT_NONE)
    }

    /// Lets a device reach the pool's memory, what there is and what comes, or no more.
    pub(crate) fn set_reached_by(&self, device: raw::CUdevice, reached: bool) -> Result<()> {
        let flags = match reached {
            true => Flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            false => Flags::CU_MEM_ACCESS_FLAGS_PROT_NONE,
        };
        // SAFETY: `self` keeps the pool.
        unsafe { set_access(self.raw(), device, flags) }
    }
}

impl std::fmt::Debug for PoolHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PoolHandle({:?})", self.raw())
    }
}

/// The pool that a device has by itself, and keeps.
pub(super) fn default_of(device: raw::CUdevice) -> Result<raw::CUmemoryPool> {
    let mut pool = std::ptr::null_mut();
    // SAFETY: the driver writes one handle to `pool`, which outlives the call.
    unsafe { call!(cuDeviceGetDefaultMemPool(&mut pool, device)) }?;
    Ok(pool)
}

/// What a device may do with a pool's memory.
///
/// # Safety
///
/// The pool is alive.
pub(super) unsafe fn access_of(pool: raw::CUmemoryPool, device: raw::CUdevice) -> Result<Flags> {
    let mut location = device_location(device);
    let mut flags = Flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
    // SAFETY: the driver writes the flags and reads the location, which outlive the call; the pool is alive by the caller's contract.
    unsafe { call!(cuMemPoolGetAccess(&mut flags, pool, &mut location)) }?;
    Ok(flags)
}

/// Sets what a device may do with a pool's memory.
///
/// # Safety
///
/// The pool is alive.
pub(super) unsafe fn set_access(
    pool: raw::CUmemoryPool,
    device: raw::CUdevice,
    flags: Flags,
) -> Result<()> {
    let wish = raw::CUmemAccessDesc {
        location: device_location(device),
        flags,
    };
    // SAFETY: the driver reads one wish, which outlives the call; the pool is alive by the caller's contract.
    unsafe { call!(cuMemPoolSetAccess(pool, &wish, 1)) }
}

/// A pool that its owner has dropped, until all of its memory has been freed, and all work that was enqueued by then is done. The manual lets a
/// pool be destroyed before, but 580.159.04 crashes in one of the next calls if frees of its memory are still to come, and of
/// an imported pool refuses it.
pub(crate) struct EndedPool(pub(crate) Arc<PoolHandle>);

impl Reclaim for EndedPool {
    fn free_cost(&self) -> FreeCost {
        // Destroyed while frees in other streams were under way, though none of its memory, 580.159.04 crashed now and then in a later call.
        FreeCost::OnIdleDevice
    }

    /// Whether memory of the pool is not freed yet, or another device may reach it. Memory that comes from here because this was the device's pool
    /// ([`Gpu::use_pool`](crate::Gpu::use_pool)) has no share of it, so the driver is asked, too.
    fn is_in_use(&self) -> bool {
        // An error means that the context is lost.
        // What an imported pool counts is its owner's.
        Arc::strong_count(&self.0) > 1
            || (self.0.owner != Owner::Imported && self.0.used().is_ok_and(|bytes| bytes > 0))
    }

    fn free(self: Box<Self>, _: &Context) -> Result<()> {
        drop(self.0);
        Ok(())
    }
}

impl Drop for PoolHandle {
    fn drop(&mut self) {
        if self.owner == Owner::Device {
            return;
        }
        let raw = self.raw;
        // SAFETY: this handle owned the pool and is gone; what is allocated from it stays good until it is freed.
        self.context
            .destroy(move || unsafe { call!(cuMemPoolDestroy(raw.raw())) });
    }
}

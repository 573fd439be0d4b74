//! The driver's pool, and which devices reach its memory.

use std::sync::Arc;

use warpsmith_driver::raw;

use crate::context::primary::Context;
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::error::Result;
use crate::memory::virtual_memory::device_location;

type Flags = raw::CUmemAccess_flags;

/// Who destroys a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Who has its handle last.
    Program,
    /// Nobody: every device has one.
    Device,
}

/// A pool of the driver's.
pub(crate) struct PoolHandle {
    context: Arc<Context>,
    raw: Handle<raw::CUmemoryPool>,
    pub(super) owner: Owner,
}

impl PoolHandle {
    pub(super) fn new(context: &Arc<Context>, raw: raw::CUmemoryPool, owner: Owner) -> Arc<Self> {
        Arc::new(PoolHandle {
            context: context.clone(),
            raw: Handle::new(raw),
            owner,
        })
    }

    /// The driver's handle, valid as long as `self`.
    pub(crate) fn raw(&self) -> raw::CUmemoryPool {
        self.raw.raw()
    }

    /// What the pool's owner needs to allocate from it.
    pub(super) fn handle(&self) -> Handle<raw::CUmemoryPool> {
        self.raw
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

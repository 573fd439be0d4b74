//! All pools, and which ones a device has.

use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, OnceLock};

use warpsmith_abi::CUmemoryPool;

use super::shared::SharedMemory;
use super::{Pool, PoolKind};
use crate::device;
use crate::error::{Result, code};
use crate::memory::allocation::{AllocationInfo, AllocationKind};
use crate::memory::location::MemoryLocation;
use crate::memory::space::Memory;
use crate::registry::Registry;
use crate::report;
use crate::sync::lock;

/// All pools that the program can name.
pub(crate) static POOLS: Registry<Pool> = Registry::new();

/// Destroyed pools from which memory is still allocated.
static DESTROYED: Mutex<Vec<Arc<Pool>>> = Mutex::new(Vec::new());

/// A pool that this or another process has exported.
///
/// # Errors
///
/// Those of [`SharedMemory::import`]. Its device may be one that this process does not see: then no device reaches it until it is told to.
pub(crate) fn import(descriptor: BorrowedFd<'_>) -> Result<Arc<Pool>> {
    let (shared, location) = SharedMemory::import(descriptor)?;
    Ok(POOLS.add(|handle| Pool::imported(handle, location, shared)))
}

/// The pools of one device.
struct DevicePools {
    default: Arc<Pool>,
    current: Mutex<Arc<Pool>>,
}

fn of_device(device: usize) -> Result<&'static DevicePools> {
    static OF_DEVICES: OnceLock<Vec<DevicePools>> = OnceLock::new();
    let make = |device| {
        let location = MemoryLocation::Device(device);
        let default = POOLS.add(|handle| Pool::new(handle, location, PoolKind::Default, 0));
        DevicePools {
            current: Mutex::new(Arc::clone(&default)),
            default,
        }
    };
    OF_DEVICES
        .get_or_init(|| (0..device::count()).map(make).collect())
        .get(device)
        .ok_or(code::INVALID_DEVICE)
}

/// The pool that a device always has.
pub(crate) fn default_of(device: usize) -> Result<Arc<Pool>> {
    Ok(Arc::clone(&of_device(device)?.default))
}

/// The pool that allocations on a device's streams come from.
pub(crate) fn current_of(device: usize) -> Result<Arc<Pool>> {
    Ok(Arc::clone(&lock(&of_device(device)?.current)))
}

/// Makes a pool the current one of its device.
pub(crate) fn set_current(device: usize, pool: Arc<Pool>) -> Result {
    pool.refuse_imported()?;
    if !pool.is_of(device) {
        return Err(code::INVALID_VALUE);
    }
    *lock(&of_device(device)?.current) = pool;
    Ok(())
}

/// Destroys a pool; where it was current, the default one is again. What is allocated from it stays until it is freed.
pub(crate) fn destroy(handle: CUmemoryPool) -> Result {
    let pool = of_handle(handle)?;
    if pool.is_default {
        return Err(code::INVALID_VALUE);
    }
    // As measured (580.159.04).
    if pool.has_imported_memory() {
        report::remark(
            "cuMemPoolDestroy is refused: memory that was imported from the imported pool is not freed: free it, and wait for the stream",
        );
        return Err(code::INVALID_VALUE);
    }
    {
        let mut destroyed = lock(&DESTROYED);
        destroyed.retain(|known| known.is_in_use());
        destroyed.push(POOLS.remove(handle)?);
    }
    // One that was imported is never current, and its device may be one that this process does not see.
    if let Some(Ok(pools)) = pool.location.device().map(of_device) {
        let mut current = lock(&pools.current);
        if current.handle == pool.handle {
            *current = Arc::clone(&pools.default);
        }
    }
    pool.destroy();
    Ok(())
}

/// The pool of a handle.
///
/// # Errors
///
/// Invalid value if there is none, or it has been destroyed.
pub(crate) fn of_handle(handle: CUmemoryPool) -> Result<Arc<Pool>> {
    POOLS.get(handle).map_err(|_| code::INVALID_VALUE)
}

/// The pool of an identity, unless it has been destroyed.
fn find(pool: u64) -> Option<Arc<Pool>> {
    POOLS.get(pool as usize as *mut ()).ok()
}

/// The pool of an allocation, destroyed or not.
pub(crate) fn of_allocation(pool: u64) -> Option<Arc<Pool>> {
    let destroyed = || {
        let destroyed = lock(&DESTROYED);
        destroyed
            .iter()
            .find(|known| known.handle as u64 == pool)
            .cloned()
    };
    find(pool).or_else(destroyed)
}

/// The pool that memory at an address is of; `None` of any other memory.
pub(crate) fn of_address(address: usize) -> Option<Arc<Pool>> {
    match Memory::global().detail(address)?.1.kind {
        AllocationKind::Pool(pool) => of_allocation(pool),
        _ => None,
    }
}

/// The pool of the host that memory at an address is of; `None` of any other memory.
pub(crate) fn of_host_memory(address: usize) -> Option<Arc<Pool>> {
    let memory = Memory::global();
    // First what costs no lock: little memory is of such a pool.
    memory
        .find(address)
        .filter(AllocationInfo::is_of_host_pool)?;
    let (_, detail) = memory.detail(address)?;
    match detail.kind {
        AllocationKind::Pool(pool) => of_allocation(pool),
        _ => None,
    }
}

/// Another process that has imported a stream-ordered allocation of this one and has not freed it, if there is one.
pub(crate) fn importer_of(address: usize) -> Option<u32> {
    let (_, detail) = Memory::global().detail(address)?;
    let AllocationKind::Pool(pool) = detail.kind else {
        return None;
    };
    of_allocation(pool)?.importer(address)
}

/// Counts memory of a pool as free again.
pub(in crate::memory) fn give_back(pool: u64, address: usize, bytes: usize) {
    if let Some(pool) = of_allocation(pool) {
        pool.give_back(address, bytes);
    }
}

/// After a synchronisation with a device all that is freed serves everyone, and pools give back what they hold above their threshold.
pub(crate) fn after_synchronisation(device: usize) {
    POOLS
        .filter(|pool| pool.is_of(device) || pool.is_of_host())
        .iter()
        .for_each(|pool| pool.synchronised());
}

//! Stream-ordered memory pools: how much of a device's memory each holds and uses.
//!
//! Every allocation has an address of its own (see [`crate::memory`]), so that using memory after its free in stream order shows. What
//! a pool reuses is therefore not addresses but bytes: memory freed into it is *cached* and serves later requests before the pool takes
//! more from the device, in large pieces; a synchronisation gives back what exceeds the release threshold.

mod account;
mod shared;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, OnceLock};

use self::account::{Account, LIKED, Relation};
use self::shared::SharedMemory;
use super::allocation::AllocationKind;
use super::space::Memory;
use crate::device;
use crate::error::{Result, code};
use crate::registry::Registry;
use crate::sync::lock;
use crate::work::CompletionPoint;
use warpsmith_abi::{CUmemPool_attribute, CUmemoryPool};

/// All pools that the program can name.
pub(crate) static POOLS: Registry<Pool> = Registry::new();

/// A pool.
pub(crate) struct Pool {
    pub(crate) handle: usize,
    pub(crate) device: usize,
    pub(crate) is_default: bool,
    max_size: usize,
    /// The file that its allocations are parts of, if it can be exported or was imported.
    shared: Option<SharedMemory>,
    state: Mutex<PoolState>,
}

/// How a pool is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolKind {
    /// Every device has one.
    Default,
    /// It is one process's.
    Private,
    /// It can be exported.
    Shareable,
}

#[derive(Default)]
struct PoolState {
    account: Account<CompletionPoint>,
    release_threshold: u64,
    destroyed: bool,
}

impl Pool {
    /// A pool of a device; 0 bytes at most stand for no limit.
    pub(crate) fn new(handle: usize, device: usize, kind: PoolKind, max_size: usize) -> Self {
        let shared = (kind == PoolKind::Shareable).then(|| SharedMemory::create(device));
        Self {
            handle,
            device,
            is_default: kind == PoolKind::Default,
            max_size,
            shared: shared.flatten(),
            state: Mutex::default(),
        }
    }

    /// A pool that this or another process has exported.
    ///
    /// # Errors
    ///
    /// Those of [`SharedMemory::import`].
    pub(crate) fn import(descriptor: BorrowedFd<'_>) -> Result<Arc<Pool>> {
        let (shared, device) = SharedMemory::import(descriptor)?;
        Ok(POOLS.add(|handle| Pool {
            handle,
            device,
            is_default: false,
            max_size: 0,
            shared: Some(shared),
            state: Mutex::default(),
        }))
    }

    /// The file of a pool that this process has made to be exported.
    fn exportable(&self) -> Result<&SharedMemory> {
        let own = self.shared.as_ref().filter(|shared| !shared.is_imported());
        own.ok_or(code::INVALID_VALUE)
    }

    /// A file descriptor of the pool for another process.
    ///
    /// # Errors
    ///
    /// Invalid value if it was not made to be exported.
    pub(crate) fn export(&self) -> Result<OwnedFd> {
        self.exportable()?.export()
    }

    /// What another process needs to find an allocation of the pool in it.
    ///
    /// # Errors
    ///
    /// Invalid value if the pool was not made to be exported.
    pub(crate) fn export_pointer(&self, address: usize) -> Result<[u8; 64]> {
        self.exportable()?.export_pointer(address)
    }

    /// The address at which this process sees an allocation of an imported pool.
    ///
    /// # Errors
    ///
    /// Invalid value if the pool is not imported, or if the allocation is not one of it; out of memory.
    pub(crate) fn import_pointer(&self, context: u64, data: &[u8; 64]) -> Result<usize> {
        let imported = self.shared.as_ref().filter(|shared| shared.is_imported());
        let shared = imported.ok_or(code::INVALID_VALUE)?;
        let (offset, bytes) = shared.import_pointer(data)?;
        let kind = AllocationKind::Pool(self.handle as u64);
        let base = Memory::global()
            .allocate(bytes, kind, context, self.device, "cuMemPoolImportPointer")
            .ok_or(code::OUT_OF_MEMORY)?;
        shared.show(base, offset)?;
        Ok(base)
    }

    /// Refuses what an imported pool cannot do.
    pub(crate) fn refuse_imported(&self) -> Result {
        match self.is_imported() {
            true => Err(code::INVALID_VALUE),
            false => Ok(()),
        }
    }

    /// Whether its memory is counted by the process that made it.
    fn is_imported(&self) -> bool {
        self.shared.as_ref().is_some_and(SharedMemory::is_imported)
    }

    /// Whether other processes may see its allocations.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Takes memory for an allocation of a context in a stream that has come to `point`. The stream has to wait for the points that come
    /// with the address.
    pub(crate) fn allocate(
        &self,
        context: u64,
        bytes: usize,
        point: &CompletionPoint,
    ) -> Result<(usize, Vec<CompletionPoint>)> {
        let waits = self
            .reserve(bytes, Some(point))
            .ok_or(code::OUT_OF_MEMORY)?;
        let kind = AllocationKind::Pool(self.handle as u64);
        let base = Memory::global().allocate(bytes, kind, context, self.device, "cuMemAllocAsync");
        let shown = |base: &usize| match &self.shared {
            Some(shared) => shared.place(*base, bytes).is_ok(),
            None => true,
        };
        let Some(base) = base.filter(shown) else {
            lock(&self.state).account.freed(0, bytes);
            self.trim(0);
            return Err(code::OUT_OF_MEMORY);
        };
        Ok((base, waits))
    }

    /// Counts bytes as used: freed ones that may serve this allocation first, then the device's; where it has none left, what other pools
    /// hold and do not use.
    fn reserve(
        &self,
        bytes: usize,
        point: Option<&CompletionPoint>,
    ) -> Option<Vec<CompletionPoint>> {
        if device::exceeds_host(bytes) {
            return None;
        }
        take_or_release_unused(self.device, Some(self), || {
            self.reserve_from_device(bytes, point)
        })
    }

    fn reserve_from_device(
        &self,
        bytes: usize,
        point: Option<&CompletionPoint>,
    ) -> Option<Vec<CompletionPoint>> {
        let relation = |free: &CompletionPoint| match point {
            Some(point) if point.is_in_queue_of(free) => Relation::SameStream,
            Some(point) if point.is_after(free) => Relation::After,
            _ => Relation::Unknown,
        };
        let mut state = lock(&self.state);
        let limit = match self.max_size {
            0 => usize::MAX,
            most => most,
        };
        let account = &state.account;
        if state.destroyed || bytes > limit.saturating_sub(account.used) {
            return None;
        }
        // Whole pieces are taken, of which the last may go beyond the limit.
        let most = limit.checked_next_multiple_of(LIKED).unwrap_or(usize::MAX);
        let room = most.saturating_sub(account.reserved);
        state.account.allocate(bytes, relation, |more| {
            more <= room && device::take_memory(self.device, more)
        })
    }

    /// Takes bytes for memory that has its address already.
    pub(super) fn take(&self, bytes: usize) -> bool {
        self.reserve(bytes, None).is_some()
    }

    /// Says that an allocation is about to be freed in a stream.
    ///
    /// # Errors
    ///
    /// Invalid value if that was said before.
    pub(crate) fn announce_free(&self, address: usize, bytes: usize) -> Result {
        if self.is_imported() || lock(&self.state).account.announce(address, bytes) {
            return Ok(());
        }
        Err(code::INVALID_VALUE)
    }

    /// Says where the free that was announced is enqueued; nowhere if it became part of a graph or was refused.
    pub(crate) fn note_free(&self, address: usize, point: Option<CompletionPoint>) {
        if self.is_imported() {
            return;
        }
        let account = &mut lock(&self.state).account;
        match point {
            Some(point) => account.enqueued(address, point),
            None => account.withdraw(address),
        }
    }

    fn give_back(&self, address: usize, bytes: usize) {
        if self.is_imported() {
            return;
        }
        if let Some(shared) = &self.shared {
            shared.give_back(address);
        }
        let mut state = lock(&self.state);
        state.account.freed(address, bytes);
        if state.destroyed {
            state.account.synchronised();
            drop(state);
            self.trim(0);
        }
    }

    /// Gives memory that nothing uses back to the device until `keep` bytes are left.
    pub(crate) fn trim(&self, keep: usize) {
        let released = lock(&self.state).account.trim(keep);
        if released > 0 {
            device::give_memory(self.device, released);
        }
    }

    /// After a synchronisation all that is freed serves everyone, and what is above the threshold goes back.
    fn synchronised(&self) {
        let threshold = {
            let mut state = lock(&self.state);
            state.account.synchronised();
            state.release_threshold
        };
        self.trim(usize::try_from(threshold).unwrap_or(usize::MAX));
    }

    /// Ends the pool: its unused memory goes back to the device.
    fn destroy(&self) {
        {
            let mut state = lock(&self.state);
            state.destroyed = true;
            state.account.synchronised();
        }
        self.trim(0);
    }

    fn is_in_use(&self) -> bool {
        lock(&self.state).account.used > 0
    }

    pub(crate) fn attribute(&self, attribute: CUmemPool_attribute) -> Result<u64> {
        self.refuse_imported()?;
        let state = lock(&self.state);
        let account = &state.account;
        let policy = account.policy;
        Ok(match attribute {
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
                u64::from(policy.follow_event_dependencies)
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => {
                u64::from(policy.opportunistic)
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                u64::from(policy.internal_dependencies)
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => state.release_threshold,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT => account.reserved as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH => account.reserved_high as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT => account.used as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH => account.used_high as u64,
            _ => return Err(code::INVALID_VALUE),
        })
    }

    pub(crate) fn set_attribute(&self, attribute: CUmemPool_attribute, value: u64) -> Result {
        self.refuse_imported()?;
        let state = &mut *lock(&self.state);
        let account = &mut state.account;
        let policy = &mut account.policy;
        match attribute {
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
                policy.follow_event_dependencies = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => {
                policy.opportunistic = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                policy.internal_dependencies = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => {
                state.release_threshold = value
            }
            // A watermark can only be reset, and then is the present value.
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH if value == 0 => {
                account.reset_reserved_high()
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH if value == 0 => {
                account.reset_used_high()
            }
            _ => return Err(code::INVALID_VALUE),
        }
        Ok(())
    }
}

/// Whether an attribute is an `int` rather than 64 bits wide.
pub(crate) fn is_int(attribute: CUmemPool_attribute) -> bool {
    attribute.0 <= CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES.0
}

/// The pools of one device.
struct DevicePools {
    default: Arc<Pool>,
    current: Mutex<Arc<Pool>>,
}

fn of_device(device: usize) -> Result<&'static DevicePools> {
    static OF_DEVICES: OnceLock<Vec<DevicePools>> = OnceLock::new();
    let make = |device| {
        let default = POOLS.add(|handle| Pool::new(handle, device, PoolKind::Default, 0));
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
    if pool.device != device {
        return Err(code::INVALID_VALUE);
    }
    *lock(&of_device(device)?.current) = pool;
    Ok(())
}

/// Destroys a pool; where it was current, the default one is again. What is allocated from it stays until it is freed.
pub(crate) fn destroy(handle: CUmemoryPool) -> Result {
    let pool = POOLS.get(handle)?;
    if pool.is_default {
        return Err(code::INVALID_VALUE);
    }
    {
        let mut destroyed = lock(&DESTROYED);
        destroyed.retain(|known| known.is_in_use());
        destroyed.push(POOLS.remove(handle)?);
    }
    let pools = of_device(pool.device)?;
    let mut current = lock(&pools.current);
    if current.handle == pool.handle {
        *current = Arc::clone(&pools.default);
    }
    pool.destroy();
    Ok(())
}

/// The pool of an identity, unless it has been destroyed.
pub(super) fn find(pool: u64) -> Option<Arc<Pool>> {
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

/// Counts memory of a pool as free again.
pub(super) fn give_back(pool: u64, address: usize, bytes: usize) {
    if let Some(pool) = of_allocation(pool) {
        pool.give_back(address, bytes);
    }
}

/// Destroyed pools from which memory is still allocated.
static DESTROYED: Mutex<Vec<Arc<Pool>>> = Mutex::new(Vec::new());

/// After a synchronisation all that is freed serves everyone, and pools give back what they hold above their threshold.
pub(crate) fn after_synchronisation(device: usize) {
    POOLS
        .filter(|pool| pool.device == device)
        .iter()
        .for_each(|pool| pool.synchronised());
}

/// Takes memory of a device for what is in no pool.
///
/// # Errors
///
/// Out of memory, also without what pools hold and do not use.
pub(super) fn take_from_device(device: usize, bytes: usize) -> Result {
    let take = || device::take_memory(device, bytes).then_some(());
    take_or_release_unused(device, None, take).ok_or(code::OUT_OF_MEMORY)
}

/// What `take` takes from a device. Where it finds too little, it tries again after all pools of the device, but for the one that it is
/// for, have given back what nothing uses: their thresholds are hints.
fn take_or_release_unused<T>(
    device: usize,
    taker: Option<&Pool>,
    take: impl Fn() -> Option<T>,
) -> Option<T> {
    take().or_else(|| {
        let taker = taker.map(|pool| pool.handle);
        POOLS
            .filter(|pool| pool.device == device && Some(pool.handle) != taker)
            .iter()
            .for_each(|pool| pool.trim(0));
        take()
    })
}

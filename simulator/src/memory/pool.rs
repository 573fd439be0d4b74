//! Stream-ordered memory pools: how much of a device's memory each holds and uses.
//!
//! Every allocation has an address of its own (see [`crate::memory`]), so that using memory after its free in stream order shows. What
//! a pool reuses is therefore not addresses but bytes: memory freed into it is *cached* and serves later requests before the pool takes
//! more from the device, in large pieces; a synchronisation gives back what exceeds the release threshold.

use std::sync::{Arc, Mutex, OnceLock};

use super::allocation::AllocationKind;
use super::space::Memory;
use crate::device;
use crate::error::{Result, code};
use crate::registry::Registry;
use crate::sync::lock;
use warpsmith_abi::{CUmemPool_attribute, CUmemoryPool};

/// What a pool takes from its device at once.
const LIKED: usize = 32 << 20;

/// All pools that the program can name.
pub(crate) static POOLS: Registry<Pool> = Registry::new();

/// A pool.
pub(crate) struct Pool {
    pub(crate) handle: usize,
    pub(crate) device: usize,
    pub(crate) is_default: bool,
    max_size: usize,
    usage: Mutex<PoolUsage>,
}

#[derive(Clone, Copy, Default)]
struct PoolUsage {
    reserved: usize,
    used: usize,
    reserved_high: usize,
    used_high: usize,
    release_threshold: u64,
    reuse: [bool; 3],
    destroyed: bool,
}

impl Pool {
    pub(crate) fn new(handle: usize, device: usize, is_default: bool, max_size: usize) -> Self {
        let usage = PoolUsage {
            reuse: [true; 3],
            ..PoolUsage::default()
        };
        Self {
            handle,
            device,
            is_default,
            max_size,
            usage: Mutex::new(usage),
        }
    }

    /// Takes memory for an allocation of a context and gives its address.
    pub(crate) fn allocate(&self, context: u64, bytes: usize) -> Result<usize> {
        let mut usage = lock(&self.usage);
        let limit = if self.max_size > 0 {
            self.max_size
        } else {
            usize::MAX
        };
        if usage.destroyed || bytes > limit.saturating_sub(usage.used) {
            return Err(code::OUT_OF_MEMORY);
        }
        if !self.reserve(&mut usage, bytes) {
            return Err(code::OUT_OF_MEMORY);
        }
        let kind = AllocationKind::Pool(self.handle as u64);
        let Some(base) =
            Memory::global().allocate(bytes, kind, context, self.device, "cuMemAllocAsync")
        else {
            usage.used -= bytes;
            drop(usage);
            self.trim(0);
            return Err(code::OUT_OF_MEMORY);
        };
        Ok(base)
    }

    /// Counts bytes as used: cached ones first, then the device's.
    fn reserve(&self, usage: &mut PoolUsage, bytes: usize) -> bool {
        let cached = usage.reserved - usage.used;
        let missing = bytes.saturating_sub(cached);
        if device::exceeds_host(bytes) {
            return false;
        }
        // Less than it likes to take if that is all there is.
        let taken = [LIKED, device::PIECE]
            .into_iter()
            .filter_map(|piece| missing.checked_next_multiple_of(piece))
            .find(|&more| more == 0 || device::take_memory(self.device, more));
        let Some(more) = taken else {
            return false;
        };
        usage.reserved += more;
        usage.used += bytes;
        usage.reserved_high = usage.reserved_high.max(usage.reserved);
        usage.used_high = usage.used_high.max(usage.used);
        true
    }

    /// Takes bytes for memory that has its address already.
    pub(super) fn take(&self, bytes: usize) -> bool {
        self.reserve(&mut lock(&self.usage), bytes)
    }

    fn give_back(&self, bytes: usize) {
        let mut usage = lock(&self.usage);
        usage.used -= bytes;
        if usage.destroyed {
            drop(usage);
            self.trim(0);
        }
    }

    /// Gives unused memory back to the device until `keep` bytes are left.
    pub(crate) fn trim(&self, keep: usize) {
        let mut usage = lock(&self.usage);
        let left = keep.max(usage.used).div_ceil(LIKED);
        let left = usage.reserved.min(left.saturating_mul(LIKED));
        if left < usage.reserved {
            device::give_memory(self.device, usage.reserved - left);
            usage.reserved = left;
        }
    }

    /// Ends the pool: its unused memory goes back to the device.
    fn destroy(&self) {
        lock(&self.usage).destroyed = true;
        self.trim(0);
    }

    pub(crate) fn attribute(&self, attribute: CUmemPool_attribute) -> Result<u64> {
        let usage = *lock(&self.usage);
        Ok(match attribute {
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
                u64::from(usage.reuse[0])
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => {
                u64::from(usage.reuse[1])
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                u64::from(usage.reuse[2])
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => usage.release_threshold,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT => usage.reserved as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH => usage.reserved_high as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT => usage.used as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH => usage.used_high as u64,
            _ => return Err(code::INVALID_VALUE),
        })
    }

    pub(crate) fn set_attribute(&self, attribute: CUmemPool_attribute, value: u64) -> Result {
        let mut usage = lock(&self.usage);
        match attribute {
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
                usage.reuse[0] = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => {
                usage.reuse[1] = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                usage.reuse[2] = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => {
                usage.release_threshold = value
            }
            // A watermark can only be reset, and then is the present value.
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH if value == 0 => {
                usage.reserved_high = usage.reserved
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH if value == 0 => {
                usage.used_high = usage.used
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
        let default = POOLS.add(|handle| Pool::new(handle, device, true, 0));
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
        destroyed.retain(|known| lock(&known.usage).used > 0);
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

/// Counts memory of a pool as free again.
pub(super) fn give_back(pool: u64, bytes: usize) {
    let destroyed = || {
        let destroyed = lock(&DESTROYED);
        destroyed
            .iter()
            .find(|known| known.handle as u64 == pool)
            .cloned()
    };
    if let Some(pool) = find(pool).or_else(destroyed) {
        pool.give_back(bytes);
    }
}

/// Destroyed pools from which memory is still allocated.
static DESTROYED: Mutex<Vec<Arc<Pool>>> = Mutex::new(Vec::new());

/// After a synchronisation pools give back what they hold above their threshold.
pub(crate) fn after_synchronisation(device: usize) {
    for pool in POOLS.filter(|pool| pool.device == device) {
        let threshold = lock(&pool.usage).release_threshold;
        pool.trim(usize::try_from(threshold).unwrap_or(usize::MAX));
    }
}

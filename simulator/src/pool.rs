//! Stream-ordered memory pools: how much of a device's memory each holds and uses.
//!
//! Every allocation has an address of its own (see [`crate::memory`]), so that using memory after its free in stream order shows. What
//! a pool reuses is therefore not addresses but bytes: memory freed into it is *cached* and serves later requests before the pool takes
//! more from the device; a synchronisation gives back what exceeds the release threshold.

use std::sync::{Arc, Mutex, OnceLock};

use crate::abi::CUmemPool_attribute;
use crate::device;
use crate::memory::{Kind, Memory, State};
use crate::state::{Registry, Result, code, lock, registries};

/// A pool.
pub(crate) struct Pool {
    pub(crate) handle: usize,
    pub(crate) device: usize,
    pub(crate) is_default: bool,
    max_size: usize,
    book: Mutex<Book>,
}

#[derive(Clone, Copy, Default)]
struct Book {
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
        let book = Book {
            reuse: [true; 3],
            ..Book::default()
        };
        Self {
            handle,
            device,
            is_default,
            max_size,
            book: Mutex::new(book),
        }
    }

    /// Takes memory for an allocation of a context and gives its address.
    pub(crate) fn allocate(&self, context: u64, bytes: usize) -> Result<usize> {
        let mut book = lock(&self.book);
        if book.destroyed || (self.max_size > 0 && book.used + bytes > self.max_size) {
            return Err(code::OUT_OF_MEMORY);
        }
        if !self.reserve(&mut book, bytes) {
            return Err(code::OUT_OF_MEMORY);
        }
        let kind = Kind::Pool(self.handle as u64);
        let Some(base) =
            Memory::global().allocate(bytes, kind, context, self.device, "cuMemAllocAsync")
        else {
            book.used -= bytes;
            return Err(code::OUT_OF_MEMORY);
        };
        Ok(base)
    }

    /// Takes bytes into the book: cached ones first, then the device's.
    fn reserve(&self, book: &mut Book, bytes: usize) -> bool {
        let cached = book.reserved - book.used;
        let more = bytes.saturating_sub(cached);
        if device::exceeds_host(bytes) || !device::take_memory(self.device, more) {
            return false;
        }
        book.reserved += more;
        book.used += bytes;
        book.reserved_high = book.reserved_high.max(book.reserved);
        book.used_high = book.used_high.max(book.used);
        true
    }

    /// Takes bytes for memory that has its address already.
    fn take(&self, bytes: usize) -> bool {
        self.reserve(&mut lock(&self.book), bytes)
    }

    fn give_back(&self, bytes: usize) {
        let mut book = lock(&self.book);
        book.used -= bytes;
        if book.destroyed {
            drop(book);
            self.trim(0);
        }
    }

    /// Gives unused memory back to the device until `keep` bytes are left.
    pub(crate) fn trim(&self, keep: usize) {
        let mut book = lock(&self.book);
        let left = book.reserved.min(keep.max(book.used));
        device::give_memory(self.device, book.reserved - left);
        book.reserved = left;
    }

    /// Ends the pool. What is allocated from it stays until it is freed.
    pub(crate) fn destroy(&self) {
        lock(&self.book).destroyed = true;
        self.trim(0);
    }

    pub(crate) fn attribute(&self, attribute: CUmemPool_attribute) -> Result<u64> {
        let book = *lock(&self.book);
        Ok(match attribute {
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
                u64::from(book.reuse[0])
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => {
                u64::from(book.reuse[1])
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                u64::from(book.reuse[2])
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => book.release_threshold,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT => book.reserved as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH => book.reserved_high as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT => book.used as u64,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH => book.used_high as u64,
            _ => return Err(code::INVALID_VALUE),
        })
    }

    pub(crate) fn set_attribute(&self, attribute: CUmemPool_attribute, value: u64) -> Result {
        let mut book = lock(&self.book);
        match attribute {
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
                book.reuse[0] = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => {
                book.reuse[1] = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                book.reuse[2] = value != 0
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => {
                book.release_threshold = value
            }
            // A watermark can only be reset, and then is the present value.
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH if value == 0 => {
                book.reserved_high = book.reserved
            }
            CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH if value == 0 => {
                book.used_high = book.used
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

struct Pools {
    default: Arc<Pool>,
    current: Mutex<Arc<Pool>>,
}

fn of_device(device: usize) -> Result<&'static Pools> {
    static POOLS: OnceLock<Vec<Pools>> = OnceLock::new();
    let make = |device| {
        let default = registries()
            .pools
            .add(|handle| Pool::new(handle, device, true, 0));
        Pools {
            current: Mutex::new(Arc::clone(&default)),
            default,
        }
    };
    POOLS
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

/// Destroys a pool; where it was current, the default one is again.
pub(crate) fn destroy(pool: &Pool) -> Result {
    let pools = of_device(pool.device)?;
    let mut current = lock(&pools.current);
    if current.handle == pool.handle {
        *current = Arc::clone(&pools.default);
    }
    pool.destroy();
    Ok(())
}

/// Frees stream-ordered memory, or plain device memory that was given to a stream to free. `false` if it is none or already free.
pub(crate) fn free_now(address: usize) -> bool {
    let Some(info) = Memory::global().find(address) else {
        return false;
    };
    if info.base != address || info.state == State::Freed {
        return false;
    }
    crate::state::device_memory::release(address, "cuMemFreeAsync").is_some()
}

/// Brings an allocation that a graph made, and freed at its last launch, back to life at its address.
pub(crate) fn allocate_again(address: usize) -> core::result::Result<(), String> {
    let memory = Memory::global();
    let gone = || format!("the graph's allocation at {address:#x} is not known any more");
    let (info, detail) = memory.detail(address).ok_or_else(gone)?;
    if info.state == State::Live {
        // The first launch: the address came from the capture.
        return Ok(());
    }
    let Kind::Pool(pool) = detail.kind else {
        return Err(gone());
    };
    let pool = registries()
        .pools
        .get(pool as usize as *mut ())
        .map_err(|_| gone())?;
    if !pool.take(info.len) {
        return Err(format!(
            "no memory for the graph's allocation of {} bytes",
            info.len
        ));
    }
    memory.revive(address);
    Ok(())
}

/// Notes in its pool that memory has been freed.
pub(crate) fn returned(pool: u64, bytes: usize) {
    let known: &Registry<Pool> = &registries().pools;
    if let Ok(pool) = known.get(pool as usize as *mut ()) {
        pool.give_back(bytes);
    } else if let Some(pool) = lock(ORPHANS.get_or_init(Mutex::default))
        .iter()
        .find(|orphan| orphan.handle as u64 == pool)
    {
        pool.give_back(bytes);
    }
}

/// Destroyed pools, which live on for what was allocated from them.
static ORPHANS: OnceLock<Mutex<Vec<Arc<Pool>>>> = OnceLock::new();

/// Keeps a destroyed pool's book.
pub(crate) fn keep_orphan(pool: Arc<Pool>) {
    let mut orphans = lock(ORPHANS.get_or_init(Mutex::default));
    orphans.retain(|orphan| lock(&orphan.book).used > 0);
    orphans.push(pool);
}

/// After a synchronisation pools give back what they hold above their threshold.
pub(crate) fn after_synchronisation(device: usize) {
    for pool in registries().pools.filter(|pool| pool.device == device) {
        let threshold = lock(&pool.book).release_threshold;
        pool.trim(usize::try_from(threshold).unwrap_or(usize::MAX));
    }
}

//! What a pool keeps and reuses, and how much it holds.

use warpsmith_driver::raw;

use super::MemoryPool;
use crate::driver_call::call;
use crate::error::Result;
use crate::gpu::Gpu;

type Key = raw::CUmemPool_attribute;

/// How much memory a pool holds, in bytes.
// covers: POOL-19, POOL-20
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolUsage {
    /// Memory of the device, or of the host, that the pool has.
    pub reserved: u64,
    /// The part of it that is allocated. Dropped buffers do not count, even where their last use is not done.
    pub used: u64,
    /// The most that was reserved since [`MemoryPool::reset_peaks`].
    pub reserved_peak: u64,
    /// The most that was used since [`MemoryPool::reset_peaks`].
    pub used_peak: u64,
}

/// When freed memory may serve an allocation in another stream than the one it was freed in. In the same stream it always may.
///
/// All are allowed at first. Without the last two, how much a pool reserves does not depend on how fast the device was.
// covers: POOL-23, POOL-24, POOL-25, POOL-26
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReusePolicy {
    /// Where the allocating stream waits for an event that was recorded after the free.
    pub follow_event_dependencies: bool,
    /// Where the free happens to be done.
    pub opportunistic: bool,
    /// Where the driver lets the allocating stream wait for the free, rather than fail.
    pub internal_dependencies: bool,
}

impl ReusePolicy {
    /// What does not depend on the device's progress: [`follow_event_dependencies`](Self::follow_event_dependencies) alone.
    pub const DETERMINISTIC: ReusePolicy = ReusePolicy {
        follow_event_dependencies: true,
        opportunistic: false,
        internal_dependencies: false,
    };
}

impl Default for ReusePolicy {
    /// All are allowed, as in a new pool.
    fn default() -> Self {
        ReusePolicy {
            follow_event_dependencies: true,
            opportunistic: true,
            internal_dependencies: true,
        }
    }
}

impl Gpu {
    /// How many bytes of freed memory the device's default pool keeps for later allocations when a stream is waited for; what is
    /// beyond is returned to the system, which makes the next allocation slow. At first 0. Other libraries in the process share the pool.
    ///
    /// # Errors
    ///
    /// The device or the driver has no memory pools.
    pub fn keep_freed_memory(&self, bytes: u64) -> Result<()> {
        self.default_pool()?.set_release_threshold(bytes)
    }
}

impl MemoryPool {
    /// How much memory the pool holds.
    pub fn usage(&self) -> Result<PoolUsage> {
        Ok(PoolUsage {
            reserved: self.get(Key::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?,
            used: self.get(Key::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?,
            reserved_peak: self.get(Key::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)?,
            used_peak: self.get(Key::CU_MEMPOOL_ATTR_USED_MEM_HIGH)?,
        })
    }

    /// Sets both peaks to what is reserved and used at present.
    pub fn reset_peaks(&self) -> Result<()> {
        self.set(Key::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 0)?;
        self.set(Key::CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0)
    }

    /// How many bytes the pool keeps when a stream, an event or the device is waited for.
    pub fn release_threshold(&self) -> Result<u64> {
        self.get(Key::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    }

    /// Sets how many bytes the pool keeps when a stream, an event or the device is waited for; unused memory beyond goes back to the
    /// device. At first 0; `u64::MAX` keeps all. The driver may take unused memory for other allocations all the same.
    // covers: POOL-17
    pub fn set_release_threshold(&self, bytes: u64) -> Result<()> {
        self.set(Key::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, bytes)
    }

    /// Gives unused memory back to the device until `bytes` are left. What was freed but not yet waited for counts as used.
    // covers: POOL-18
    pub fn trim_to(&self, bytes: usize) -> Result<()> {
        self.gpu.bind()?;
        // SAFETY: the pool is alive, `self` owns it or the device does; the driver gives back unused memory only.
        unsafe { call!(cuMemPoolTrimTo(self.handle.raw(), bytes)) }
    }

    /// When freed memory serves other streams.
    pub fn reuse_policy(&self) -> Result<ReusePolicy> {
        let get = |key| self.get(key).map(|value| value != 0);
        Ok(ReusePolicy {
            follow_event_dependencies: get(Key::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES)?,
            opportunistic: get(Key::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC)?,
            internal_dependencies: get(Key::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)?,
        })
    }

    /// Sets when freed memory serves other streams.
    pub fn set_reuse_policy(&self, policy: ReusePolicy) -> Result<()> {
        self.set(
            Key::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
            policy.follow_event_dependencies.into(),
        )?;
        self.set(
            Key::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
            policy.opportunistic.into(),
        )?;
        self.set(
            Key::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
            policy.internal_dependencies.into(),
        )
    }

    /// A number of the pool. The driver writes 32 bits for switches and 64 for sizes: the upper half of a switch stays 0.
    fn get(&self, key: Key) -> Result<u64> {
        self.gpu.bind()?;
        let mut value = 0_u64;
        // SAFETY: the driver writes at most 64 bits to `value`, which outlives the call, the lower half first on this little-endian
        // machine; the pool is alive, `self` owns it or the device does.
        unsafe {
            call!(cuMemPoolGetAttribute(
                self.handle.raw(),
                key,
                (&raw mut value).cast()
            ))
        }
        .map_err(|error| error.while_doing(|| format!("{key:?}")))?;
        Ok(value)
    }

    fn set(&self, key: Key, value: u64) -> Result<()> {
        self.gpu.bind()?;
        let mut value = value;
        // SAFETY: the driver reads at most 64 bits from `value`, which outlives the call, and for switches its lower half on this
        // little-endian machine; the pool is alive, `self` owns it or the device does.
        unsafe {
            call!(cuMemPoolSetAttribute(
                self.handle.raw(),
                key,
                (&raw mut value).cast()
            ))
        }
        .map_err(|error| error.while_doing(|| format!("{key:?}")))
    }
}

//! The limits of a context: memory that the driver keeps for kernels, and what its caches do.

use warpsmith_driver::raw;

use super::Gpu;
use crate::driver_call::call;
use crate::error::{Code, Error, LimitError, Result};

/// A limit of a device's context (`CUlimit`), in bytes but for one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ContextLimit {
    /// Stack of each thread.
    Stack,
    /// What kernels can print between two waits of the host.
    PrintBuffer,
    /// Memory that kernels can allocate.
    Heap,
    /// How many launches of kernels by kernels can be under way: a number, not bytes.
    PendingLaunches,
    /// How much the L2 cache fetches from memory at a time, at most 128. A hint.
    L2FetchGranularity,
    /// The part of the L2 cache that is set aside for accesses that persist ([`AccessPolicyWindow`](crate::AccessPolicyWindow)), at most
    /// [`Attribute::MAX_PERSISTING_L2_CACHE_SIZE`](crate::Attribute). The driver may give less.
    PersistingL2,
}

impl ContextLimit {
    fn raw(self) -> raw::CUlimit {
        match self {
            ContextLimit::Stack => raw::CUlimit::CU_LIMIT_STACK_SIZE,
            ContextLimit::PrintBuffer => raw::CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE,
            ContextLimit::Heap => raw::CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE,
            ContextLimit::PendingLaunches => {
                raw::CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT
            }
            ContextLimit::L2FetchGranularity => raw::CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY,
            ContextLimit::PersistingL2 => raw::CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
        }
    }

    /// What a driver that refuses a value may have against it.
    fn bounds(self) -> &'static str {
        match self {
            ContextLimit::Stack => {
                "a thread has 512 KiB of local memory at most, and the device's memory must hold that of all threads that it can run at a time"
            }
            ContextLimit::PrintBuffer => {
                "it must fit into the device's memory; set it before the first launch of a kernel that prints"
            }
            ContextLimit::Heap => {
                "it must fit into the device's memory; set it before a module is loaded whose kernels allocate"
            }
            ContextLimit::PendingLaunches => {
                "it must fit into the device's memory; set it before the first launch of a kernel that launches others"
            }
            ContextLimit::L2FetchGranularity => "0 to 128 bytes",
            ContextLimit::PersistingL2 => {
                "under MPS it is set where the server is started (CUDA_DEVICE_DEFAULT_PERSISTING_L2_CACHE_PERCENTAGE_LIMIT)"
            }
        }
    }
}

impl Gpu {
    /// The value of a limit.
    ///
    /// # Errors
    ///
    /// The device does not have it, or an earlier fault on the device.
    // covers: ERROR-06, L2-02
    pub fn limit(&self, limit: ContextLimit) -> Result<usize> {
        self.inner.bind()?;
        let mut value = 0;
        // SAFETY: the driver writes one number to `value`, which outlives the call.
        unsafe { call!(cuCtxGetLimit(&mut value, limit.raw())) }
            .map_err(|error| error.while_doing(|| format!("{limit:?}")))?;
        Ok(value)
    }

    /// Sets a limit for the launches that follow, and gives what it is from now on: the driver rounds, and takes some of them for wishes.
    /// It belongs to the device's primary context, which the whole process shares.
    ///
    /// ```
    /// use warpsmith_host::ContextLimit;
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let most = gpu.attribute(Attribute::MAX_PERSISTING_L2_CACHE_SIZE)? as usize;
    /// let set_aside = gpu.set_limit(ContextLimit::PersistingL2, most / 2)?;
    /// assert!(set_aside <= most);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the device has not as much memory, or where more of the L2 cache is to be set aside than can be, [`Error::Unsupported`] where nothing can: on old devices
    /// and on such as are divided. [`Error::Driver`] where the driver refuses: it cannot change the heap once kernels have used it, nor
    /// the set-aside under MPS.
    // covers: ERROR-06, L2-02, L2-03
    pub fn set_limit(&self, limit: ContextLimit, value: usize) -> Result<usize> {
        match limit {
            ContextLimit::PersistingL2 => self.check_set_aside(value as u64)?,
            ContextLimit::PrintBuffer | ContextLimit::Heap | ContextLimit::PendingLaunches => {
                self.check_memory_for(limit, value)?
            }
            ContextLimit::Stack | ContextLimit::L2FetchGranularity => {}
        }
        self.inner.bind()?;
        // SAFETY: the call takes two numbers, and refuses what it cannot do.
        unsafe { call!(cuCtxSetLimit(limit.raw(), value)) }.map_err(|error| {
            error
                .while_doing(|| format!("{limit:?} of {value}"))
                .with_hint(|| limit.bounds().into())
        })?;
        self.limit(limit)
    }

    /// Bytes of stack that each thread has. Applies to later launches.
    pub fn stack_size(&self) -> Result<usize> {
        self.limit(ContextLimit::Stack)
    }

    /// Sets the stack of each thread, for deep recursion. The driver may round up.
    pub fn set_stack_size(&self, bytes: usize) -> Result<()> {
        self.set_limit(ContextLimit::Stack, bytes).map(drop)
    }

    /// What the driver sets aside in the device's memory, in bytes or in launches of at least one. It does so only when a module is loaded
    /// that needs it, which would fail then.
    fn check_memory_for(&self, limit: ContextLimit, value: usize) -> Result<()> {
        let most = self.total_memory();
        if value <= most {
            return Ok(());
        }
        Err(Error::Limit(Box::new(LimitError {
            call: "cuCtxSetLimit",
            code: Code::OUT_OF_MEMORY,
            subject: format!("{limit:?}"),
            what: "what the device's memory has to hold",
            value: value as u64,
            limit: most as u64,
            hint: limit.bounds().into(),
        })))
    }

    fn check_set_aside(&self, value: u64) -> Result<()> {
        let most = u64::from(self.inner.limits().persisting_l2);
        if most == 0 {
            return Err(Error::unsupported(
                "setting part of the L2 cache aside",
                "a device since compute capability 8.0 that is not divided (`Attribute::MAX_PERSISTING_L2_CACHE_SIZE`)",
            ));
        }
        if value > most {
            return Err(Error::Limit(Box::new(LimitError {
                call: "cuCtxSetLimit",
                code: Code::INVALID_VALUE,
                subject: "L2 cache".into(),
                what: "the part that is set aside in bytes",
                value,
                limit: most,
                hint: "`Attribute::MAX_PERSISTING_L2_CACHE_SIZE` says how much it can be".into(),
            })));
        }
        Ok(())
    }
}

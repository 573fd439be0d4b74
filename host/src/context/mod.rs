//! The primary context and all that belongs to it; shared by every object made from it.

pub(crate) mod choice;

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use cust::context::Context;
use cust::device::Device;

use crate::context::choice::{Attribute, DeviceChoice};
use crate::driver_call::{self, call};
use crate::error::{Code, Error, HostFunctionPanic, KernelPanic, Result, report_drop_error};
use crate::memory::allocation::Orphan;
use crate::module::panics::PanicSlot;
use crate::reclaim::Retired;
use crate::stream::StreamInner;
use warpsmith_driver::raw;

/// What launches check against, asked for once.
pub(crate) struct Limits {
    pub(crate) threads: u32,
    pub(crate) block: [u32; 3],
    pub(crate) grid: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) shared_optin: u32,
    pub(crate) multiprocessors: u32,
    pub(crate) warps_per_multiprocessor: u32,
    pub(crate) clusters: bool,
    pub(crate) cooperative: bool,
    pub(crate) pools: bool,
    pub(crate) managed: bool,
    pub(crate) concurrent_managed: bool,
}

/// Reasons for a launch to take its slow path ([`GpuInner::attention`]).
pub(crate) mod attention {
    /// Synchronise after every launch, to pin a fault to it.
    pub(crate) const BLOCKING: u32 = 1 << 31;
    /// There is unified memory on a device that cannot share it: every launch looks at [`HOST_ACCESSES`] under the order lock.
    pub(crate) const UNSHARED: u32 = 1 << 30;
    /// The low bits count host accesses to unified memory that no kernel may run beside.
    pub(crate) const HOST_ACCESSES: u32 = UNSHARED - 1;
}

pub(crate) struct GpuInner {
    context: ManuallyDrop<Context>,
    pub(crate) raw_context: raw::CUcontext,
    pub(crate) device: raw::CUdevice,
    pub(crate) choice: DeviceChoice,
    pub(crate) name: String,
    pub(crate) capability: (i32, i32),
    pub(crate) total_memory: usize,
    pub(crate) limits: Limits,
    /// Held while the order of a buffer's uses is worked out *and* the work enqueued, whenever more than one stream is involved.
    order: Mutex<()>,
    pub(crate) attention: AtomicU32,
    /// Captures under way.
    pub(crate) captures: AtomicU32,
    /// Set by the first fault that costs the context: destructors keep quiet from then on.
    pub(crate) lost: AtomicBool,
    pub(crate) streams: Mutex<Vec<Weak<StreamInner>>>,
    pub(crate) panics: RwLock<Vec<Arc<PanicSlot>>>,
    /// Panics of modules that are gone.
    pub(crate) late_panics: Mutex<Vec<KernelPanic>>,
    pub(crate) host_panics: Mutex<Vec<String>>,
    pub(crate) host_panicked: AtomicBool,
    pub(crate) retired: Mutex<Vec<Retired>>,
    /// Memory that was dropped on a thread of the driver, where it could not be freed.
    pub(crate) orphans: Mutex<Vec<Orphan>>,
    /// A stream of our own, for frees that must wait for several streams.
    pub(crate) errands: raw::CUstream,
}

// SAFETY: the driver's handles may be used from any thread; everything else inside is behind locks or atomics.
unsafe impl Send for GpuInner {}
// SAFETY: as above.
unsafe impl Sync for GpuInner {}

/// A lock whose holder cannot leave it half-changed in a way that matters: poisoning is ignored.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn device_attribute(device: raw::CUdevice, attribute: Attribute) -> Result<i32> {
    let mut value = 0;
    // SAFETY: the result outlives the call; any number may be asked for.
    unsafe {
        call!(cuDeviceGetAttribute(
            &mut value,
            raw::CUdevice_attribute(attribute.0),
            device
        ))
    }
    .map_err(|error| error.while_doing(|| format!("{attribute:?}")))?;
    Ok(value)
}

impl GpuInner {
    pub(crate) fn new(choice: DeviceChoice) -> Result<GpuInner> {
        let count = Device::num_devices()
            .map_err(|error| driver_call::cust_failed("cuDeviceGetCount", error))?;
        if choice.ordinal() >= count {
            return Err(Error::misuse(
                "cuDeviceGet",
                if count == 0 {
                    Code::NO_DEVICE
                } else {
                    Code::INVALID_DEVICE
                },
                format!("there is no device `{choice}`: the driver shows {count}"),
                "`Gpu::devices()` lists them; WARPSMITH_DEVICE=simulator needs none",
            ));
        }
        let device = Device::get_device(choice.ordinal())
            .map_err(|error| driver_call::cust_failed("cuDeviceGet", error))?;
        let name = device
            .name()
            .map_err(|error| driver_call::cust_failed("cuDeviceGetName", error))?;
        let total_memory = device
            .total_memory()
            .map_err(|error| driver_call::cust_failed("cuDeviceTotalMem", error))?;
        let context = Context::new(device).map_err(|error| {
            driver_call::cust_failed("cuDevicePrimaryCtxRetain", error)
                .while_doing(|| format!("opening {choice}"))
        })?;
        let raw_context = context.as_raw().cast();
        // cust does not look at what cuCtxSetCurrent answered.
        // SAFETY: the context was just retained.
        unsafe { call!(cuCtxSetCurrent(raw_context)) }?;
        let device = device.as_raw();
        let get = |attribute| device_attribute(device, attribute).map(|value| value.max(0) as u32);
        // An attribute that an old driver does not know means that it lacks the feature.
        let has = |attribute| device_attribute(device, attribute).is_ok_and(|value| value != 0);
        let limits = Limits {
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
            managed: has(Attribute::MANAGED_MEMORY),
            concurrent_managed: has(Attribute::CONCURRENT_MANAGED_ACCESS),
        };
        let capability = (
            device_attribute(device, Attribute::COMPUTE_CAPABILITY_MAJOR)?,
            device_attribute(device, Attribute::COMPUTE_CAPABILITY_MINOR)?,
        );
        let mut errands = std::ptr::null_mut();
        // SAFETY: the result outlives the call; the context is current.
        unsafe {
            call!(cuStreamCreateWithPriority(
                &mut errands,
                raw::CUstream_flags::CU_STREAM_NON_BLOCKING.0,
                0
            ))
        }?;
        // covers: ERROR-03
        let blocking =
            std::env::var_os("WARPSMITH_LAUNCH_BLOCKING").is_some_and(|value| value == "1");
        Ok(GpuInner {
            context: ManuallyDrop::new(context),
            raw_context,
            device,
            choice,
            name,
            capability,
            total_memory,
            limits,
            order: Mutex::new(()),
            attention: AtomicU32::new(if blocking { attention::BLOCKING } else { 0 }),
            captures: AtomicU32::new(0),
            lost: AtomicBool::new(false),
            streams: Mutex::new(Vec::new()),
            panics: RwLock::new(Vec::new()),
            late_panics: Mutex::new(Vec::new()),
            host_panics: Mutex::new(Vec::new()),
            host_panicked: AtomicBool::new(false),
            retired: Mutex::new(Vec::new()),
            orphans: Mutex::new(Vec::new()),
            errands,
        })
    }

    /// Makes the context current on this thread.
    // covers: DRV-03
    #[inline]
    pub(crate) fn bind(&self) -> Result<()> {
        let mut current = std::ptr::null_mut();
        // SAFETY: the result outlives the call.
        let code = unsafe { raw::cuCtxGetCurrent(&mut current) };
        if code.0 == 0 && current == self.raw_context {
            Ok(())
        } else {
            self.bind_slowly()
        }
    }

    #[cold]
    fn bind_slowly(&self) -> Result<()> {
        // SAFETY: `self` holds the context.
        unsafe { call!(cuCtxSetCurrent(self.raw_context)) }
    }

    pub(crate) fn order(&self) -> MutexGuard<'_, ()> {
        lock(&self.order)
    }

    /// What every wait for the device ends with: errors in the order of their interest.
    pub(crate) fn after_wait(&self, call: &'static str, done: Result<()>) -> Result<()> {
        if let Err(error) = &done
            && error.code().is_some_and(Code::is_fatal)
        {
            self.lost.store(true, Ordering::Relaxed);
        }
        self.take_kernel_panic()?;
        done?;
        if self.host_panicked.swap(false, Ordering::Acquire)
            && let Some(message) = lock(&self.host_panics).pop()
        {
            return Err(Error::HostFunctionPanic(Box::new(HostFunctionPanic {
                call,
                message,
            })));
        }
        self.reclaim();
        Ok(())
    }

    /// Copies to the device and waits, beside all streams: the legacy stream, which the plain call uses, is not permitted while some
    /// streams are captured.
    ///
    /// # Safety
    ///
    /// Both ranges are valid, and nothing on the device uses the second.
    pub(crate) unsafe fn write_now(&self, to: u64, from: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: by the contract; the wait comes before the source's borrow ends.
        unsafe {
            call!(cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, self.errands))?;
            call!(cuStreamSynchronize(self.errands))
        }
    }

    /// As [`write_now`](Self::write_now), to the host.
    ///
    /// # Safety
    ///
    /// Both ranges are valid, and nothing on the device writes the first.
    pub(crate) unsafe fn read_now(&self, to: *mut u8, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: by the contract; the wait comes before the destination's borrow ends.
        unsafe {
            call!(cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, self.errands))?;
            call!(cuStreamSynchronize(self.errands))
        }
    }

    /// For destructors: reports what could not be done, unless the context is lost and nothing can.
    pub(crate) fn report_drop(&self, result: Result<()>) {
        if let Err(error) = result
            && !self.lost.load(Ordering::Relaxed)
            && error.code() != Some(Code::DEINITIALIZED)
        {
            report_drop_error(&error);
        }
    }
}

impl Drop for GpuInner {
    fn drop(&mut self) {
        if let Err(error) = self.bind() {
            return self.report_drop(Err(error));
        }
        // The last object of this context: nothing else can be in flight that anybody still waits for, but frees and host memory
        // that waits for its turn may be.
        // SAFETY: the context is current.
        let idle = unsafe { call!(cuCtxSynchronize()) };
        if idle.is_err() {
            self.lost.store(true, Ordering::Relaxed);
        }
        self.reclaim_all();
        // SAFETY: made in `new`, used nowhere any more.
        let result = unsafe { call!(cuStreamDestroy_v2(self.errands)) };
        self.report_drop(result);
        // SAFETY: taken once, here.
        let context = unsafe { ManuallyDrop::take(&mut self.context) };
        if let Err((error, context)) = Context::drop(context) {
            std::mem::forget(context);
            self.report_drop(Err(driver_call::cust_failed(
                "cuDevicePrimaryCtxRelease",
                error,
            )));
        }
    }
}

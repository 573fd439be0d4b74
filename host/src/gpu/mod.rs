//! A device with its primary context, from which everything else comes.
//!
//! The context is the driver's *primary* one, which libraries built on the CUDA runtime share. It is held by every object that was
//! made from it and given back when the last of them is gone, so objects can be dropped in any order. Calls make it current on the
//! calling thread if it is not and the driver looks at it.

mod callers_context;
pub(crate) mod driver_variables;
mod graph_memory;
pub(crate) mod info;
pub(crate) mod limits;
mod observe;
mod of_context;
pub(crate) mod open_device;
pub(crate) mod peer;
pub(crate) mod pointer;
pub(crate) mod profiler;
pub(crate) mod properties;
mod reset;
mod trace;
pub(crate) mod unified_support;

use std::sync::{Arc, Mutex, Weak};

use cust::device::Device;
use warpsmith_driver::{Backend, Choice, raw};

use crate::context::attribute::Attribute;
use crate::context::capability::ComputeCapability;
use crate::context::choice::{DeviceChoice, DeviceInfo};
use crate::context::uuid::Uuid;
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Result};
use crate::sync::lock;
use info::{CudaVersion, MemoryInfo};
use open_device::OpenDevice;

/// A device, opened. Cheap to clone; usable from any thread.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// assert!(gpu.is_simulator());
/// println!("{} with compute capability {}", gpu.name(), gpu.compute_capability());
/// # Ok(())
/// # }
/// ```
// covers: BUILD-13, DRV-01, DRV-07
#[derive(Clone)]
pub struct Gpu {
    pub(crate) inner: Arc<OpenDevice>,
}

/// The devices that are open, so that opening one again gives the same object.
static OPEN: Mutex<Vec<Weak<OpenDevice>>> = Mutex::new(Vec::new());

fn start(choice: Choice) -> Result<Backend> {
    let backend = warpsmith_driver::select(choice)?;
    cust::init(cust::CudaFlags::empty())
        .map_err(|error| driver_call::cust_failed("cuInit", error))?;
    Ok(backend)
}

impl From<&Arc<OpenDevice>> for Gpu {
    fn from(inner: &Arc<OpenDevice>) -> Gpu {
        Gpu {
            inner: inner.clone(),
        }
    }
}

impl Gpu {
    /// Opens the device that `WARPSMITH_DEVICE` names (`simulator`, `simulator:N`, `cuda`, `cuda:N`); where it is not set, the first GPU if there
    /// is one, else the simulator.
    ///
    /// # Errors
    ///
    /// The variable holds something else, the driver cannot be loaded, or the device does not exist.
    pub fn open_default() -> Result<Gpu> {
        match DeviceChoice::from_env()? {
            Some(choice) => Gpu::open(choice),
            None => match start(Choice::Default)? {
                Backend::Simulator => Gpu::open(DeviceChoice::Simulator),
                Backend::Cuda => Gpu::open(DeviceChoice::Cuda(0)),
            },
        }
    }

    /// Opens this device. A process works with one driver, the machine's or the simulator, so the second kind of device is refused.
    ///
    /// # Errors
    ///
    /// The driver cannot be loaded or has no such device.
    pub fn open(choice: DeviceChoice) -> Result<Gpu> {
        let choice = choice.canonical();
        start(match choice.is_simulator() {
            true => Choice::Simulator,
            false => Choice::Cuda,
        })?;
        let mut open = lock(&OPEN);
        open.retain(|gpu| gpu.strong_count() > 0);
        if let Some(inner) = open
            .iter()
            .filter_map(Weak::upgrade)
            .find(|gpu| gpu.context().choice == choice)
        {
            return Ok(Gpu { inner });
        }
        let inner = Arc::new(OpenDevice::new(choice)?);
        open.push(Arc::downgrade(&inner));
        Ok(Gpu { inner })
    }

    /// The devices of the driver that this process uses (or would use by default).
    pub fn devices() -> Result<Vec<DeviceInfo>> {
        let backend = start(Choice::Default)?;
        let count = Device::num_devices()
            .map_err(|error| driver_call::cust_failed("cuDeviceGetCount", error))?;
        (0..count)
            .map(|ordinal| {
                let device = Device::get_device(ordinal)
                    .map_err(|error| driver_call::cust_failed("cuDeviceGet", error))?;
                Ok(DeviceInfo {
                    choice: match backend {
                        Backend::Simulator => DeviceChoice::simulated(ordinal),
                        Backend::Cuda => DeviceChoice::Cuda(ordinal),
                    },
                    name: device
                        .name()
                        .map_err(|error| driver_call::cust_failed("cuDeviceGetName", error))?,
                    compute_capability: ComputeCapability::of(device.as_raw())?,
                    total_memory: device
                        .total_memory()
                        .map_err(|error| driver_call::cust_failed("cuDeviceTotalMem", error))?,
                    uuid: Uuid::of(device.as_raw())?,
                })
            })
            .collect()
    }

    /// The device that has this UUID, by which other interfaces name it, too (Vulkan's `deviceUUID`); `None` if the driver shows none. What
    /// they export is imported on the device that has made it alone. Of another interface's 16 bytes it is `Uuid(bytes)`.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let _gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let device_uuid = Gpu::devices()?[0].uuid;
    /// let info = Gpu::device_with_uuid(device_uuid)?.expect("it is there");
    /// let gpu = Gpu::open(info.choice)?;
    /// # Ok(())
    /// # }
    /// ```
    // covers: INTEROP-08
    pub fn device_with_uuid(uuid: Uuid) -> Result<Option<DeviceInfo>> {
        Ok(Gpu::devices()?.into_iter().find(|info| info.uuid == uuid))
    }

    /// The device's name.
    pub fn name(&self) -> String {
        self.inner.context().name.clone()
    }

    /// Whether this is the simulator.
    pub fn is_simulator(&self) -> bool {
        self.inner.context().choice.is_simulator()
    }

    /// How this device was chosen.
    pub fn choice(&self) -> DeviceChoice {
        self.inner.context().choice
    }

    /// The compute capability, 9.0 for Hopper.
    pub fn compute_capability(&self) -> ComputeCapability {
        self.inner.context().capability
    }

    /// One of the numbers that the device reports about itself.
    ///
    /// # Errors
    ///
    /// The driver does not know this attribute.
    pub fn attribute(&self, attribute: Attribute) -> Result<i32> {
        attribute.of(self.inner.context().device)
    }

    /// As [`attribute`](Self::attribute), of a driver that may be older than the attribute: `None` where it does not know it.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// // Pools came with CUDA 11.2, their export with 11.3.
    /// let has_pools = gpu.attribute_if_known(Attribute::MEMORY_POOLS_SUPPORTED)?.unwrap_or(0) != 0;
    /// let handles = gpu.attribute_if_known(Attribute::MEMPOOL_SUPPORTED_HANDLE_TYPES)?.unwrap_or(0);
    /// assert!(has_pools && handles & 1 != 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The driver fails otherwise.
    pub fn attribute_if_known(&self, attribute: Attribute) -> Result<Option<i32>> {
        attribute.of_if_known(self.inner.context().device)
    }

    /// Makes the device's context current on this thread, for another library that looks there. What this crate does needs none to be
    /// current, and may leave that of the device current that it used.
    pub fn make_current(&self) -> Result<()> {
        self.inner.bind()
    }

    /// The device's memory in bytes.
    pub fn total_memory(&self) -> usize {
        self.inner.context().total_memory
    }

    /// How much device memory is free, and how much there is.
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        self.inner.bind()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the driver writes one number each to `free` and `total`, which outlive the call.
        unsafe { call!(cuMemGetInfo_v2(&mut free, &mut total)) }?;
        Ok(MemoryInfo { free, total })
    }

    /// The newest version of CUDA that the driver supports.
    pub fn driver_version(&self) -> CudaVersion {
        let mut version = 0;
        // SAFETY: the driver writes one number to `version`, which outlives the call.
        let _ = unsafe { raw::cuDriverGetVersion(&mut version) };
        let version = version.max(0) as u32;
        CudaVersion {
            major: version / 1000,
            minor: version % 1000 / 10,
        }
    }

    /// Waits until the device has done everything that was ever enqueued, in all streams.
    ///
    /// # Errors
    ///
    /// What went wrong and no other wait has told: kernels' panics, in streams that were dropped, too; a fault; a panic of a host function.
    /// While a stream is being captured the device cannot be waited for; the attempt is refused and leaves the capture as it is.
    // covers: STREAM-10, GRAPH-33
    pub fn synchronize(&self) -> Result<()> {
        if self.inner.order().is_capturing() {
            return Err(Error::misuse(
                "cuCtxSynchronize",
                Code::STREAM_CAPTURE_UNSUPPORTED,
                "a stream is being captured, which cannot be waited for",
                "wait for the streams that are not, each by its `synchronize`, or for the device after the capture",
            ));
        }
        self.inner.bind()?;
        let reach = self.inner.order().reach();
        // SAFETY: the call takes no arguments; it refers to the context that `bind` made current.
        let done = unsafe { call!(cuCtxSynchronize()) };
        self.inner.after_wait("cuCtxSynchronize", &reach, done)
    }
}

/// Equal where they are one open device: opening a device again gives the same, until its context is lost or reset.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// assert_eq!(gpu, Gpu::open(DeviceChoice::Simulator)?);
/// # Ok(())
/// # }
/// ```
impl PartialEq for Gpu {
    fn eq(&self, other: &Gpu) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Gpu {}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Gpu({}, {})",
            self.inner.context().choice,
            self.inner.context().name
        )
    }
}

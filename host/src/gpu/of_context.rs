//! The device of a context that another library made current, and the handle of this crate's.

use std::ffi::c_void;

use cust::device::Device;
use warpsmith_driver::{Backend, Choice, raw};

use super::{Gpu, start};
use crate::context::choice::DeviceChoice;
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Result};

const CALL: &str = "Gpu::of_current_context";

impl Gpu {
    /// The device whose primary context is current on this thread, as another library has made it: the CUDA runtime, and so PyTorch; `cudarc`; or `cust`.
    /// The context is retained once more, so it outlives its library's use.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// gpu.make_current()?;             // or a library has
    /// let same = Gpu::of_current_context()?;
    /// assert_eq!(same.as_raw_context(), gpu.as_raw_context());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// No context is current; or one that is not its device's primary one (`cuCtxCreate`), whose memory and streams are of no use in another.
    pub fn of_current_context() -> Result<Gpu> {
        let backend = start(Choice::Default)?;
        let mut current = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `current`, which outlives the call.
        unsafe { call!(cuCtxGetCurrent(&mut current)) }?;
        if current.is_null() {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_CONTEXT,
                "no context is current on this thread",
                "call this after the other library has made its own current, or name the device: `Gpu::open`",
            ));
        }
        let mut device = 0;
        // SAFETY: the driver writes one number to `device`, which outlives the call.
        unsafe { call!(cuCtxGetDevice(&mut device)) }?;
        let gpu = Gpu::open(choice_of(backend, device)?);
        // Opening has made the primary context current.
        if let Ok(gpu) = &gpu
            && gpu.inner.context().raw() != current
        {
            // SAFETY: the context was current when this was called.
            unsafe { call!(cuCtxSetCurrent(current)) }?;
            return Err(Error::misuse(
                CALL,
                Code::INVALID_CONTEXT,
                format!(
                    "the current context is not the primary one of {}",
                    gpu.choice()
                ),
                "have the other library use the primary context (`cuDevicePrimaryCtxRetain`), or exchange data by way of the host",
            ));
        }
        gpu
    }

    /// The driver's handle (`CUcontext`) of the device's primary context, for libraries that take one. It is valid as long as this device is
    /// open, or somebody else retains it.
    pub fn as_raw_context(&self) -> *mut c_void {
        self.inner.context().raw().cast()
    }
}

/// The name of a device of the driver.
fn choice_of(backend: Backend, device: raw::CUdevice) -> Result<DeviceChoice> {
    let failed = |call| move |error| driver_call::cust_failed(call, error);
    let count = Device::num_devices().map_err(failed("cuDeviceGetCount"))?;
    for ordinal in 0..count {
        let known = Device::get_device(ordinal).map_err(failed("cuDeviceGet"))?;
        if known.as_raw() == device {
            return Ok(match backend {
                Backend::Simulator => DeviceChoice::simulated(ordinal),
                Backend::Cuda => DeviceChoice::Cuda(ordinal),
            });
        }
    }
    Err(Error::misuse(
        CALL,
        Code::INVALID_DEVICE,
        format!("the current context is of device {device}, which the driver does not list"),
        "name the device: `Gpu::open`",
    ))
}

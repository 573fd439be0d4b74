//! Profiling tools told where to look.

use std::sync::Arc;

use super::Gpu;
use super::open_device::{DeviceState, OpenDevice};
use crate::driver_call::call;
use crate::error::Result;
use crate::sync::lock;

/// While one of a device is there, a profiling tool collects: see [`Gpu::start_profiler`].
#[must_use = "the tool stops at once"]
pub struct ProfilerGuard {
    /// `None` when it has stopped.
    gpu: Option<Arc<OpenDevice>>,
}

impl Gpu {
    /// Has the profiling tool that the program runs under collect what this device does, until the result is dropped: `cuProfilerStart` and
    /// `cuProfilerStop`. That is for tools that were told to wait for it, `nsys profile --capture-range=cudaProfilerApi` and
    /// `ncu --profile-from-start off`; without a tool it does nothing, as on the simulator.
    ///
    /// The guards of a device may overlap: the tool stops with the last. A guard that is forgotten leaves it on.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let warm = stream.upload(&[1_u32; 1000])?;              // not collected
    /// stream.synchronize()?;
    /// let profiler = gpu.start_profiler()?;
    /// let words = stream.download(&warm)?;
    /// profiler.stop()?;
    /// # drop(words);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Dropping it waits for nothing: wait for the streams before, or what they still hold is not collected.
    ///
    /// # Errors
    ///
    /// Something went wrong on the device before.
    pub fn start_profiler(&self) -> Result<ProfilerGuard> {
        self.inner.bind()?;
        let mut guards = lock(self.inner.profiler_guards());
        if *guards == 0 {
            // SAFETY: the call takes no arguments; it refers to the context that `bind` made current.
            unsafe { call!(cuProfilerStart()) }?;
        }
        *guards += 1;
        Ok(ProfilerGuard {
            gpu: Some(self.inner.clone()),
        })
    }
}

impl ProfilerGuard {
    /// As dropping it, with the error that the drop would report by the hook ([`set_drop_error_hook`](crate::set_drop_error_hook)).
    ///
    /// # Errors
    ///
    /// Something went wrong on the device before; or this is a function of the host in a stream, after which the tool is stopped all the same.
    pub fn stop(mut self) -> Result<()> {
        if let Some(gpu) = &self.gpu {
            // Where the driver may not be called, the drop sees to it later.
            gpu.bind()?;
        }
        self.gpu.take().map_or(Ok(()), |gpu| leave(&gpu))
    }
}

/// One guard less.
fn leave(gpu: &DeviceState) -> Result<()> {
    let mut guards = lock(gpu.profiler_guards());
    *guards -= 1;
    if *guards > 0 {
        return Ok(());
    }
    gpu.bind()?;
    // SAFETY: the call takes no arguments; it refers to the context that `bind` made current.
    unsafe { call!(cuProfilerStop()) }
}

impl Drop for ProfilerGuard {
    fn drop(&mut self) {
        if let Some(gpu) = self.gpu.take() {
            gpu.call_driver_later(|gpu| gpu.report_drop(leave(gpu)));
        }
    }
}

impl std::fmt::Debug for ProfilerGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let choice = self.gpu.as_ref().map(|gpu| gpu.context().choice);
        f.debug_tuple("ProfilerGuard").field(&choice).finish()
    }
}

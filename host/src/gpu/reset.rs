//! Leaving a device's context and entering a new one.

use std::sync::Arc;

use warpsmith_driver::raw;

use super::{Gpu, OPEN};
use crate::driver_call::call;
use crate::error::{Busy, Error, Refused, Result};
use crate::sync::lock;

const CALL: &str = "Gpu::reset";

impl Gpu {
    /// Ends the device's context in this process, with all that the driver keeps in it (limits, the default pool's memory, loaded modules, an
    /// error that stays), and opens the device anew. Waits for all work. It is safe because it only takes what this value has: `cudaDeviceReset`
    /// takes everybody's.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stack = gpu.stack_size()?;
    /// gpu.set_stack_size(4 * stack)?;
    /// let gpu = gpu.reset()?;
    /// assert_eq!(gpu.stack_size()?, stack);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Something else that was made from the device is alive, in this crate or in another library of the process that has the primary context.
    /// Then nothing has changed, and the error has the device ([`Refused::value`]). Or the device cannot be opened any more: after a fault a
    /// real driver refuses until the process ends. Then the value is empty.
    pub fn reset(self) -> Result<Gpu, Refused<Option<Gpu>>> {
        let choice = self.choice();
        let device = self.inner.context().device;
        {
            let mut open = lock(&OPEN);
            // Others get a share by this list alone, or from one that they have.
            if Arc::strong_count(&self.inner) != 1 {
                let error = busy(
                    "something that was made from the device is alive: a buffer, stream, module, graph or another `Gpu`",
                );
                return Err(Refused::new(error, Some(self)));
            }
            open.retain(|gpu| !std::ptr::eq(gpu.as_ptr(), Arc::as_ptr(&self.inner)));
        }
        drop(self);
        let is_shared = is_active(device).map_err(|error| Refused::new(error, None))?;
        let gpu = Gpu::open(choice).map_err(|error| Refused::new(error, None))?;
        if is_shared {
            let error = busy(
                "another library of this process has the device's primary context, or memory of another device was used on this one",
            );
            return Err(Refused::new(error, Some(gpu)));
        }
        Ok(gpu)
    }
}

fn busy(reason: &str) -> Error {
    Error::Busy(Box::new(Busy {
        call: CALL,
        reason: reason.into(),
        hint: "drop all of it first",
    }))
}

/// Whether somebody has the device's primary context.
fn is_active(device: raw::CUdevice) -> Result<bool> {
    let (mut flags, mut active) = (0, 0);
    // SAFETY: the driver writes one number each to `flags` and `active`, which outlive the call.
    unsafe { call!(cuDevicePrimaryCtxGetState(device, &mut flags, &mut active)) }?;
    Ok(active != 0)
}

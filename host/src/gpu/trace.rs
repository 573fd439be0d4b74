//! The trace of what devices do, written on request.

use std::sync::Weak;

use super::{Gpu, OPEN};
use crate::error::Result;
use crate::sync::lock;

impl Gpu {
    /// Writes the trace of this process, where there is one (`WARPSMITH_TRACE`), with all that its devices have done so far. Without a trace
    /// it does nothing.
    ///
    /// The trace is also written when the last object of a device is dropped. What is left is a program that ends with objects alive, in a
    /// `static` or by `std::process::exit`: it calls this at its end, behind a wait ([`Gpu::synchronize`]), as what still runs is not in
    /// the file.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// gpu.synchronize()?;
    /// gpu.write_trace()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The file cannot be written, which is as it was.
    pub fn write_trace(&self) -> Result<()> {
        let Some(own) = self.inner.trace() else {
            return Ok(());
        };
        let open: Vec<_> = lock(&OPEN).iter().filter_map(Weak::upgrade).collect();
        for device in open {
            if let Some(trace) = device.trace() {
                trace.collect();
            }
        }
        own.file().write()
    }
}

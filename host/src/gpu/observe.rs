//! Observers of the kernels of a device, on the simulator.

use std::sync::Arc;

use warpsmith_simulator::observe::{self, Observer, Registration};

use super::Gpu;
use crate::error::{Error, Result};

impl Gpu {
    /// Registers an observer: it is told of each launch, step, branch, access and barrier of the kernels of this device that begin to
    /// execute before the registration is dropped. Whatever launches them in this process counts, other libraries too.
    ///
    /// Kernels with an observer run several times slower, those without as fast as ever. What holds for several observers, for launches that are
    /// executing, and for what an observer may do is said at [`warpsmith_host::observe`](mod@crate::observe).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use warpsmith_host::observe::{At, Observer};
    /// use warpsmith_host::prelude::*;
    ///
    /// /// Counts the instructions that warps execute.
    /// #[derive(Default)]
    /// struct Steps(AtomicU64);
    ///
    /// impl Observer for Steps {
    ///     fn step(&self, _: &At<'_>) {
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let module = gpu.load(".version 7.8 .target sm_90 .address_size 64 .visible .entry nothing() { ret; }")?;
    /// let nothing = module.untyped_kernel::<()>("nothing")?;
    /// let steps = Arc::new(Steps::default());
    /// let registration = gpu.observe(steps.clone())?;
    /// let stream = gpu.stream()?;
    /// // SAFETY: the kernel does nothing.
    /// unsafe { stream.launch_untyped(&nothing, Grid::new(2, 64), ()) }?;
    /// stream.synchronize()?;
    /// drop(registration);
    /// assert_eq!(steps.0.load(Ordering::Relaxed), 4, "two blocks of two warps");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The device is not this process's simulator: a GPU's kernels cannot be observed.
    pub fn observe(&self, observer: Arc<dyn Observer + Send>) -> Result<Registration> {
        let context = self.inner.context();
        self.is_simulator()
            .then(|| observe::register_for_context(context.raw(), observer).ok())
            .flatten()
            .ok_or_else(|| {
                Error::unsupported(
                    "observing kernels",
                    "the simulator: `WARPSMITH_DEVICE=simulator`",
                )
            })
    }
}

//! For libraries: work on a device that leaves the caller's context current.

use super::Gpu;
use crate::error::Result;

impl Gpu {
    /// Does `work` with this device's context pushed on the calling thread's stack of contexts. When the work returns or panics, it is popped, and
    /// the context is current again that was before, or none. Calls of this crate may leave the context of the device current that they used; so a library that is called
    /// by programs with contexts of their own does what it does in here.
    ///
    /// Work on other devices is fine in there, and so is another call of this function. Calls of the driver in there pop as many contexts as
    /// they push.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// /// What a library offers, to callers that may work in another context.
    /// fn sum(gpu: &Gpu, numbers: &[u32]) -> Result<u32> {
    ///     gpu.while_current(|| {
    ///         let stream = gpu.stream()?;
    ///         let numbers = stream.upload(numbers)?;
    ///         Ok(stream.download(&numbers)?.iter().sum())
    ///     })
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// assert_eq!(sum(&gpu, &[1, 2, 3])?, 6);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// What the work returns. The work is not done in a function on the host that a stream runs, nor where the context cannot be made
    /// current, since it is lost.
    // covers: DRV-08
    pub fn while_current<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        self.inner.context().while_bound(work)
    }
}

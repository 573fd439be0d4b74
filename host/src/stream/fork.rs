//! Streams that begin after others, and come back to them.

use super::{Stream, StreamOptions};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::order::stream_handle::StreamRole;

impl Stream {
    /// A new stream of the same priority, whose work begins after all that this one holds now. Later work in this stream does not wait for it:
    /// [`join`](Self::join) lets it.
    ///
    /// Uses of the same memory are put in order without this, also between streams. It is for the rest: raw pointers, what other libraries do,
    /// and measuring.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let mut words = stream.zeroed::<u32>(8)?;
    /// let branches = [stream.fork()?, stream.fork()?];
    /// for (branch, mut half) in branches.iter().zip(words.slice_mut(..).chunks_mut(4)) {
    ///     branch.fill(&mut half, 7)?;                      // beside each other
    /// }
    /// for branch in &branches {
    ///     stream.join(branch)?;                            // the host does not wait
    /// }
    /// stream.synchronize()?;                               // for all three
    /// assert!(branches[0].is_idle()? && branches[1].is_idle()?);
    /// # drop(words);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It takes turns with the legacy default stream if this one does; a fork of the legacy default stream itself does not.
    ///
    /// # Errors
    ///
    /// This stream is being captured; or the driver has no more streams.
    pub fn fork(&self) -> Result<Stream> {
        self.handle.refuse_capture(
            "Stream::fork",
            "a stream of its own would be no part of the capture",
            "make the stream before, and bring it in by `Capture::fork`",
        )?;
        let branch = Gpu::from(&self.gpu).stream_with(StreamOptions {
            non_blocking: self.handle.role != StreamRole::Blocking,
            priority: self.priority()?,
        })?;
        branch.join(self)?;
        Ok(branch)
    }

    /// Lets later work in this stream wait for all that the other one holds now; the host does not wait. The other may be of another device.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let (one, two) = (gpu.stream()?, gpu.stream()?);
    /// let words = two.upload(&[1, 2, 3])?;
    /// one.join(&two)?;
    /// one.synchronize()?;
    /// assert!(two.is_idle()?);
    /// # drop(words);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// One of the two is being captured and the other is no part of that capture ([`Capture::fork`](crate::Capture::fork)).
    // covers: STREAM-11
    pub fn join(&self, other: &Stream) -> Result<()> {
        self.wait(&other.record_event()?)
    }
}

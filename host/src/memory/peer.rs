//! Copies from one device to another.

use super::foreign::ForeignWork;
use super::size::length_mismatch;
use super::view::{DeviceRead, DeviceWrite};
use crate::driver_call::call;
use crate::error::Result;
use crate::stream::Stream;

impl Stream {
    /// Copies `from`, which is memory of another device, to `to`, which is memory of this stream's. `from_stream` is a stream of the other
    /// device: the copy comes after what either stream holds, and what they get later comes after it. So it is in order with all uses of
    /// both buffers. Returns at once.
    ///
    /// The devices need no access to each other: where they have none, the driver copies through the host.
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let (here, there) = (one.stream()?, other.stream()?);
    /// let from = there.upload(&[1, 2, 3])?;
    /// let mut to = here.zeroed::<i32>(3)?;
    /// here.copy_from_peer(&there, &from, &mut to)?;
    /// assert_eq!(here.download(&to)?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The lengths differ, the memory is of another device than its stream, or one of the streams is being captured.
    pub fn copy_from_peer<S, D>(&self, from_stream: &Stream, from: &S, to: &mut D) -> Result<()>
    where
        S: DeviceRead + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        const CALL: &str = "cuMemcpyPeerAsync";
        for stream in [self, from_stream] {
            stream.handle.refuse_capture(
                CALL,
                "no driver captures a copy that names the devices of both sides",
                "`copy` a view that lets one device use the other's memory (`allow_peer`, `PeerAccess::view`), or copy outside of the graph",
            )?;
        }
        let is_of_host = from.raw_view().is_of_host_pool() || to.raw_view().is_of_host_pool();
        let mut work = ForeignWork::new(CALL);
        let source = work.reads(from_stream, from)?;
        let destination = work.writes(self, to)?;
        if source.len() != destination.len() {
            return Err(length_mismatch(CALL, source.len(), destination.len()));
        }
        let bytes = destination.len() * size_of::<S::Item>();
        if bytes == 0 {
            return Ok(());
        }
        work.in_order(&mut [], |guard| {
            let here = self.handle.stream_ref();
            from_stream.handle.hold_back(guard, here)?;
            let (target, origin) = (destination.pointer().address(), source.pointer().address());
            let copied = match is_of_host {
                // SAFETY: both sides have `bytes` bytes (the lengths are compared above), and the driver finds out where each is; `in_order` keeps them
                // until their last use, which is this one's end: each stream follows the other.
                true => unsafe { call!(cuMemcpyAsync(target, origin, bytes, self.handle.raw())) },
                // SAFETY: both sides have `bytes` bytes (the lengths are compared above), each on the device whose context is named; `in_order`
                // keeps them until their last use, which is this one's end: each stream follows the other.
                false => unsafe {
                    call!(cuMemcpyPeerAsync(
                        target,
                        self.gpu.context().raw(),
                        origin,
                        from_stream.gpu.context().raw(),
                        bytes,
                        self.handle.raw()
                    ))
                },
            };
            // A legacy default stream's handle means that of the current context.
            from_stream.gpu.context().while_bound(|| {
                self.handle
                    .hold_back(guard, from_stream.handle.stream_ref())
            })?;
            copied
        })
    }
}

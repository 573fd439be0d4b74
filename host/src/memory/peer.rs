//! Copies from one device to another, in order with all uses of both sides. Those of rectangles and arrays are in `peer_boxes`.

use super::foreign::ForeignWork;
use super::size::length_mismatch;
use super::view::{DeviceRead, DeviceWrite, RawView};
use crate::driver_call::call;
use crate::error::Result;
use crate::order::access::AccessKind;
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
        let (source, target) = (from.raw_view(), to.raw_view());
        if source.len != target.len {
            return Err(length_mismatch(CALL, source.len, target.len));
        }
        let is_of_host = source.is_of_host_pool() || target.is_of_host_pool();
        let (origin, address, bytes) = (source.address, target.address, target.bytes);
        self.copy_between_devices(
            CALL,
            bytes,
            from_stream,
            source,
            target,
            || match is_of_host {
                // SAFETY: both sides have `bytes` bytes (the lengths are compared above), and the driver finds out where each is;
                // `copy_between_devices` keeps them until their last use.
                true => unsafe { call!(cuMemcpyAsync(address, origin, bytes, self.handle.raw())) },
                // SAFETY: both sides have `bytes` bytes (the lengths are compared above), each for the device whose context is named to use;
                // `copy_between_devices` keeps them until their last use.
                false => unsafe {
                    call!(cuMemcpyPeerAsync(
                        address,
                        self.gpu.context().raw(),
                        origin,
                        from_stream.gpu.context().raw(),
                        bytes,
                        self.handle.raw()
                    ))
                },
            },
        )
    }

    /// Enqueues a copy of so many bytes in this stream, from memory that `from_stream`'s device uses to memory that this one's does, after what either
    /// stream holds. What they get later comes after it, so both sides are kept until it is done. Without bytes to copy `enqueue` is not called.
    ///
    /// # Errors
    ///
    /// A stream is being captured, a side is of another device than its stream, the source was left unfinished, or the target is mapped for reading alone.
    pub(super) fn copy_between_devices(
        &self,
        call: &'static str,
        bytes: usize,
        from_stream: &Stream,
        from: RawView<'_>,
        to: RawView<'_>,
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        for stream in [self, from_stream] {
            stream.handle.refuse_capture(
                call,
                "no driver captures a copy that names the devices of both sides",
                "`copy` a view that lets one device use the other's memory (`allow_peer`, `PeerAccess::view`), or copy outside of the graph",
            )?;
        }
        let mut work = ForeignWork::new(call);
        work.add_use(from_stream, from.used_for(AccessKind::Read))?;
        work.add_use(self, to.used_for(AccessKind::Write))?;
        if bytes == 0 {
            return Ok(());
        }
        from.check_finished(call)?;
        work.in_order(&mut [], Some(bytes), |guard| {
            from_stream
                .handle
                .hold_back(guard, self.handle.stream_ref())?;
            let copied = enqueue();
            // A legacy default stream's handle means that of the current context.
            from_stream.gpu.context().while_bound(|| {
                self.handle
                    .hold_back(guard, from_stream.handle.stream_ref())
            })?;
            copied
        })
    }
}

//! Streams: queues of work for the device, each in order, beside each other.

mod adopted;
pub(crate) mod attributes;
pub(crate) mod completion;
pub(crate) mod default;
pub(crate) mod event;
mod fork;
pub(crate) mod host_function;
pub(crate) mod semaphore;
mod timed_stream;

use std::marker::PhantomData;
use std::sync::Arc;

use warpsmith_driver::raw;

use self::event::Event;
use self::timed_stream::TimedStream;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::OpenDevice;
use crate::order::stream_handle::StreamHandle;

/// How a stream behaves.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let priorities = gpu.stream_priorities()?;
/// let urgent = gpu.stream_with(StreamOptions { priority: priorities.greatest, ..Default::default() })?;
/// assert_eq!(urgent.priority()?, priorities.greatest);
/// # Ok(())
/// # }
/// ```
// covers: STREAM-18
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamOptions {
    /// Does not wait for the legacy default stream ([`Gpu::legacy_stream`]), nor that for it (the default). A blocking stream takes turns
    /// with it: what either is given comes after all that the other was given before.
    pub non_blocking: bool,
    /// Smaller is more urgent. [`Gpu::stream_priorities`] gives the range; the driver clamps what is beyond it, and
    /// [`Stream::priority`] tells what the stream has got.
    pub priority: i32,
}

impl Default for StreamOptions {
    fn default() -> Self {
        StreamOptions {
            non_blocking: true,
            priority: 0,
        }
    }
}

/// The range of the priorities of streams. Smaller is more urgent: `greatest <= least`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamPriorities {
    /// The priority of the streams that come last.
    pub least: i32,
    /// The priority of the streams that come first.
    pub greatest: i32,
}

/// A queue of work for the device. What one stream holds is done in order; different streams have no order but what events and
/// the use of the same buffers give (that is put in order by itself).
///
/// Dropping a stream does not wait: work that is enqueued is still done, and what it uses lives until then.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let squares = stream.upload(&[1, 4, 9])?;
/// assert_eq!(stream.download(&squares)?, [1, 4, 9]);
/// # Ok(())
/// # }
/// ```
// covers: STREAM-07
pub struct Stream {
    pub(crate) gpu: Arc<OpenDevice>,
    pub(crate) handle: Arc<StreamHandle>,
    /// Not `Clone`: a capture takes the stream exclusively.
    _unique: PhantomData<()>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.handle.lane().close();
    }
}

impl Gpu {
    /// A new stream that does not take turns with the legacy default stream.
    pub fn stream(&self) -> Result<Stream> {
        self.stream_with(StreamOptions::default())
    }

    /// A new stream with these options.
    pub fn stream_with(&self, options: StreamOptions) -> Result<Stream> {
        let flags = if options.non_blocking {
            raw::CUstream_flags::CU_STREAM_NON_BLOCKING
        } else {
            raw::CUstream_flags(0)
        };
        self.inner.bind()?;
        self.inner.order().destroy_idle_streams();
        let handle = StreamHandle::create(
            self.inner.context(),
            self.inner.panics(),
            flags,
            options.priority,
        )?;
        self.inner.order().add_stream(&handle);
        Ok(Stream::of(&self.inner, handle))
    }

    /// The range of the priorities of streams.
    pub fn stream_priorities(&self) -> Result<StreamPriorities> {
        self.inner.bind()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: the driver writes one number each to `least` and `greatest`, which outlive the call.
        unsafe { call!(cuCtxGetStreamPriorityRange(&mut least, &mut greatest)) }?;
        Ok(StreamPriorities { least, greatest })
    }
}

impl Stream {
    fn of(gpu: &Arc<OpenDevice>, handle: Arc<StreamHandle>) -> Stream {
        Stream {
            gpu: gpu.clone(),
            handle,
            _unique: PhantomData,
        }
    }

    /// The device.
    pub fn gpu(&self) -> Gpu {
        Gpu::from(&self.gpu)
    }

    /// Whether it is a stream of this device.
    #[inline]
    pub fn is_of(&self, gpu: &Gpu) -> bool {
        Arc::ptr_eq(&self.gpu, &gpu.inner) || self.gpu.context().choice == gpu.choice()
    }

    /// The driver's handle (`CUstream`), for calls of libraries that take one. What those do with memory of this crate is not put in
    /// order with other streams, unless it is told as [`ForeignWork`](crate::ForeignWork).
    #[inline]
    pub fn as_raw(&self) -> *mut core::ffi::c_void {
        self.handle.raw().cast()
    }

    /// The priority that the driver gave it.
    pub fn priority(&self) -> Result<i32> {
        self.gpu.bind()?;
        let mut priority = 0;
        // SAFETY: the driver writes one number to `priority`, which outlives the call; `self` owns the stream.
        unsafe { call!(cuStreamGetPriority(self.handle.raw(), &mut priority)) }?;
        Ok(priority)
    }

    /// Whether it keeps out of the legacy default stream's way.
    pub fn is_non_blocking(&self) -> Result<bool> {
        self.gpu.bind()?;
        let mut flags = 0;
        // SAFETY: the driver writes one number to `flags`, which outlives the call; `self` owns the stream.
        unsafe { call!(cuStreamGetFlags(self.handle.raw(), &mut flags)) }?;
        Ok(flags & raw::CUstream_flags::CU_STREAM_NON_BLOCKING.0 != 0)
    }

    /// Waits until everything in this stream is done.
    ///
    /// # Errors
    ///
    /// What went wrong in this stream, and in others before the work that it followed, and was not told yet: kernels' panics, a panic of a
    /// host function; or a fault, which costs the context. A stream that is being captured cannot be waited for; the attempt is refused
    /// and leaves the capture as it is.
    // covers: STREAM-10, GRAPH-33, ERROR-02
    pub fn synchronize(&self) -> Result<()> {
        self.handle.refuse_capture(
            "cuStreamSynchronize",
            "nothing runs that could be waited for",
            "wait after launching the graph: `graph.instantiate()?.launch(&stream)?`, then `stream.synchronize()`",
        )?;
        self.timed().synchronize()
    }

    /// Whether everything in this stream is done. Does not wait.
    // covers: STREAM-12
    pub fn is_idle(&self) -> Result<bool> {
        self.handle.refuse_capture(
            "cuStreamQuery",
            "nothing runs that could be idle",
            "ask before the capture, or after launching the graph",
        )?;
        self.timed().is_idle()
    }

    /// Records the event at the end of the stream as it is now: it is complete once everything before is done. Recording again
    /// replaces the position.
    ///
    /// # Errors
    ///
    /// The event is of another device; or it is one that other processes may have, and the stream is being captured.
    // covers: EVENT-02
    pub fn record(&self, event: &Event) -> Result<()> {
        if event.is_interprocess() {
            self.handle.refuse_capture(
                "cuEventRecord",
                "an event of several processes stands for no node of a graph",
                "record it in the stream that launches the graph, after the launch",
            )?;
        }
        self.timed().record(event, || self.handle.capture_number())
    }

    /// A new event that cannot measure time, recorded at the end of the stream as it is now.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// # let (one, two) = (gpu.stream()?, gpu.stream()?);
    /// two.wait(&one.record_event()?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The driver has no more memory for events.
    // covers: EVENT-02
    pub fn record_event(&self) -> Result<Event> {
        let event = Gpu::from(&self.gpu).event_untimed()?;
        self.record(&event)?;
        Ok(event)
    }

    /// Lets later work in this stream wait for the event's most recent recording. The host does not wait. An event that was never
    /// recorded holds nothing up.
    ///
    /// # Errors
    ///
    /// The event was recorded in a stream that is being captured and this one is not part of that capture (see
    /// [`Capture::fork`](crate::Capture::fork)), or the other way round.
    // covers: STREAM-11, EVENT-03, GRAPH-35, GRAPH-36
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.timed().wait(event, || {
            let here = self.handle.capture_number();
            let there = event.capture_number();
            if here != there {
                let (code, message) = match (here, there) {
                    (None, _) => (
                        Code::STREAM_CAPTURE_ISOLATION,
                        "the event belongs to a capture that this stream is no part of",
                    ),
                    (_, None) => (
                        Code::STREAM_CAPTURE_ISOLATION,
                        "this stream is being captured and the event is not part of the capture",
                    ),
                    _ => (
                        Code::STREAM_CAPTURE_MERGE,
                        "the event belongs to another capture",
                    ),
                };
                return Err(Error::misuse(
                    "cuStreamWaitEvent",
                    code,
                    message,
                    "`Capture::fork` brings a stream into a capture; record the event inside the same capture",
                ));
            }
            Ok(())
        })
    }

    fn timed(&self) -> TimedStream<'_> {
        TimedStream {
            gpu: &self.gpu,
            stream: self.handle.stream_ref(),
            timeline: self.handle.timeline(),
        }
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.handle.fmt(f)
    }
}

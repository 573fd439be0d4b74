//! The default streams: those that libraries use which were given none.

use std::marker::PhantomData;
use std::sync::Arc;

use warpsmith_driver::raw;

use super::Stream;
use super::event::Event;
use super::timed_stream::TimedStream;
use crate::driver_call::stream_ref::StreamRef;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::OpenDevice;
use crate::order::stream_handle::StreamHandle;
use crate::panics::timeline::Timeline;

impl Gpu {
    /// The legacy default stream (`CU_STREAM_LEGACY`, the null stream), which all threads of the process share and in which libraries work
    /// that know of no streams. It takes turns with every blocking stream ([`StreamOptions::non_blocking`](crate::StreamOptions)): what it
    /// is given comes after all that these were given before, and what they are given later comes after it. So it holds up the device's
    /// blocking streams, and is best left to such libraries.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let legacy = gpu.legacy_stream()?;
    /// let words = legacy.upload(&[1, 2, 3])?;
    /// // A library works on `words.as_device_ptr()` in the null stream: after what `legacy` holds, and before what it gets later.
    /// assert_eq!(legacy.download(&words)?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Stream::synchronize`] and [`Stream::is_idle`] of this stream include all blocking streams.
    ///
    /// # Errors
    ///
    /// A blocking stream is being captured. The other way round, no blocking stream can be captured as long as the result lives, or memory that was used in it.
    // covers: STREAM-09
    pub fn legacy_stream(&self) -> Result<Stream> {
        let gpu = &self.inner;
        gpu.bind()?;
        let make = || StreamHandle::legacy(gpu.context(), gpu.panics());
        let handle = gpu.order().legacy_stream(&gpu.lock_order(), make)?;
        Ok(Stream::of(gpu, handle))
    }

    /// The calling thread's own default stream (`CU_STREAM_PER_THREAD`), in which libraries work that were compiled for one default stream a
    /// thread.
    ///
    /// # Errors
    ///
    /// The context cannot be made current.
    // covers: STREAM-09
    pub fn per_thread_stream(&self) -> Result<PerThreadStream> {
        self.inner.bind()?;
        Ok(PerThreadStream {
            gpu: self.inner.clone(),
            timeline: Arc::default(),
            _of_this_thread: PhantomData,
        })
    }
}

/// The default stream of one thread, to put a library's work in it in order with streams of this crate.
///
/// The driver has one handle for the default streams of all threads, which means another stream on another thread. So this value cannot
/// leave its thread, and buffers are not used in the stream by calls of this crate: their order is kept by whichever thread uses them next.
/// For launches and copies there is [`Gpu::stream`]. The stream takes turns with the legacy default stream and with no other.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let (stream, own) = (gpu.stream()?, gpu.per_thread_stream()?);
/// let words = stream.upload(&[1, 2, 3])?;
/// let (ready, done) = (gpu.event_untimed()?, gpu.event_untimed()?);
/// stream.record(&ready)?;
/// own.wait(&ready)?;
/// // Here a library works on `words.as_device_ptr()` in this thread's default stream.
/// own.record(&done)?;
/// stream.wait(&done)?;
/// assert_eq!(stream.download(&words)?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
pub struct PerThreadStream {
    gpu: Arc<OpenDevice>,
    timeline: Arc<Timeline>,
    /// Neither `Send` nor `Sync`: on another thread the handle means another stream.
    _of_this_thread: PhantomData<*mut ()>,
}

impl PerThreadStream {
    const RAW: raw::CUstream = raw::CU_STREAM_PER_THREAD;

    /// The driver's handle (`CUstream`), for calls of libraries that take one, on this thread.
    pub fn as_raw(&self) -> *mut core::ffi::c_void {
        Self::RAW.cast()
    }

    /// Waits until everything in this stream is done.
    ///
    /// # Errors
    ///
    /// What went wrong before the events that the stream waited for and was not told yet, or a fault; or the stream is being captured.
    pub fn synchronize(&self) -> Result<()> {
        self.timed().synchronize()
    }

    /// Whether everything in this stream is done. Does not wait.
    ///
    /// # Errors
    ///
    /// As for [`synchronize`](Self::synchronize).
    pub fn is_idle(&self) -> Result<bool> {
        self.timed().is_idle()
    }

    /// Records the event at the end of the stream as it is now, as [`Stream::record`] does.
    ///
    /// # Errors
    ///
    /// The event is of another device, or the driver refuses.
    pub fn record(&self, event: &Event) -> Result<()> {
        self.timed().record(event, || None)
    }

    /// Lets later work in this stream wait for the event's most recent recording. The host does not wait.
    ///
    /// # Errors
    ///
    /// The event is of another device, or was recorded in a stream that is being captured.
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.timed().wait(event, || {
            if event.capture_number().is_none() {
                return Ok(());
            }
            Err(Error::misuse(
                "cuStreamWaitEvent",
                Code::STREAM_CAPTURE_ISOLATION,
                "the event belongs to a capture, which a default stream takes no part in",
                "record it outside of the capture",
            ))
        })
    }

    fn timed(&self) -> TimedStream<'_> {
        TimedStream {
            gpu: &self.gpu,
            // SAFETY: each thread has this stream as long as the context lives, which `self.gpu` keeps; `self` is not `Send`.
            stream: unsafe { StreamRef::new(Self::RAW) },
            timeline: &self.timeline,
        }
    }
}

impl std::fmt::Debug for PerThreadStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PerThreadStream({:?})", std::thread::current().id())
    }
}

//! Streams and events of other libraries, by their handles.

use std::any::Any;
use std::ffi::c_void;

use warpsmith_driver::raw;

use super::Stream;
use crate::context::keeper::Keeper;
use crate::driver_call::call;
use crate::error::{Code, Error, Refused, Result};
use crate::gpu::Gpu;
use crate::order::stream_handle::{StreamHandle, StreamRole};

const CALL: &str = "Gpu::adopt_stream";

impl Gpu {
    /// A stream of another library (`CUstream`, `cudaStream_t`), to be used as one of this crate: launches, copies and all else go into it, behind what
    /// the library has enqueued and before what it enqueues later, and are put in order with other streams as ever.
    ///
    /// It is never destroyed by this crate. `keeper` is dropped when nothing here needs the stream any more, which is some time after the result was
    /// dropped and all work in it is done, in any thread: it is the stream's owner, or a share of it (an `Arc`), or `()` where the stream
    /// lives as long as the process. The null stream and the legacy default stream are [`Gpu::legacy_stream`], for which
    /// nothing is kept.
    ///
    /// ```
    /// use warpsmith_driver::raw;
    /// use warpsmith_host::prelude::*;
    ///
    /// /// A stream of another library.
    /// struct Theirs(raw::CUstream);
    ///
    /// // SAFETY: the handle may be used from any thread.
    /// unsafe impl Send for Theirs {}
    ///
    /// impl Drop for Theirs {
    ///     fn drop(&mut self) {
    ///         // SAFETY: `cuStreamCreate` made the stream, which nobody uses any more.
    ///         assert_eq!(unsafe { raw::cuStreamDestroy_v2(self.0) }.0, 0);
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// gpu.make_current()?;
    /// let mut handle = std::ptr::null_mut();
    /// // SAFETY: the driver writes the stream's handle to `handle`.
    /// assert_eq!(unsafe { raw::cuStreamCreate(&mut handle, 1) }.0, 0);
    ///
    /// // SAFETY: the stream is destroyed by its keeper alone, and nobody captures it.
    /// let stream = unsafe { gpu.adopt_stream(handle.cast(), Theirs(handle))? };
    /// let words = stream.upload(&[1, 2, 3])?;
    /// assert_eq!(stream.download(&words)?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Early launches ([`Stream::launch_early`]) do not overlap in it, as what the library has launched before is not known.
    ///
    /// # Errors
    ///
    /// The stream is of another device or context, is being captured, or is the per-thread default stream ([`Gpu::per_thread_stream`] is for that).
    /// The keeper comes back.
    ///
    /// # Safety
    ///
    /// - `stream` is null, a default stream, or the handle of a stream that exists until `keeper` is dropped.
    /// - As long as the result exists, or memory that was used in it, nobody else begins a capture of the stream, or brings it into one.
    pub unsafe fn adopt_stream<K: Any + Send>(
        &self,
        stream: *mut c_void,
        keeper: K,
    ) -> Result<Stream, Refused<K>> {
        let raw: raw::CUstream = stream.cast();
        if raw.is_null() || raw == raw::CU_STREAM_LEGACY {
            return self
                .legacy_stream()
                .map_err(|error| Refused::new(error, keeper));
        }
        // SAFETY: the caller says that it is null, a default stream or alive.
        let role = match unsafe { self.role_of(raw) } {
            Ok(role) => role,
            Err(error) => return Err(Refused::new(error, keeper)),
        };
        let gpu = &self.inner;
        gpu.order().destroy_idle_streams();
        let mut keeper = Some(keeper);
        let adopted = StreamHandle::adopt(gpu.context(), gpu.panics(), raw, role, || {
            Keeper::new(keeper.take())
        });
        match (adopted, keeper) {
            (Ok(handle), _) => {
                gpu.order().add_stream(&handle);
                Ok(Stream::of(gpu, handle))
            }
            (Err(error), Some(keeper)) => Err(Refused::new(error, keeper)),
            (Err(_), None) => unreachable!("the keeper is taken last"),
        }
    }

    /// How a stream stands to the legacy default stream.
    ///
    /// # Errors
    ///
    /// It is none that can be used here.
    ///
    /// # Safety
    ///
    /// It is the per-thread default stream, or is alive.
    unsafe fn role_of(&self, stream: raw::CUstream) -> Result<StreamRole> {
        if stream == raw::CU_STREAM_PER_THREAD {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_HANDLE,
                "the per-thread default stream is another stream on each thread",
                "put a library's work in it in order by `gpu.per_thread_stream()`",
            ));
        }
        let context = self.inner.context();
        context.bind()?;
        let (mut owner, mut flags) = (std::ptr::null_mut(), 0);
        let mut capture = raw::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the driver writes one value to `capture`, which outlives the call; the caller says that the stream is alive.
        unsafe {
            call!(cuStreamIsCapturing(stream, &mut capture))?;
        }
        // First: the other questions end the capture (driver 13.0).
        if capture != raw::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE {
            return Err(Error::misuse(
                CALL,
                Code::STREAM_CAPTURE_UNSUPPORTED,
                "the stream is being captured by its owner",
                "adopt it before or after the capture",
            ));
        }
        // SAFETY: the driver writes one value each to `owner` and `flags`, which outlive the calls; the caller says that the stream is alive.
        unsafe {
            call!(cuStreamGetCtx(stream, &mut owner))?;
            call!(cuStreamGetFlags(stream, &mut flags))?;
        }
        if owner != context.raw() {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_CONTEXT,
                format!(
                    "the stream is not of the primary context of {}",
                    context.choice
                ),
                "open the stream's device, and have the library make its streams in the primary context",
            ));
        }
        let is_blocking = flags & raw::CUstream_flags::CU_STREAM_NON_BLOCKING.0 == 0;
        Ok(match is_blocking {
            true => StreamRole::Blocking,
            false => StreamRole::NonBlocking,
        })
    }
}

impl Stream {
    /// Lets later work in this stream wait for the most recent recording of another library's event (`CUevent`, `cudaEvent_t`). The host does not
    /// wait, and the event is not needed any more when this returns.
    ///
    /// ```
    /// use warpsmith_driver::raw;
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// # let (stream, other) = (gpu.stream()?, gpu.stream()?);
    /// gpu.make_current()?;
    /// let mut event = std::ptr::null_mut();
    /// // SAFETY: the driver writes the event's handle to `event`.
    /// assert_eq!(unsafe { raw::cuEventCreate(&mut event, 2) }.0, 0);
    /// // SAFETY: the event exists, and no stream is being captured.
    /// unsafe {
    ///     stream.record_raw_event(event.cast())?;      // a library's stream may wait for it
    ///     other.wait_raw_event(event.cast())?;         // a library may have recorded it
    ///     raw::cuEventDestroy_v2(event);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// This stream is being captured, or the driver refuses the event.
    ///
    /// # Safety
    ///
    /// The event exists, and was not recorded in a stream that is being captured.
    pub unsafe fn wait_raw_event(&self, event: *mut c_void) -> Result<()> {
        const CALL: &str = "cuStreamWaitEvent";
        self.handle.refuse_capture(
            CALL,
            "an event of another library stands for work outside of the graph",
            "wait for it in the stream that launches the graph, before the launch; an `Event` of this crate is waited for by `capture.wait_external(stream, &event)`",
        )?;
        self.gpu.bind()?;
        let _order = self.gpu.lock_order();
        // SAFETY: `self` owns the stream, and the caller says that the event exists.
        unsafe { call!(cuStreamWaitEvent(self.handle.raw(), event.cast(), 0)) }
    }

    /// Records another library's event at the end of this stream as it is now.
    ///
    /// # Errors
    ///
    /// This stream is being captured, or the driver refuses the event.
    ///
    /// # Safety
    ///
    /// The event exists.
    pub unsafe fn record_raw_event(&self, event: *mut c_void) -> Result<()> {
        const CALL: &str = "cuEventRecord";
        self.handle.refuse_capture(
            CALL,
            "an event of another library stands for work outside of the graph",
            "record it in the stream that launches the graph, after the launch; an `Event` of this crate is recorded by `capture.record_external(stream, &event)`",
        )?;
        self.gpu.bind()?;
        let _order = self.gpu.lock_order();
        // SAFETY: `self` owns the stream, and the caller says that the event exists.
        unsafe { call!(cuEventRecord(event.cast(), self.handle.raw())) }
    }
}

//! Events of the driver that measure time, recorded again and again.

use std::sync::Arc;

use warpsmith_driver::raw;

use crate::context::primary::Context;
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::driver_call::stream_ref::StreamRef;
use crate::error::{Code, Result};

/// An event, destroyed with this. For all of its methods the context is current.
pub(super) struct TimingEvent {
    context: Arc<Context>,
    raw: Handle<raw::CUevent>,
}

impl TimingEvent {
    pub(super) fn new(context: &Arc<Context>) -> Result<TimingEvent> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `raw`, which outlives the call.
        unsafe {
            call!(cuEventCreate(
                &mut raw,
                raw::CUevent_flags::CU_EVENT_DEFAULT.0
            ))
        }?;
        Ok(TimingEvent {
            context: context.clone(),
            raw: Handle::new(raw),
        })
    }

    /// Records it at the end of the stream, which is not captured.
    pub(super) fn record(&self, stream: StreamRef<'_>) -> Result<()> {
        // SAFETY: `self` owns the event; `StreamRef` says that the stream is alive.
        unsafe { call!(cuEventRecord(self.raw.raw(), stream.raw())) }
    }

    /// Whether everything before it is done.
    pub(super) fn is_done(&self) -> Result<bool> {
        // SAFETY: `self` owns the event, which its `drop` alone destroys.
        match unsafe { call!(cuEventQuery(self.raw.raw())) } {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(Code::NOT_READY) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Milliseconds from `start` to this, both of which are done; less than none where this is the earlier one.
    pub(super) fn milliseconds_since(&self, start: &TimingEvent) -> Result<f64> {
        let mut milliseconds = 0.0_f32;
        // SAFETY: `self` and `start` own their events; the driver writes one number to `milliseconds`, which outlives the call.
        unsafe {
            call!(cuEventElapsedTime(
                &mut milliseconds,
                start.raw.raw(),
                self.raw.raw()
            ))
        }?;
        Ok(f64::from(milliseconds))
    }
}

impl Drop for TimingEvent {
    fn drop(&mut self) {
        let event = self.raw;
        // SAFETY: `new` made the event, and `drop` runs once; the driver keeps a pending event until it is complete.
        self.context
            .destroy(move || unsafe { call!(cuEventDestroy_v2(event.raw())) });
    }
}

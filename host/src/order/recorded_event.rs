//! Events by which streams follow a position in another one.

use std::sync::Arc;

use warpsmith_driver::raw;

use super::order_lock::OrderGuard;
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::driver_call::stream_ref::StreamRef;
use crate::error::{Code, Result};
use crate::panics::timeline::Reach;

/// An event of the driver, recorded once outside of any capture; destroyed with its last owner.
pub(crate) struct RecordedEvent {
    context: Arc<Context>,
    raw: Handle<raw::CUevent>,
    /// Of what it comes after, what matters to those who follow it.
    reach: Reach,
}

impl RecordedEvent {
    /// A new event, recorded in `stream`, which is not captured.
    pub(crate) fn record(
        context: &Arc<Context>,
        stream: StreamRef<'_>,
        reach: Reach,
    ) -> Result<Arc<RecordedEvent>> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `raw`, which outlives the call.
        unsafe {
            call!(cuEventCreate(
                &mut raw,
                raw::CUevent_flags::CU_EVENT_DISABLE_TIMING.0
            ))
        }?;
        let event = RecordedEvent {
            context: context.clone(),
            raw: Handle::new(raw),
            reach,
        };
        // SAFETY: `event` owns the event; `StreamRef` says that the stream is alive.
        unsafe { call!(cuEventRecord(event.raw.raw(), stream.raw())) }?;
        Ok(Arc::new(event))
    }

    /// Of what it comes after, what matters to those who follow it.
    pub(crate) fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Whether it was recorded in a stream of this context.
    pub(crate) fn is_in(&self, context: &Context) -> bool {
        self.context.raw() == context.raw()
    }

    /// Makes later work in `follower` wait for this.
    pub(crate) fn hold_back(&self, _guard: &OrderGuard<'_>, follower: StreamRef<'_>) -> Result<()> {
        // SAFETY: `self` owns the event; `StreamRef` says that the stream is alive.
        unsafe { call!(cuStreamWaitEvent(follower.raw(), self.raw.raw(), 0)) }
    }

    /// Waits until everything before it is done.
    ///
    /// # Errors
    ///
    /// An earlier fault on the device.
    pub(crate) fn wait(&self) -> Result<()> {
        self.context.bind()?;
        // SAFETY: `self` owns the event, which its `drop` alone destroys.
        unsafe { call!(cuEventSynchronize(self.raw.raw())) }
    }

    /// Whether everything before it is done.
    ///
    /// # Errors
    ///
    /// An earlier fault on the device.
    pub(crate) fn is_done(&self) -> Result<bool> {
        self.context.bind()?;
        // SAFETY: `self` owns the event, which its `drop` alone destroys.
        match unsafe { call!(cuEventQuery(self.raw.raw())) } {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(Code::NOT_READY) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Drop for RecordedEvent {
    fn drop(&mut self) {
        let event = self.raw;
        // SAFETY: `record` made the event, and `drop` runs once; the driver keeps a pending event until it is complete.
        self.context
            .destroy(move || unsafe { call!(cuEventDestroy_v2(event.raw())) });
    }
}

impl std::fmt::Debug for RecordedEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RecordedEvent({:?})", self.raw.raw())
    }
}

//! What every stream of the driver can do, whoever owns it: be waited for and asked, record events, and wait for them.

use std::sync::Arc;

use super::event::Event;
use crate::driver_call::call;
use crate::driver_call::stream_ref::StreamRef;
use crate::error::{Code, Result};
use crate::gpu::open_device::{OpenDevice, check_same_device, put_in_one_order};
use crate::panics::timeline::Timeline;

/// A stream with the device that it is of and the numbers of its launches.
pub(super) struct TimedStream<'a> {
    pub(super) gpu: &'a Arc<OpenDevice>,
    pub(super) stream: StreamRef<'a>,
    pub(super) timeline: &'a Arc<Timeline>,
}

impl TimedStream<'_> {
    /// Waits until everything in the stream is done.
    pub(super) fn synchronize(&self) -> Result<()> {
        self.gpu.bind()?;
        let reach = self.timeline.end();
        // SAFETY: a `StreamRef`'s stream is alive.
        let done = unsafe { call!(cuStreamSynchronize(self.stream.raw())) };
        self.gpu.after_wait("cuStreamSynchronize", &reach, done)
    }

    /// Whether everything in the stream is done.
    pub(super) fn is_idle(&self) -> Result<bool> {
        self.gpu.bind()?;
        let reach = self.timeline.end();
        // SAFETY: a `StreamRef`'s stream is alive.
        match unsafe { call!(cuStreamQuery(self.stream.raw())) } {
            Err(error) if error.code() == Some(Code::NOT_READY) => Ok(false),
            done => {
                let done = self.gpu.after_wait("cuStreamQuery", &reach, done);
                done.map(|()| true)
            }
        }
    }

    /// Records the event at the end of the stream. `capture_number` answers which capture the stream is part of.
    pub(super) fn record(
        &self,
        event: &Event,
        capture_number: impl FnOnce() -> Option<u64>,
    ) -> Result<()> {
        check_same_device(
            "cuEventRecord",
            ("the event", event.gpu()),
            ("the stream", self.gpu),
        )?;
        self.gpu.bind()?;
        let _order = self.gpu.lock_order();
        let reach = self.timeline.end();
        // SAFETY: a `StreamRef`'s stream is alive; `event` owns the event.
        unsafe { call!(cuEventRecord(event.raw(), self.stream.raw())) }?;
        event.set_position(capture_number(), reach);
        Ok(())
    }

    /// Lets later work in the stream wait for the event, which may be another device's, if `check` finds nothing against it.
    pub(super) fn wait(&self, event: &Event, check: impl FnOnce() -> Result<()>) -> Result<()> {
        if !Arc::ptr_eq(self.gpu, event.gpu()) {
            put_in_one_order(self.gpu, event.gpu());
        }
        self.gpu.bind()?;
        let _order = self.gpu.lock_order();
        check()?;
        // What was enqueued before does not come after the event.
        let launch = self.timeline.next();
        // SAFETY: a `StreamRef`'s stream is alive; `event` owns the event.
        unsafe { call!(cuStreamWaitEvent(self.stream.raw(), event.raw(), 0)) }?;
        // Nothing of a capture has happened.
        if event.capture_number().is_none() {
            self.timeline.follow(&launch, &event.reach());
        }
        Ok(())
    }
}

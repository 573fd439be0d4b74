//! Events: a point in a stream that others wait for, and its time.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::Mark;
use crate::abi::CUevent_flags;
use crate::graph::CapturedEvent;
use crate::state::{Result, code, lock};

/// An event.
pub(crate) struct Event {
    pub(crate) handle: usize,
    pub(crate) context: u64,
    flags: u32,
    last: Mutex<Recording>,
}

/// What an event was last recorded as.
#[derive(Clone, Default)]
pub(crate) enum Recording {
    /// Never recorded: complete, and nothing waits for it.
    #[default]
    Never,
    /// In a stream; the time appears when the stream gets there.
    Real(Mark, Arc<OnceLock<Instant>>),
    /// In a capturing stream: a set of nodes.
    Captured(CapturedEvent),
}

impl Event {
    pub(crate) fn new(handle: usize, context: u64, flags: u32) -> Self {
        Self {
            handle,
            context,
            flags,
            last: Mutex::default(),
        }
    }

    pub(crate) fn is_timed(&self) -> bool {
        self.flags & CUevent_flags::CU_EVENT_DISABLE_TIMING.0 == 0
    }

    pub(crate) fn recording(&self) -> Recording {
        lock(&self.last).clone()
    }

    pub(crate) fn record(&self, recording: Recording) {
        *lock(&self.last) = recording;
    }

    /// Whether the recorded point has been reached.
    pub(crate) fn query(&self) -> Result<bool> {
        match self.recording() {
            Recording::Never => Ok(true),
            Recording::Real(mark, _) => Ok(mark.done()),
            Recording::Captured(captured) => Err(captured.misused()),
        }
    }

    pub(crate) fn synchronize(&self) -> Result {
        match self.recording() {
            Recording::Never => Ok(()),
            Recording::Real(mark, _) => {
                mark.wait();
                Ok(())
            }
            Recording::Captured(captured) => Err(captured.misused()),
        }
    }

    /// Milliseconds from `start` to this event.
    pub(crate) fn elapsed_since(&self, start: &Event) -> Result<f32> {
        if !self.is_timed() || !start.is_timed() {
            return Err(code::INVALID_HANDLE);
        }
        let time = |event: &Event| match event.recording() {
            Recording::Never => Err(code::INVALID_HANDLE),
            Recording::Real(mark, time) if mark.done() => {
                time.get().copied().ok_or(code::INVALID_HANDLE)
            }
            Recording::Real(..) => Err(code::NOT_READY),
            Recording::Captured(captured) => Err(captured.misused()),
        };
        let (from, to) = (time(start)?, time(self)?);
        Ok(match to.checked_duration_since(from) {
            Some(forward) => forward.as_secs_f32() * 1e3,
            None => from.duration_since(to).as_secs_f32() * -1e3,
        })
    }
}

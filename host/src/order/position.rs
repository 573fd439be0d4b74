//! Positions in streams: what a use of memory stands at, and what later work can follow.

use std::sync::Arc;

use super::order_lock::OrderGuard;
use super::recorded_event::RecordedEvent;
use super::stream_handle::StreamHandle;
use crate::context::primary::Context;
use crate::driver_call::stream_ref::StreamRef;
use crate::error::Result;
use crate::panics::timeline::Reach;

/// A position in the order of what a device does.
#[derive(Clone, Debug)]
pub(crate) enum StreamPosition {
    /// The end of a stream at the time of the query.
    End(Arc<StreamHandle>),
    /// Where an event was recorded.
    Event(Arc<RecordedEvent>),
}

impl PartialEq for StreamPosition {
    fn eq(&self, other: &StreamPosition) -> bool {
        match (self, other) {
            (StreamPosition::End(one), StreamPosition::End(other)) => Arc::ptr_eq(one, other),
            (StreamPosition::Event(one), StreamPosition::Event(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl StreamPosition {
    /// Makes later work in `follower` wait for this.
    pub(crate) fn hold_back(&self, guard: &OrderGuard<'_>, follower: StreamRef<'_>) -> Result<()> {
        match self {
            StreamPosition::End(stream) => stream.hold_back(guard, follower),
            StreamPosition::Event(event) => event.hold_back(guard, follower),
        }
    }

    /// Whether it is one of this context's.
    pub(crate) fn is_in(&self, context: &Context) -> bool {
        match self {
            StreamPosition::End(stream) => stream.is_in(context),
            StreamPosition::Event(event) => event.is_in(context),
        }
    }

    /// Whether all before it is done.
    ///
    /// # Errors
    ///
    /// An earlier fault on the device.
    pub(crate) fn is_done(&self, guard: &OrderGuard<'_>) -> Result<bool> {
        match self {
            StreamPosition::End(stream) => stream.past_is_done(guard),
            StreamPosition::Event(event) => event.is_done(),
        }
    }

    /// An event that stands at this position as it is now; `None` if all before it is done. `reach` is what matters of a stream to those who
    /// follow it.
    pub(crate) fn to_event(
        &self,
        guard: &OrderGuard<'_>,
        reach: Reach,
    ) -> Result<Option<Arc<RecordedEvent>>> {
        match self {
            StreamPosition::End(stream) => stream.record_position(guard, reach),
            StreamPosition::Event(event) => Ok((!event.is_done()?).then(|| event.clone())),
        }
    }
}

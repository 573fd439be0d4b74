//! A device's time as the host's: by an event whose time both know.

use std::sync::Arc;

use super::timing_event::TimingEvent;
use crate::context::primary::Context;
use crate::error::Result;

/// The driver tells the milliseconds between two events in 24 bits. Beyond this, a later event becomes the known one, so that what is told
/// stays finer than the events themselves are (half a microsecond).
const LONGEST: f64 = 1000.0;

/// An event and its time.
pub(super) struct DeviceClock {
    known: TimingEvent,
    /// Microseconds since the file's beginning.
    time: f64,
}

impl DeviceClock {
    /// A clock of the device whose context this is, which is current; `now` is the host's time, in microseconds.
    ///
    /// # Errors
    ///
    /// The driver refuses the event.
    pub(super) fn start(context: &Arc<Context>, now: f64) -> Result<DeviceClock> {
        let known = TimingEvent::new(context)?;
        known.record(context.service_stream())?;
        context.wait_for_service_stream()?;
        Ok(DeviceClock { known, time: now })
    }

    /// When `start` was, and how long after it `stop`, in microseconds; with an event that is not needed any more.
    ///
    /// # Errors
    ///
    /// The context is lost.
    pub(super) fn span(
        &mut self,
        start: TimingEvent,
        stop: &TimingEvent,
    ) -> Result<(f64, f64, TimingEvent)> {
        let since_known = start.milliseconds_since(&self.known)?;
        let duration = stop.milliseconds_since(&start)?.max(0.0) * 1e3;
        let time = self.time + since_known * 1e3;
        let unused = if since_known > LONGEST {
            self.time = time;
            std::mem::replace(&mut self.known, start)
        } else {
            start
        };
        Ok((time, duration, unused))
    }
}

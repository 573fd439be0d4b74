//! Panics of functions on the host that no wait has told yet.

use std::sync::{Arc, Mutex};

use super::timeline::{Reach, Timeline};
use crate::error::{Error, HostFunctionPanic, Result};
use crate::sync::lock;

/// One for each device that is open. It does not keep the context, so callbacks of the driver may own it.
#[derive(Default)]
pub(crate) struct HostFunctionPanics(Mutex<Vec<Found>>);

/// A panic, and the launch that the function was, or was part of.
struct Found {
    timeline: Arc<Timeline>,
    launch: u64,
    message: String,
}

impl HostFunctionPanics {
    /// Notes the panic of a function that was, or was part of, this launch.
    pub(crate) fn add(&self, timeline: Arc<Timeline>, launch: u64, message: String) {
        lock(&self.0).push(Found {
            timeline,
            launch,
            message,
        });
    }

    /// # Errors
    ///
    /// The panics of host functions in this reach that were not told yet, as one. `call` is the wait that tells them.
    pub(crate) fn take(&self, call: &'static str, reach: &Reach) -> Result<()> {
        self.take_if(call, |panic| reach.covers(&panic.timeline, panic.launch))
    }

    /// As [`take`](Self::take), of those alone that the reach names: for the wait of another device.
    ///
    /// # Errors
    ///
    /// As for [`take`](Self::take).
    pub(crate) fn take_named(&self, call: &'static str, reach: &Reach) -> Result<()> {
        self.take_if(call, |panic| reach.names(&panic.timeline, panic.launch))
    }

    /// # Errors
    ///
    /// All that nobody has heard of.
    pub(crate) fn take_all(&self, call: &'static str) -> Result<()> {
        self.take_if(call, |_| true)
    }

    fn take_if(&self, call: &'static str, is_wanted: impl Fn(&Found) -> bool) -> Result<()> {
        let mut all = lock(&self.0);
        let mut messages = all
            .extract_if(.., |panic| is_wanted(panic))
            .map(|panic| panic.message);
        match messages.next() {
            None => Ok(()),
            Some(message) => Err(Error::HostFunctionPanic(Box::new(HostFunctionPanic {
                call,
                message,
                others: messages.collect(),
            }))),
        }
    }
}

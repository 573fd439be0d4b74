//! What the order of one device's work rests on: the lock, the streams that may hold work, the captures under way, the launch gate.

use std::sync::{Arc, Mutex};

use smallvec::SmallVec;

use super::capture::CaptureRecorder;
use super::launch_gate::{LaunchGate, LaunchMode};
use super::order_lock::{OrderGuard, OrderLock};
use super::stream_handle::{StreamHandle, StreamRole};
use crate::error::{Code, Error, Result};
use crate::panics::timeline::Reach;
use crate::sync::lock;

/// One for each device that is open.
pub(crate) struct DeviceOrder {
    lock: OrderLock,
    /// Every stream that may hold work. One that nothing else owns stays until it is idle: what it still runs uses modules, memory and
    /// functions, which wait for the streams of this list before they are released.
    streams: Mutex<Vec<Arc<StreamHandle>>>,
    captures: Mutex<Vec<Arc<dyn CaptureRecorder>>>,
    pub(crate) launch_gate: LaunchGate,
}

impl DeviceOrder {
    pub(crate) fn new(mode: LaunchMode) -> DeviceOrder {
        DeviceOrder {
            lock: OrderLock::default(),
            streams: Mutex::new(Vec::new()),
            captures: Mutex::new(Vec::new()),
            launch_gate: LaunchGate::new(mode),
        }
    }

    /// Takes the order lock.
    pub(crate) fn lock(&self) -> OrderGuard<'_> {
        self.lock.lock()
    }

    /// Takes the order locks of several devices, which all threads give in the same order.
    pub(crate) fn lock_all<'a>(
        orders: impl IntoIterator<Item = &'a DeviceOrder>,
    ) -> OrderGuard<'a> {
        let orders: SmallVec<[&DeviceOrder; 2]> = orders.into_iter().collect();
        OrderLock::lock_all(orders.iter().map(|order| &order.lock))
    }

    /// Lets work of this device follow that of others which have called this, from here on: they have one order lock. The caller holds none.
    pub(crate) fn share_lock(&self) {
        self.lock.share();
    }

    /// Adds a stream to those that count as the device's.
    pub(crate) fn add_stream(&self, stream: &Arc<StreamHandle>) {
        lock(&self.streams).push(stream.clone());
    }

    /// The legacy default stream: that of the list, else the one that `make` makes.
    ///
    /// # Errors
    ///
    /// A blocking stream is being captured: then the legacy stream cannot be used.
    pub(crate) fn legacy_stream(
        &self,
        _guard: &OrderGuard<'_>,
        make: impl FnOnce() -> Result<Arc<StreamHandle>>,
    ) -> Result<Arc<StreamHandle>> {
        let mut streams = lock(&self.streams);
        let is_captured = |stream: &Arc<StreamHandle>| {
            stream.is_captured() && stream.role == StreamRole::Blocking
        };
        if streams.iter().any(is_captured) {
            return Err(Error::misuse(
                "Gpu::legacy_stream",
                Code::STREAM_CAPTURE_IMPLICIT,
                "a blocking stream is being captured, which the legacy default stream would wait for",
                "capture a non-blocking stream (`gpu.stream()`), or ask for the legacy stream after the capture",
            ));
        }
        let known = streams
            .iter()
            .find(|stream| stream.role == StreamRole::Legacy);
        match known {
            Some(known) => Ok(known.clone()),
            None => {
                let made = make()?;
                streams.push(made.clone());
                Ok(made)
            }
        }
    }

    /// Refuses to capture the legacy default stream, and a blocking stream as long as that is in use: each call on it would break the capture.
    pub(crate) fn check_capture(
        &self,
        _guard: &OrderGuard<'_>,
        call: &'static str,
        stream: &StreamHandle,
    ) -> Result<()> {
        let legacy_is_known = || {
            let streams = lock(&self.streams);
            streams
                .iter()
                .any(|stream| stream.role == StreamRole::Legacy)
        };
        let (code, message) = match stream.role {
            StreamRole::Legacy => (
                Code::STREAM_CAPTURE_UNSUPPORTED,
                "the legacy default stream cannot be captured",
            ),
            StreamRole::Blocking if legacy_is_known() => (
                Code::STREAM_CAPTURE_IMPLICIT,
                "a blocking stream cannot be captured while the legacy default stream is in use, which would wait for it",
            ),
            StreamRole::Blocking | StreamRole::NonBlocking => return Ok(()),
        };
        let hint = "capture a non-blocking stream: `gpu.stream()` makes one";
        Err(Error::misuse(call, code, message, hint))
    }

    /// The streams that may hold work: those that are alive, and those that were dropped and were not idle when that was last looked at.
    pub(crate) fn streams(&self) -> Vec<Arc<StreamHandle>> {
        lock(&self.streams).clone()
    }

    /// What comes before the present moment, in all streams.
    pub(crate) fn reach(&self) -> Reach {
        let mut reach = Reach::default();
        for stream in self.streams() {
            reach.merge(&stream.timeline().end());
        }
        // After the streams: one that leaves meanwhile is in either.
        reach.add_gone();
        reach
    }

    /// Forgets all streams: the device is idle or lost, and the last object of it is gone.
    pub(crate) fn forget_streams(&self) {
        let streams = std::mem::take(&mut *lock(&self.streams));
        drop(streams);
    }

    /// Destroys the streams that nothing owns any more and that are idle.
    pub(crate) fn destroy_idle_streams(&self) {
        let dropped = |stream: &Arc<StreamHandle>| Arc::strong_count(stream) == 1;
        if !lock(&self.streams).iter().any(dropped) {
            return;
        }
        let guard = self.lock();
        // An error means that the context is lost: nothing runs any more.
        let idle: Vec<_> = lock(&self.streams)
            .extract_if(.., |stream| {
                let is_idle = dropped(stream) && stream.past_is_done(&guard).unwrap_or(true);
                if is_idle {
                    // With the list, and not later: a wait for the device that does not find it there finds it gone (`reach`).
                    stream.timeline().leave();
                }
                is_idle
            })
            .collect();
        drop(guard);
        // Outside of both locks: destroying calls the driver.
        drop(idle);
    }

    /// Whether all streams have done what was really enqueued in them.
    ///
    /// # Errors
    ///
    /// An earlier fault on the device.
    pub(crate) fn is_idle(&self, guard: &OrderGuard<'_>) -> Result<bool> {
        for stream in self.streams() {
            if !stream.past_is_done(guard)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds a capture that begins.
    pub(crate) fn add_capture(&self, _guard: &OrderGuard<'_>, capture: Arc<dyn CaptureRecorder>) {
        lock(&self.captures).push(capture);
    }

    /// Takes a capture that has ended off the list.
    pub(crate) fn remove_capture(&self, _guard: &OrderGuard<'_>, number: u64) {
        lock(&self.captures).retain(|capture| capture.number() != number);
    }

    /// The capture that a stream is part of.
    pub(crate) fn capture_of(
        &self,
        _guard: &OrderGuard<'_>,
        stream: &StreamHandle,
    ) -> Option<Arc<dyn CaptureRecorder>> {
        let number = stream.capture_number()?;
        lock(&self.captures)
            .iter()
            .find(|capture| capture.number() == number)
            .cloned()
    }

    /// Whether some stream is being captured.
    pub(crate) fn is_capturing(&self) -> bool {
        !lock(&self.captures).is_empty()
    }
}

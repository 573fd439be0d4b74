//! What the order of one device's work rests on: the lock, the streams that are alive, the captures under way, the launch gate.

use std::sync::{Arc, Mutex, Weak};

use super::capture::CaptureRecorder;
use super::launch_gate::{LaunchGate, LaunchMode};
use super::order_lock::{OrderGuard, OrderLock};
use super::stream_handle::StreamHandle;
use crate::error::Result;
use crate::sync::lock;

/// One for each device that is open.
pub(crate) struct DeviceOrder {
    lock: OrderLock,
    streams: Mutex<Vec<Weak<StreamHandle>>>,
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

    /// Adds a stream to those that count as the device's.
    pub(crate) fn add_stream(&self, stream: &Arc<StreamHandle>) {
        let mut streams = lock(&self.streams);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(stream));
    }

    /// The streams that are alive.
    pub(crate) fn live_streams(&self) -> Vec<Arc<StreamHandle>> {
        let mut streams = lock(&self.streams);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.iter().filter_map(Weak::upgrade).collect()
    }

    /// Whether all streams have done what was really enqueued in them.
    ///
    /// # Errors
    ///
    /// An earlier fault on the device.
    pub(crate) fn is_idle(&self, guard: &OrderGuard<'_>) -> Result<bool> {
        for stream in self.live_streams() {
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

//! What the floors below graphs tell a capture: a stream that is captured hands its work to one of these.

use std::sync::Arc;

use super::access::Access;
use super::history::OrderedMemory;
use super::order_lock::OrderGuard;
use super::stream_handle::StreamHandle;
use crate::error::Result;

/// A capture under way. Its streams enqueue nothing; what they are given becomes a graph.
pub(crate) trait CaptureRecorder: Send + Sync {
    /// The capture's number, which no other capture of this process has; never 0.
    fn number(&self) -> u64;

    /// Puts a use in order within the capture, and keeps the memory for the graph.
    fn order_use(
        &self,
        guard: &OrderGuard<'_>,
        memory: Arc<dyn OrderedMemory>,
        stream: &Arc<StreamHandle>,
        access: Access,
    ) -> Result<()>;

    /// Keeps a kernel launch for the graph.
    fn keep_launch(&self, launch: Arc<dyn RecordedLaunch>);
}

/// A kernel launch that is part of a graph, which keeps it alive and tells it of each launch of the graph.
pub(crate) trait RecordedLaunch: Send + Sync {
    /// The graph was launched.
    fn launched(&self);
}

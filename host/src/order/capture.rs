//! What the floors below graphs tell a capture: a stream that is captured hands its work to one of these.

use std::any::Any;
use std::sync::Arc;

use warpsmith_driver::raw;

use super::access::Access;
use super::history::OrderedMemory;
use super::launchable_graph::LaunchableGraph;
use super::order_lock::OrderGuard;
use super::stream_handle::StreamHandle;
use crate::error::Result;
use crate::panics::reports::Panics;

/// A capture under way. Its streams enqueue nothing; what they are given becomes a graph.
pub(crate) trait CaptureRecorder: Any + Send + Sync {
    /// The capture's number, which no other capture of this process has; never 0.
    fn number(&self) -> u64;

    /// # Errors
    ///
    /// The graph cannot allocate memory in this stream's order.
    fn check_allocation(&self, stream: &StreamHandle) -> Result<()>;

    /// Puts a use in order within the capture, and keeps the memory for the graph.
    fn order_use(
        &self,
        guard: &OrderGuard<'_>,
        memory: Arc<dyn OrderedMemory>,
        stream: &Arc<StreamHandle>,
        access: Access,
    ) -> Result<()>;

    /// Keeps a kernel launch for the graph, which was the last to be enqueued in `stream`.
    fn keep_launch(
        &self,
        guard: &OrderGuard<'_>,
        stream: &StreamHandle,
        launch: Arc<dyn RecordedLaunch>,
    ) -> Result<()>;

    /// Puts all that a graph uses in order within the capture, whose next kernel in `stream` may launch it, and keeps it.
    fn use_graph(
        &self,
        guard: &OrderGuard<'_>,
        stream: &Arc<StreamHandle>,
        graph: &LaunchableGraph,
    ) -> Result<()>;

    /// Keeps something else for the graph.
    fn keep(&self, guard: &OrderGuard<'_>, object: Arc<dyn Any + Send + Sync>);
}

/// A kernel launch that is part of a graph, which keeps it alive.
pub(crate) trait RecordedLaunch: Send + Sync {
    /// The panics of the kernel's device.
    fn panics(&self) -> &Arc<Panics>;

    /// Whether it tells of panics.
    fn can_panic(&self) -> bool;

    /// Whether it was given a priority of its own.
    fn has_priority(&self) -> bool;

    /// The clusters that its kernel was compiled for, in blocks; zeros for none.
    fn compiled_cluster(&self) -> Result<[u32; 3]>;

    /// The address of the log that a node has; `None` if it launches another kernel.
    ///
    /// # Safety
    ///
    /// The node is alive, and a kernel's; no other thread uses its graph. This launch can panic.
    unsafe fn panic_log(&self, node: raw::CUgraphNode) -> Result<Option<u64>>;

    /// Has the node tell of panics in the log at this address.
    ///
    /// # Safety
    ///
    /// The node is alive, and the one of this launch, which can panic; no other thread uses its graph.
    unsafe fn set_panic_log(&self, node: raw::CUgraphNode, log: u64) -> Result<()>;
}

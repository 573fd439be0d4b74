//! What the streams of a capture record.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::builder::Broken;
use super::contents::{Contents, MemoryId, RecordedKernel};
use super::new_node::last_captured_node;
use crate::error::{Code, Error, Node, Result};
use crate::gpu::open_device::OpenDevice;
use crate::order::access::Access;
use crate::order::capture::{CaptureRecorder, RecordedLaunch};
use crate::order::entries::Entries;
use crate::order::history::OrderedMemory;
use crate::order::launchable_graph::LaunchableGraph;
use crate::order::memory_use::MemoryUse;
use crate::order::order_lock::OrderGuard;
use crate::order::stream_handle::StreamHandle;
use crate::sync::lock;

/// What all streams of a capture share.
pub(super) struct CaptureState {
    /// The device of the first stream.
    pub(super) gpu: Arc<OpenDevice>,
    /// That of the graph, too.
    pub(super) number: u64,
    pub(super) recorded: Mutex<Recorded>,
}

#[derive(Default)]
pub(super) struct Recorded {
    /// The uses of memory. The contents keep the memory, so no id is used twice.
    uses: HashMap<MemoryId, Entries<Arc<StreamHandle>>>,
    pub(super) contents: Contents,
    /// Why nothing can be made of the graph.
    pub(super) broken: Option<Broken>,
    /// The streams besides the first.
    pub(super) forks: Vec<Arc<StreamHandle>>,
}

impl CaptureRecorder for CaptureState {
    fn number(&self) -> u64 {
        self.number
    }

    fn check_allocation(&self, stream: &StreamHandle) -> Result<()> {
        match stream.is_in(self.gpu.context()) {
            true => Ok(()),
            false => Err(Error::misuse(
                "cuMemAllocAsync",
                Code::INVALID_CONTEXT,
                "the stream is of another device than the one on which the capture began, whose memory alone the graph allocates",
                "allocate before the capture, or in the stream on which it began",
            )),
        }
    }

    fn order_use(
        &self,
        guard: &OrderGuard<'_>,
        memory: Arc<dyn OrderedMemory>,
        stream: &Arc<StreamHandle>,
        access: Access,
    ) -> Result<()> {
        let mut recorded = lock(&self.recorded);
        let entries = recorded.uses.entry(MemoryId::of(&*memory)).or_default();
        for other in entries.before(stream, &access) {
            stream.follow_captured(guard, &other)?;
        }
        entries.add(stream, access);
        memory.history().join_graph(guard);
        recorded.contents.add_use(&MemoryUse { memory, access });
        Ok(())
    }

    fn keep_launch(
        &self,
        _guard: &OrderGuard<'_>,
        stream: &StreamHandle,
        launch: Arc<dyn RecordedLaunch>,
    ) -> Result<()> {
        let node = last_captured_node(stream.stream_ref());
        let (node, known) = match node {
            Ok(node) => (Some(Node::new(node, self.number)), Ok(())),
            Err(error) => (None, Err(error)),
        };
        lock(&self.recorded)
            .contents
            .launches
            .push(RecordedKernel { node, launch });
        known
    }

    fn use_graph(
        &self,
        guard: &OrderGuard<'_>,
        stream: &Arc<StreamHandle>,
        graph: &LaunchableGraph,
    ) -> Result<()> {
        for used in &graph.uses {
            self.order_use(guard, used.memory.clone(), stream, used.access)?;
        }
        lock(&self.recorded).contents.keep_launchable(graph);
        Ok(())
    }

    fn keep(&self, _guard: &OrderGuard<'_>, object: Arc<dyn Any + Send + Sync>) {
        lock(&self.recorded).contents.kept.push(object);
    }
}

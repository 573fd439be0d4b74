//! Graphs as nodes of captures: what a captured stream is given to launch.

use std::any::Any;
use std::sync::Arc;

use super::builder::Broken;
use super::capture::Capture;
use super::capture_state::CaptureState;
use super::child::{UNKNOWN_NODES, make_child};
use super::contents::{Contents, null_node};
use super::description::Graph;
use super::nested;
use super::new_node::{NewNode, capture_position};
use super::template::{Template, TemplateTurn};
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Node, Result};
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::order::capture::CaptureRecorder;
use crate::order::order_lock::OrderGuard;
use crate::order::stream_handle::StreamHandle;
use crate::stream::Stream;
use crate::sync::lock;

const CALL: &str = "cuGraphAddChildGraphNode";

/// A graph of which a node is to be a copy. The nodes of the contents are those of the template.
pub(super) struct WholeGraph<'a> {
    pub(super) template: &'a Template,
    pub(super) contents: &'a Contents,
    pub(super) number: u64,
    /// The template's [`changes`](Template::changes) since which the contents are not those of its nodes any more.
    pub(super) changes: u64,
}

impl Capture<'_, '_> {
    /// Adds a copy of a graph, as one node, to a stream of the capture: as [`GraphBuilder::child`](crate::GraphBuilder::child), in the order of the stream
    /// and of the memory that the graph uses. Of an executable graph, [`GraphExec::launch`](crate::GraphExec::launch) in the stream does the same.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let mut stream = gpu.stream()?;
    /// let (mut a, mut b) = (stream.zeroed::<u32>(4)?, stream.zeroed::<u32>(4)?);
    /// let mut step = gpu.graph()?;
    /// step.copy(&a, &mut b)?;
    /// let graph = stream.capture(|capture| {
    ///     capture.fill(&mut a, 7)?;
    ///     capture.child(capture.stream(), &step)
    /// })?;
    /// graph.instantiate()?.launch(&stream)?;
    /// assert_eq!(stream.download(&b)?, [7; 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The stream is not part of this capture; and those of [`GraphBuilder::child`](crate::GraphBuilder::child).
    // covers: GRAPH-11, GRAPH-32
    pub fn child(&self, stream: &Stream, graph: &Graph) -> Result<()> {
        self.check_member("Capture::child", stream)?;
        check_same_device(CALL, ("the child", &graph.gpu), ("the stream", &stream.gpu))?;
        graph.refuse_broken(CALL)?;
        stream.gpu.bind()?;
        let guard = stream.gpu.lock_order();
        let whole = WholeGraph {
            template: &graph.template,
            contents: &graph.contents,
            number: graph.number,
            changes: graph.template.changes(),
        };
        self.state.add_child(&guard, &stream.handle, &whole)
    }
}

impl CaptureState {
    /// The capture that a stream is part of.
    ///
    /// # Errors
    ///
    /// It is part of none.
    pub(super) fn of(
        gpu: &OpenDevice,
        guard: &OrderGuard<'_>,
        stream: &StreamHandle,
    ) -> Result<Arc<CaptureState>> {
        let capture = gpu.order().capture_of(guard, stream).and_then(|capture| {
            let capture: Arc<dyn Any + Send + Sync> = capture;
            capture.downcast().ok()
        });
        capture.ok_or_else(|| driver_call::failed(CALL, Code::STREAM_CAPTURE_INVALIDATED))
    }

    /// Adds a copy of a graph to what a stream of the capture holds.
    ///
    /// # Errors
    ///
    /// The graph is not that of the contents any more, the driver cannot copy it, or has no room.
    pub(super) fn add_child(
        &self,
        guard: &OrderGuard<'_>,
        stream: &Arc<StreamHandle>,
        whole: &WholeGraph<'_>,
    ) -> Result<()> {
        /// `CU_STREAM_SET_CAPTURE_DEPENDENCIES`
        const SET: u32 = 1;
        nested::refuse_uncopyable(CALL, whole.contents)?;
        let mut node = null_node();
        {
            // From the question to the copy: another thread that has the graph may be adding nodes, whose memory nobody would keep.
            let turn = whole.template.turn();
            if whole.template.changes() != whole.changes {
                return Err(refuse_changed(
                    "nodes or edges were added to that graph since",
                ));
            }
            for used in &whole.contents.memory {
                self.order_use(guard, used.memory.clone(), stream, used.access)?;
            }
            let position = capture_position(stream.stream_ref())?;
            // SAFETY: the nodes are those of the template; each executable graph that is made of it sets them anew (`report_to`).
            unsafe { nested::mark(whole.contents, &turn) }?;
            let new = NewNode {
                node: &mut node,
                graph: position.graph,
                before: &position.after,
            };
            // SAFETY: the template owns the child, which is no capture's graph.
            unsafe { make_child(new, whole.template.raw()) }?;
        }
        // From here on the node is in the graph.
        let turn = TemplateTurn::of_capture(guard);
        // SAFETY: the node is of the graph that the stream's capture makes.
        let placed = unsafe {
            call!(cuStreamUpdateCaptureDependencies(
                stream.raw(),
                &mut node,
                1,
                SET
            ))
        };
        // SAFETY: the node was made above, as a child graph's, of the graph whose nodes were marked.
        let found = placed.and_then(|()| unsafe {
            let copy = nested::child_of(node, &turn)?;
            nested::find_marked(whole.contents, copy, self.number, &turn)
        });
        let recorded = &mut *lock(&self.recorded);
        let mut contents = match &found {
            Ok(contents) => contents.clone(),
            // What the node uses all the same. Nothing is made of the graph, so that nobody looks for these nodes in it.
            Err(_) => whole.contents.clone(),
        };
        contents.inner.push(whole.number);
        recorded.contents.absorb(contents);
        found.map(drop).inspect_err(|_| {
            recorded.broken.get_or_insert(Broken {
                node: Node::new(node, self.number),
                what: UNKNOWN_NODES,
            });
        })
    }
}

/// The error of a captured launch of an executable graph that is not a graph as a whole any more.
pub(super) fn refuse_changed(why: &str) -> Error {
    Error::misuse(
        "cuGraphLaunch",
        Code::STREAM_CAPTURE_UNSUPPORTED,
        format!(
            "the stream is being captured, where a launch becomes a copy of the graph that this was made of or last updated to, and {why}"
        ),
        "add a graph that is as you want it: `capture.child(stream, &graph)`; or launch it outside of the capture",
    )
}

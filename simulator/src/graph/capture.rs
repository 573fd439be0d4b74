//! Stream capture: what a captured stream is given to do becomes nodes of a graph. Who takes part and what is forbidden is known to the
//! streams themselves ([`crate::streams::capture`]); here are the graphs.

use std::sync::{Arc, Mutex, Weak};

use super::edge::{PLAIN_EDGE, PROGRAMMATIC_AT_START, PROGRAMMATIC_EDGE, STARTED_EDGE};
use super::memory_nodes;
use super::template::{Graph, NODES, NodeOperation};
use crate::error::{Result, code};
use crate::memory::graph_memory::{GraphAllocation, Placement};
use crate::streams::capture::{
    CaptureInformation, CaptureSession, Dependency, DependencyUpdate, Frontier,
};
use crate::streams::{Event, Launch, Operation, Recording, Signals, Stream};
use crate::sync::lock;
use crate::work::CompletionPoint;
use warpsmith_abi::CUstreamCaptureMode;

/// The graph into which a capture goes.
struct CaptureTarget {
    session: Weak<CaptureSession>,
    graph: Arc<Graph>,
}

/// The graphs of all captures that have not ended.
static TARGETS: Mutex<Vec<CaptureTarget>> = Mutex::new(Vec::new());

/// The graph of a capture.
pub(crate) fn graph_of(session: &CaptureSession) -> Option<Arc<Graph>> {
    lock(&TARGETS)
        .iter()
        .find(|target| std::ptr::eq(target.session.as_ptr(), session))
        .map(|target| Arc::clone(&target.graph))
}

/// Begins a capture, into a fresh graph or, after given nodes, into an existing one.
pub(crate) fn begin(
    stream: &Stream,
    mode: CUstreamCaptureMode,
    into: Option<(Arc<Graph>, Frontier)>,
) -> Result {
    let (graph, frontier) = match into {
        Some((graph, frontier)) => (Some(graph), frontier),
        None => (None, Vec::new()),
    };
    stream.capture.begin(mode, frontier, |session| {
        let mut targets = lock(&TARGETS);
        // A capture whose streams were all destroyed never ends.
        targets.retain(|target| target.session.strong_count() > 0);
        targets.push(CaptureTarget {
            session: Arc::downgrade(session),
            graph: graph.unwrap_or_else(|| Graph::create(false)),
        });
    })
}

/// Ends the capture that began on this stream and gives its graph.
pub(crate) fn end(stream: &Stream) -> Result<Arc<Graph>> {
    let ended = stream.capture.end()?;
    let graph = graph_of(&ended.session).ok_or(code::STREAM_CAPTURE_INVALIDATED)?;
    lock(&TARGETS).retain(|target| !std::ptr::eq(target.session.as_ptr(), &*ended.session));
    let is_joined = |dependency: &Dependency| {
        ended
            .frontier
            .iter()
            .any(|last| graph.is_before(dependency.node, last.node))
    };
    let joined = ended.other_frontiers.iter().flatten().all(is_joined);
    let dangling = ended.frontier.iter().any(|last| last.edge.type_ != 0);
    if ended.is_invalid {
        Err(code::STREAM_CAPTURE_INVALIDATED)
    } else if !joined || dangling {
        Err(code::STREAM_CAPTURE_UNJOINED)
    } else {
        Ok(graph)
    }
}

/// Appends an operation to the graph of a captured stream; `false` if the stream is not being captured.
fn append(stream: &Stream, operation: &Operation) -> Result<bool> {
    stream.capture.append(|session, after| {
        let graph = graph_of(session).ok_or(code::STREAM_CAPTURE_INVALIDATED)?;
        let node = memory_nodes::add(&graph, after, NodeOperation::Single(operation.clone()))?;
        Ok(Dependency::plain(node.handle))
    })
}

/// Appends an allocation to the graph of a captured stream; `None` if the stream is not being captured.
pub(crate) fn allocate(
    stream: &Stream,
    placement: Placement,
) -> Result<Option<Arc<GraphAllocation>>> {
    let mut made = None;
    stream.capture.append(|session, after| {
        let graph = graph_of(session).ok_or(code::STREAM_CAPTURE_INVALIDATED)?;
        let (node, allocation) = memory_nodes::allocate(&graph, after, placement)?;
        made = Some(allocation);
        Ok(Dependency::plain(node.handle))
    })?;
    Ok(made)
}

/// Executes an operation in the stream's order, or appends it to the graph that the stream captures. `None` in the latter case.
pub(crate) fn perform(stream: &Stream, operation: Operation) -> Result<Option<CompletionPoint>> {
    let context = stream.context()?;
    if let Operation::Copy(copy) | Operation::StagedCopy(copy, _) = &operation
        && stream.capture.is_capturing()
    {
        // As measured: the capture goes on.
        copy.refuse_other_pools(context.device)?;
    }
    if append(stream, &operation)? {
        return Ok(None);
    }
    stream.enqueue(&context, operation).map(Some)
}

/// Launches a kernel in the stream's order, or appends it to the graph that the stream captures.
pub(crate) fn perform_launch(stream: &Stream, launch: Launch, signals: &Signals) -> Result {
    let context = stream.context()?;
    let appended = stream.capture.append(|session, after| {
        let graph = graph_of(session).ok_or(code::STREAM_CAPTURE_INVALIDATED)?;
        let after: Vec<Dependency> = after
            .iter()
            .map(|&dependency| match signals.early {
                true => overlapping(dependency),
                false => dependency,
            })
            .collect();
        let node = graph.add(
            &after,
            NodeOperation::Single(Operation::Kernel(launch.clone())),
        )?;
        Ok(Dependency::plain(node.handle))
    })?;
    if !appended {
        if launch.function.kernel.launches_graphs() {
            // Only a node of a graph can (H200, driver 580.159.04).
            return Err(code::NOT_SUPPORTED);
        }
        return stream.launch(&context, launch, signals);
    }
    let events = [
        signals
            .programmatic
            .as_ref()
            .map(|(event, at_block_start)| {
                let edge = if *at_block_start {
                    PROGRAMMATIC_AT_START
                } else {
                    PROGRAMMATIC_EDGE
                };
                (event, edge)
            }),
        signals.started.as_ref().map(|event| (event, STARTED_EDGE)),
    ];
    for (event, edge) in events.into_iter().flatten() {
        if let Some(captured) = stream.capture.captured_event()? {
            event.record(Recording::Captured(captured.with_edge(edge)));
        }
    }
    Ok(())
}

/// The dependency of a launch with programmatic stream serialisation: a full one on a kernel becomes a programmatic one.
fn overlapping(dependency: Dependency) -> Dependency {
    let node = NODES.get(dependency.node as *mut ());
    let is_kernel =
        node.is_ok_and(|node| matches!(node.single_operation(), Some(Operation::Kernel(_))));
    if is_kernel && dependency.edge.type_ == PLAIN_EDGE.type_ && dependency.edge.from_port == 0 {
        Dependency {
            edge: PROGRAMMATIC_EDGE,
            ..dependency
        }
    } else {
        dependency
    }
}

/// Whether an event is recorded or waited for as a node of the graph, or only orders the items of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventUse {
    /// `CU_EVENT_RECORD_EXTERNAL`, `CU_EVENT_WAIT_EXTERNAL`: a node.
    External,
    /// Order inside of the capture.
    Internal,
}

/// Records an event as far as captures are concerned; `false` where the stream is not being captured.
pub(crate) fn record_event(stream: &Stream, event: &Arc<Event>, how: EventUse) -> Result<bool> {
    if how == EventUse::External {
        return append(stream, &Operation::EventRecord(Arc::clone(event)));
    }
    let captured = stream.capture.captured_event()?;
    if captured.is_some() && event.is_interprocess() {
        // As measured: the capture goes on.
        return Err(code::STREAM_CAPTURE_UNSUPPORTED);
    }
    let is_captured = captured.is_some();
    if let Some(captured) = captured {
        event.record(Recording::Captured(captured));
    }
    Ok(is_captured)
}

/// Waits for an event as far as captures are concerned; `false` where neither the stream nor the event is captured.
pub(crate) fn wait_event(stream: &Stream, event: &Arc<Event>, how: EventUse) -> Result<bool> {
    if how == EventUse::External && stream.capture.is_capturing() {
        return append(stream, &Operation::EventWait(Arc::clone(event)));
    }
    if event.is_interprocess() {
        stream.capture.refuse_if_capturing()?;
        return Ok(false);
    }
    let captured = match event.recording() {
        Recording::Captured(captured) => Some(captured),
        Recording::Never | Recording::Recorded(_) | Recording::Shared(_) => None,
    };
    stream.capture.wait_for(captured)
}

/// The state of a stream's capture, and the handle of its graph.
pub(crate) fn information(stream: &Stream) -> Result<(CaptureInformation, usize)> {
    let information = stream.capture.information()?;
    let graph = information.session.as_deref().and_then(graph_of);
    Ok((information, graph.map_or(0, |graph| graph.handle)))
}

/// Adds to a captured stream's dependencies, or replaces them.
pub(crate) fn update_dependencies(
    stream: &Stream,
    dependencies: &[Dependency],
    update: DependencyUpdate,
) -> Result {
    stream
        .capture
        .update_dependencies(dependencies, update, |session| {
            let graph = graph_of(session).map_or(0, |graph| graph.handle);
            let belongs = |dependency: &Dependency| {
                NODES
                    .get(dependency.node as *mut ())
                    .is_ok_and(|node| node.graph == graph)
            };
            if dependencies.iter().all(belongs) {
                Ok(())
            } else {
                Err(code::INVALID_VALUE)
            }
        })
}

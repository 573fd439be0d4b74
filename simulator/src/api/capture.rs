//! Stream capture.

use super::entry::*;
use super::graph::{data_of_nodes, dependency_list};
use crate::graph::{self, GRAPHS};
use crate::streams;
use crate::streams::capture::{self, CaptureInformation, Dependency, DependencyUpdate};

type Mode = CUstreamCaptureMode;

driver_calls! {
    Ready fn cuStreamBeginCapture(hStream: CUstream) {
        graph::begin(&*streams::find(hStream)?, Mode::CU_STREAM_CAPTURE_MODE_GLOBAL, None)?;
    }

    Ready fn cuStreamBeginCapture_v2(hStream: CUstream, mode: CUstreamCaptureMode) {
        graph::begin(&*streams::find(hStream)?, mode, None)?;
    }

    Ready fn cuStreamBeginCaptureToGraph(
        hStream: CUstream, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData,
        numDependencies: usize, mode: CUstreamCaptureMode,
    ) {
        let stream = streams::find(hStream)?;
        let graph = GRAPHS.get(hGraph)?;
        let after = dependency_list(dependencies, dependencyData, numDependencies)?;
        let nodes = graph.nodes();
        if after.iter().any(|before| nodes.iter().all(|node| node.handle != before.node)) {
            return Err(code::INVALID_VALUE);
        }
        graph::begin(&stream, mode, Some((graph, after)))?;
    }

    Ready fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) {
        if phGraph.is_null() {
            return Err(code::INVALID_VALUE);
        }
        phGraph.write(core::ptr::null_mut());
        let graph = graph::end(&*streams::find(hStream)?)?;
        phGraph.write(graph.handle as CUgraph);
    }

    Ready fn cuStreamIsCapturing(hStream: CUstream, captureStatus: *mut CUstreamCaptureStatus) {
        put(captureStatus, streams::find(hStream)?.capture.information()?.status)?;
    }

    Ready fn cuStreamGetCaptureInfo(
        hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut cuuint64_t,
    ) {
        let (information, graph) = graph::information(&*streams::find(hStream)?)?;
        tell(&information, graph, captureStatus_out, id_out, core::ptr::null_mut())?;
    }

    Ready fn cuStreamGetCaptureInfo_v2(
        hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut cuuint64_t, graph_out: *mut CUgraph,
        dependencies_out: *mut *const CUgraphNode, numDependencies_out: *mut usize,
    ) {
        let (information, graph) = graph::information(&*streams::find(hStream)?)?;
        if information.frontier.iter().any(|before| before.edge.type_ != 0) {
            return Err(code::LOSSY_QUERY);
        }
        tell(&information, graph, captureStatus_out, id_out, graph_out)?;
        lend(&information, dependencies_out, core::ptr::null_mut(), numDependencies_out);
    }

    Ready fn cuStreamGetCaptureInfo_v3(
        hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut cuuint64_t, graph_out: *mut CUgraph,
        dependencies_out: *mut *const CUgraphNode, edgeData_out: *mut *const CUgraphEdgeData,
        numDependencies_out: *mut usize,
    ) {
        let (information, graph) = graph::information(&*streams::find(hStream)?)?;
        data_of_nodes(dependencies_out, edgeData_out)?;
        tell(&information, graph, captureStatus_out, id_out, graph_out)?;
        lend(&information, dependencies_out, edgeData_out, numDependencies_out);
    }

    Ready fn cuStreamUpdateCaptureDependencies(
        hStream: CUstream, dependencies: *mut CUgraphNode, numDependencies: usize, flags: c_uint,
    ) {
        let after = dependency_list(dependencies, core::ptr::null(), numDependencies)?;
        update(hStream, &after, flags)?;
    }

    Ready fn cuStreamUpdateCaptureDependencies_v2(
        hStream: CUstream, dependencies: *mut CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize,
        flags: c_uint,
    ) {
        let after = dependency_list(dependencies, dependencyData, numDependencies)?;
        update(hStream, &after, flags)?;
    }

    Ready fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) {
        if mode.is_null() {
            return Err(code::INVALID_VALUE);
        }
        mode.write(capture::exchange_mode(mode.read())?);
    }
}

fn update(stream: CUstream, dependencies: &[Dependency], flags: c_uint) -> Result {
    let update = match flags {
        0 => DependencyUpdate::Add,
        1 => DependencyUpdate::Replace,
        _ => return Err(code::INVALID_VALUE),
    };
    graph::update_dependencies(&*streams::find(stream)?, dependencies, update)
}

/// # Safety
///
/// The pointers are null or valid for writing.
unsafe fn tell(
    information: &CaptureInformation,
    graph: usize,
    status: *mut CUstreamCaptureStatus,
    id: *mut cuuint64_t,
    graph_out: *mut CUgraph,
) -> Result {
    // SAFETY: all three pointers are null or valid for writing by the caller's contract, and null ones are not written through.
    unsafe {
        put(status, information.status)?;
        if !id.is_null() {
            id.write(information.session.as_ref().map_or(0, |session| session.id));
        }
        if !graph_out.is_null() {
            graph_out.write(graph as CUgraph);
        }
    }
    Ok(())
}

/// Hands out arrays that stay valid until this thread asks again.
///
/// # Safety
///
/// The pointers are null or valid for writing.
unsafe fn lend(
    information: &CaptureInformation,
    nodes: *mut *const CUgraphNode,
    edges: *mut *const CUgraphEdgeData,
    count: *mut usize,
) {
    use std::cell::RefCell;
    thread_local! {
        static LENT: RefCell<(Vec<CUgraphNode>, Vec<CUgraphEdgeData>)> = const { RefCell::new((Vec::new(), Vec::new())) };
    }
    LENT.with_borrow_mut(|lent| {
        lent.0 = information
            .frontier
            .iter()
            .map(|before| before.node as CUgraphNode)
            .collect();
        lent.1 = information
            .frontier
            .iter()
            .map(|before| before.edge)
            .collect();
        // SAFETY: all three pointers are null or valid for writing by the caller's contract, and null ones are not written through.
        unsafe {
            if !nodes.is_null() {
                nodes.write(lent.0.as_ptr());
            }
            if !edges.is_null() {
                edges.write(lent.1.as_ptr());
            }
            if !count.is_null() {
                count.write(lent.0.len());
            }
        }
    });
}

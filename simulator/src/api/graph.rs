//! Graphs: creation, edges, queries, user objects, DOT.

use core::ffi::CStr;

use super::entry::*;
use crate::context::Context;
use crate::graph::{
    self, Edge, GRAPHS, Graph, NODES, NodeOperation, PLAIN_EDGE, ReferencesLeft, USER_OBJECTS,
    UserObject,
};
use crate::report;
use crate::streams::capture::Dependency;

driver_calls! {
    Ready fn cuGraphCreate(phGraph: *mut CUgraph, flags: c_uint) {
        if phGraph.is_null() || flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        phGraph.write(Graph::create(false).handle as CUgraph);
    }

    Ready fn cuGraphDestroy(hGraph: CUgraph) {
        let graph = GRAPHS.get(hGraph)?;
        if graph.is_owned() {
            // Child graphs and conditional bodies end with their node.
            return Err(code::INVALID_VALUE);
        }
        GRAPHS.remove(hGraph)?;
        graph::forget_clone(&graph);
        graph.clear();
    }

    Ready fn cuGraphClone(phGraphClone: *mut CUgraph, originalGraph: CUgraph) {
        let original = GRAPHS.get(originalGraph)?;
        if phGraphClone.is_null() {
            return Err(code::INVALID_VALUE);
        }
        graph::refuse_memory_nodes(&original)?;
        phGraphClone.write(graph::clone_graph(&original).handle as CUgraph);
    }

    Ready fn cuGraphNodeFindInClone(phNode: *mut CUgraphNode, hOriginalNode: CUgraphNode, hClonedGraph: CUgraph) {
        let graph = GRAPHS.get(hClonedGraph)?;
        let node = graph::find_in_clone(&graph, hOriginalNode as usize).ok_or(code::INVALID_VALUE)?;
        put(phNode, node as CUgraphNode)?;
    }

    Ready fn cuGraphDestroyNode(hNode: CUgraphNode) {
        let node = NODES.get(hNode)?;
        let graph = GRAPHS.get(node.graph as CUgraph)?;
        graph::refuse_memory_nodes(&graph)?;
        graph.remove(&node);
    }

    Ready fn cuGraphNodeGetType(hNode: CUgraphNode, r#type: *mut CUgraphNodeType) {
        put(r#type, NODES.get(hNode)?.operation().node_type())?;
    }

    Ready fn cuGraphAddDependencies(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize) {
        GRAPHS.get(hGraph)?.connect(&edges(from, to, core::ptr::null(), numDependencies)?)?;
    }

    Ready fn cuGraphAddDependencies_v2(
        hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData,
        numDependencies: usize,
    ) {
        GRAPHS.get(hGraph)?.connect(&edges(from, to, edgeData, numDependencies)?)?;
    }

    Ready fn cuGraphRemoveDependencies(
        hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize,
    ) {
        disconnect(hGraph, &edges(from, to, core::ptr::null(), numDependencies)?)?;
    }

    Ready fn cuGraphRemoveDependencies_v2(
        hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData,
        numDependencies: usize,
    ) {
        disconnect(hGraph, &edges(from, to, edgeData, numDependencies)?)?;
    }

    Ready fn cuGraphGetNodes(hGraph: CUgraph, nodes: *mut CUgraphNode, numNodes: *mut usize) {
        let all = GRAPHS.get(hGraph)?.nodes();
        list(&all.iter().map(|node| node.handle as CUgraphNode).collect::<Vec<_>>(), nodes, numNodes)?;
    }

    Ready fn cuGraphGetRootNodes(hGraph: CUgraph, rootNodes: *mut CUgraphNode, numRootNodes: *mut usize) {
        let graph = GRAPHS.get(hGraph)?;
        let edges = graph.edges();
        let roots = graph.nodes().into_iter().map(|node| node.handle);
        let roots = roots.filter(|&handle| edges.iter().all(|edge| edge.to != handle));
        list(&roots.map(|handle| handle as CUgraphNode).collect::<Vec<_>>(), rootNodes, numRootNodes)?;
    }

    Ready fn cuGraphGetEdges(hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, numEdges: *mut usize) {
        let graph = GRAPHS.get(hGraph)?;
        both_or_none(from, to)?;
        list_edges(&graph.edges(), from, to, core::ptr::null_mut(), numEdges)?;
    }

    Ready fn cuGraphGetEdges_v2(
        hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numEdges: *mut usize,
    ) {
        let graph = GRAPHS.get(hGraph)?;
        both_or_none(from, to)?;
        list_edges(&graph.edges(), from, to, edgeData, numEdges)?;
    }

    Ready fn cuGraphNodeGetDependencies(hNode: CUgraphNode, dependencies: *mut CUgraphNode, numDependencies: *mut usize) {
        let edges = edges_at(hNode, |edge| edge.to)?;
        list_edges(&edges, dependencies, core::ptr::null_mut(), core::ptr::null_mut(), numDependencies)?;
    }

    Ready fn cuGraphNodeGetDependencies_v2(
        hNode: CUgraphNode, dependencies: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependencies: *mut usize,
    ) {
        let edges = edges_at(hNode, |edge| edge.to)?;
        data_of_nodes(dependencies, edgeData)?;
        list_edges(&edges, dependencies, core::ptr::null_mut(), edgeData, numDependencies)?;
    }

    Ready fn cuGraphNodeGetDependentNodes(
        hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, numDependentNodes: *mut usize,
    ) {
        let edges = edges_at(hNode, |edge| edge.from)?;
        list_edges(&edges, core::ptr::null_mut(), dependentNodes, core::ptr::null_mut(), numDependentNodes)?;
    }

    Ready fn cuGraphNodeGetDependentNodes_v2(
        hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependentNodes: *mut usize,
    ) {
        let edges = edges_at(hNode, |edge| edge.from)?;
        data_of_nodes(dependentNodes, edgeData)?;
        list_edges(&edges, core::ptr::null_mut(), dependentNodes, edgeData, numDependentNodes)?;
    }

    Ready fn cuGraphChildGraphNodeGetGraph(hNode: CUgraphNode, phGraph: *mut CUgraph) {
        match NODES.get(hNode)?.operation() {
            NodeOperation::Child(child) => put(phGraph, child.handle as CUgraph)?,
            _ => return Err(code::INVALID_VALUE),
        }
    }

    Ready fn cuGraphConditionalHandleCreate(
        pHandle_out: *mut CUgraphConditionalHandle, hGraph: CUgraph, ctx: CUcontext, defaultLaunchValue: c_uint, flags: c_uint,
    ) {
        let graph = GRAPHS.get(hGraph)?;
        Context::of_handle(ctx)?;
        if pHandle_out.is_null() || flags > CU_GRAPH_COND_ASSIGN_DEFAULT {
            return Err(code::INVALID_VALUE);
        }
        let assign = flags == CU_GRAPH_COND_ASSIGN_DEFAULT;
        pHandle_out.write(graph.create_condition(defaultLaunchValue, assign));
    }

    Ready fn cuGraphDebugDotPrint(hGraph: CUgraph, path: *const c_char, flags: c_uint) {
        let graph = GRAPHS.get(hGraph)?;
        if path.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let path = CStr::from_ptr(path).to_str().map_err(|_| code::INVALID_VALUE)?;
        std::fs::write(path, graph::print_dot(&graph, flags & 1 != 0)).map_err(|_| code::OPERATING_SYSTEM)?;
    }

    Ready fn cuUserObjectCreate(
        object_out: *mut CUuserObject, ptr: *mut c_void, destroy: CUhostFn, initialRefcount: c_uint, flags: c_uint,
    ) {
        let no_sync = CUuserObject_flags::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC.0;
        if object_out.is_null() || destroy.is_none() || flags != no_sync {
            return Err(code::INVALID_VALUE);
        }
        check_count(initialRefcount)?;
        let object = USER_OBJECTS.add(|handle| UserObject::new(handle, ptr, destroy));
        object.retain(initialRefcount as usize);
        object_out.write(object.handle as CUuserObject);
    }

    Ready fn cuUserObjectRetain(object: CUuserObject, count: c_uint) {
        check_count(count)?;
        USER_OBJECTS.get(not_null(object)?)?.retain(count as usize);
    }

    Ready fn cuUserObjectRelease(object: CUuserObject, count: c_uint) {
        release(object, count)?;
    }

    Ready fn cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint) {
        let graph = GRAPHS.get(graph)?;
        let found = USER_OBJECTS.get(not_null(object)?)?;
        let move_in = CUuserObjectRetain_flags::CU_GRAPH_USER_OBJECT_MOVE.0;
        check_count(count)?;
        if flags & !move_in != 0 {
            return Err(code::INVALID_VALUE);
        }
        // Before the program's go: the last of them would end the object.
        graph.add_object(&found, count as usize);
        if flags & move_in != 0
            && let Err(code) = release(object, count)
        {
            graph.remove_object(&found, count as usize);
            return Err(code);
        }
    }

    Ready fn cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint) {
        let graph = GRAPHS.get(graph)?;
        let held = graph.objects().into_iter().find(|held| held.handle == object as usize).ok_or(code::INVALID_VALUE)?;
        check_count(count)?;
        if !graph.remove_object(&held, count as usize) {
            return Err(too_many("cuGraphReleaseUserObject", count, "the graph"));
        }
    }
}

/// Refuses numbers of references that the interface does not have.
fn check_count(count: c_uint) -> Result {
    match count {
        1..=0x7fff_ffff => Ok(()),
        _ => Err(code::INVALID_VALUE),
    }
}

/// References are given back that nobody has: undefined on a GPU.
fn too_many(call: &str, count: c_uint, owner: &str) -> CUresult {
    report::remark(&format!(
        "{call} gives {count} references of a user object back, which are more than {owner} has; nothing is released"
    ));
    code::INVALID_VALUE
}

/// Takes references of the program's; an object of which it has none left is known to its graphs alone.
fn release(object: CUuserObject, count: c_uint) -> Result {
    check_count(count)?;
    match USER_OBJECTS.get(not_null(object)?)?.release(count as usize) {
        Some(ReferencesLeft::Some) => Ok(()),
        Some(ReferencesLeft::None) => USER_OBJECTS.remove(object).map(drop),
        None => Err(too_many("cuUserObjectRelease", count, "the program")),
    }
}

/// # Safety
///
/// The arrays are null or valid for `count` entries.
pub(super) unsafe fn dependency_list(
    nodes: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
) -> Result<Vec<Dependency>> {
    if nodes.is_null() && count > 0 {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: the arrays are valid for `count` entries by the caller's contract, and `data` was just found not to be null.
    let entry = |i| unsafe {
        Dependency {
            node: nodes.add(i).read() as usize,
            edge: if data.is_null() {
                PLAIN_EDGE
            } else {
                data.add(i).read()
            },
        }
    };
    Ok((0..count).map(entry).collect())
}

/// # Safety
///
/// The arrays are null or valid for `count` entries.
unsafe fn edges(
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    data: *const CUgraphEdgeData,
    count: usize,
) -> Result<Vec<Edge>> {
    if (from.is_null() || to.is_null()) && count > 0 {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: the arrays are not null, so valid for `count` entries by the caller's contract.
    let entry = |i| unsafe {
        Edge {
            from: from.add(i).read() as usize,
            to: to.add(i).read() as usize,
            data: if data.is_null() {
                PLAIN_EDGE
            } else {
                data.add(i).read()
            },
        }
    };
    Ok((0..count).map(entry).collect())
}

/// Takes edges out of a graph.
fn disconnect(graph: CUgraph, edges: &[Edge]) -> Result {
    let graph = GRAPHS.get(graph)?;
    graph::refuse_memory_nodes(&graph)?;
    graph.disconnect(edges)
}

fn edges_at(node: CUgraphNode, end: fn(&Edge) -> usize) -> Result<Vec<Edge>> {
    let node = NODES.get(node)?;
    let graph = GRAPHS.get(node.graph as CUgraph)?;
    Ok(graph
        .edges()
        .into_iter()
        .filter(|edge| end(edge) == node.handle)
        .collect())
}

/// Answers a list in the driver's way: with a null array only the number, else up to as many entries as the caller has room for.
///
/// # Safety
///
/// `to` is null or valid for `*count` entries.
unsafe fn list<T: Copy>(from: &[T], to: *mut T, count: *mut usize) -> Result {
    if count.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: `count` is not null, and `to` is null or valid for `*count` entries by the caller's contract.
    unsafe {
        if !to.is_null() {
            let room = count.read();
            core::ptr::copy_nonoverlapping(from.as_ptr(), to, room.min(from.len()));
            // What the caller has room for beyond the list is cleared.
            (from.len()..room).for_each(|i| to.add(i).write_bytes(0, 1));
        }
        count.write(from.len());
    }
    Ok(())
}

/// Refuses to tell one end of the edges without the other.
fn both_or_none(from: *mut CUgraphNode, to: *mut CUgraphNode) -> Result {
    match from.is_null() == to.is_null() {
        true => Ok(()),
        false => Err(code::INVALID_VALUE),
    }
}

/// Refuses to tell the data of edges without the nodes at their other ends.
pub(super) fn data_of_nodes<N, D>(nodes: *mut N, data: *mut D) -> Result {
    match nodes.is_null() && !data.is_null() {
        true => Err(code::INVALID_VALUE),
        false => Ok(()),
    }
}

/// # Safety
///
/// The arrays are null or valid for `*count` entries.
unsafe fn list_edges(
    edges: &[Edge],
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    data: *mut CUgraphEdgeData,
    count: *mut usize,
) -> Result {
    if count.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // Who asks for the number alone loses nothing.
    let counts = from.is_null() && to.is_null() && data.is_null();
    if !counts && data.is_null() && edges.iter().any(|edge| !edge.is_plain()) {
        return Err(code::LOSSY_QUERY);
    }
    // SAFETY: `count` is not null, and each array is null or valid for `*count` entries by the caller's contract; the count is restored
    // for each list.
    unsafe {
        let room = count.read();
        let froms: Vec<CUgraphNode> = edges.iter().map(|edge| edge.from as CUgraphNode).collect();
        let tos: Vec<CUgraphNode> = edges.iter().map(|edge| edge.to as CUgraphNode).collect();
        let datas: Vec<CUgraphEdgeData> = edges.iter().map(|edge| edge.data).collect();
        list(&froms, from, count)?;
        count.write(room);
        list(&tos, to, count)?;
        count.write(room);
        list(&datas, data, count)
    }
}

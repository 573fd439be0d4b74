//! Graphs: their life, edges and objects.

use crate::common::graphs::graph;
use crate::common::*;
use crate::table::calls;
use crate::world::*;

/// A graph of one call, with two nodes, and with an edge if that is wanted.
struct Pair {
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
}

fn pair(with_edge: bool) -> Pair {
    let graph = graph();
    let from = empty_node(graph);
    let to: CUgraphNode = get!(cuGraphAddEmptyNode(graph, &from, with_edge.into()));
    Pair {
        graph,
        from: given(from),
        to: given(to),
    }
}

thread_local! {
    static PAIR: std::cell::RefCell<Pair> = const {
        std::cell::RefCell::new(Pair { graph: null_mut(), from: null(), to: null() })
    };
}

/// A new graph of two nodes, which `from` and `to` tell.
fn of_two(with_edge: bool) -> CUgraph {
    PAIR.replace(pair(with_edge));
    PAIR.with_borrow(|pair| pair.graph)
}

fn from() -> *const CUgraphNode {
    PAIR.with_borrow(|pair| pair.from)
}

fn to() -> *const CUgraphNode {
    PAIR.with_borrow(|pair| pair.to)
}

fn held(w: &World) -> CUgraph {
    let graph = graph();
    ok!(cuGraphRetainUserObject(graph, w.shared.object, 1, 0));
    graph
}

fn retained(object: CUuserObject) -> CUuserObject {
    ok!(cuUserObjectRetain(object, 1));
    object
}

/// Where a drawing of a graph may be written.
fn path() -> *const c_char {
    let path = std::env::temp_dir().join(format!("warpsmith-arguments-{}.dot", std::process::id()));
    let path = std::ffi::CString::new(path.to_str().expect("text")).expect("no zero");
    path.into_raw()
}

calls! { w:
    cuGraphCreate(out(), 0) 0;
    cuGraphDestroy(graph()) 0;
    cuGraphClone(out(), w.small) 0;
    cuGraphNodeFindInClone(out(), w.small_node, w.clone) 0;
    cuGraphDestroyNode(empty_node(graph())) 0;
    cuGraphNodeGetType(w.small_node, out()) 0;
    cuGraphAddDependencies(of_two(false), from(), to(), 1) 0;
    cuGraphAddDependencies_v2(of_two(false), from(), to(), null(), 1) 0;
    cuGraphRemoveDependencies(of_two(true), from(), to(), 1) 0;
    cuGraphRemoveDependencies_v2(of_two(true), from(), to(), null(), 1) 0;
    cuGraphGetNodes(w.graph, out(), slot(4)) 0;
    cuGraphGetRootNodes(w.graph, out(), slot(4)) 0;
    cuGraphGetEdges(w.graph, out(), out(), slot(4)) 0;
    cuGraphGetEdges_v2(w.graph, out(), out(), out(), slot(4)) 0;
    cuGraphNodeGetDependencies(w.nodes.kernel, out(), slot(4)) 0;
    cuGraphNodeGetDependencies_v2(w.nodes.kernel, out(), out(), slot(4)) 0;
    cuGraphNodeGetDependentNodes(w.nodes.empty, out(), slot(4)) 0;
    cuGraphNodeGetDependentNodes_v2(w.nodes.empty, out(), out(), slot(4)) 0;
    cuGraphChildGraphNodeGetGraph(w.nodes.child, out()) 0;
    cuGraphConditionalHandleCreate(out(), graph(), w.own.context, 0, 0) 0;
    cuGraphDebugDotPrint(w.small, path(), 0) 0;
    cuUserObjectCreate(out(), null_mut(), NOTHING, 1, 1) 0;
    cuUserObjectRetain(w.shared.object, 1) 0;
    cuUserObjectRelease(retained(w.shared.object), 1) 0;
    cuGraphRetainUserObject(graph(), w.shared.object, 1, 0) 0;
    cuGraphReleaseUserObject(held(w), w.shared.object, 1) 0;
}

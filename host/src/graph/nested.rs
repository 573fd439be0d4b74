//! Copies of graphs: in a child graph's node, and as graphs of their own. Which node of the copy stands for which one of the original.
//!
//! The driver says it for the nodes of a clone, and for those inside of child graphs it does not. So each node that has to be found again is
//! marked before the copy is made, by a value that is set anew in any case before a graph is made ready: the address of its log, or of its
//! function's data.

use warpsmith_driver::raw::{self, CUgraphNodeType as Type};

use super::contents::{Contents, null_node};
use super::template::TemplateTurn;
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Node, Result};
use crate::stream::host_function::run_repeated;

/// The nodes of a graph.
///
/// # Safety
///
/// The graph is alive.
pub(super) unsafe fn nodes_of(
    graph: raw::CUgraph,
    _turn: &TemplateTurn<'_>,
) -> Result<Vec<raw::CUgraphNode>> {
    let mut count = 0;
    // SAFETY: with a null array the driver writes the number of nodes to `count` only; the graph is alive (the caller).
    unsafe { call!(cuGraphGetNodes(graph, std::ptr::null_mut(), &mut count)) }?;
    let mut nodes = vec![null_node(); count];
    if count > 0 {
        // SAFETY: `nodes` has room for `count` nodes; the graph is alive (the caller).
        unsafe { call!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count)) }?;
        nodes.truncate(count);
    }
    Ok(nodes)
}

/// What a node is.
///
/// # Safety
///
/// The node is alive.
pub(super) unsafe fn type_of(node: raw::CUgraphNode, _turn: &TemplateTurn<'_>) -> Result<Type> {
    let mut kind = Type::CU_GRAPH_NODE_TYPE_EMPTY;
    // SAFETY: the driver writes to `kind`, which outlives the call; the node is alive (the caller).
    unsafe { call!(cuGraphNodeGetType(node, &mut kind)) }?;
    Ok(kind)
}

/// The graph in a child graph's node.
///
/// # Safety
///
/// The node is alive, and a child graph's.
pub(super) unsafe fn child_of(
    node: raw::CUgraphNode,
    _turn: &TemplateTurn<'_>,
) -> Result<raw::CUgraph> {
    let mut graph = std::ptr::null_mut();
    // SAFETY: the driver writes one handle to `graph`, which outlives the call; the node is alive and a child graph's (the caller).
    unsafe { call!(cuGraphChildGraphNodeGetGraph(node, &mut graph)) }?;
    Ok(graph)
}

/// Marks the nodes of a graph that [`find_marked`] is to find in a copy, each with its place in the lists.
///
/// # Safety
///
/// The nodes of `contents` are alive, and no executable graph is made of theirs before they are set anew.
pub(super) unsafe fn mark(contents: &Contents, _turn: &TemplateTurn<'_>) -> Result<()> {
    for (mark, kernel) in (1..).zip(&contents.launches) {
        if let Some(node) = kernel.node
            && kernel.launch.can_panic()
        {
            // SAFETY: the node is alive (the caller) and the one of the launch, which can panic; `_turn` keeps other threads away.
            unsafe { kernel.launch.set_panic_log(node.raw(), mark) }?;
        }
    }
    for (mark, host) in (1..).zip(&contents.host_functions) {
        let parameters = raw::CUDA_HOST_NODE_PARAMS {
            fn_: Some(run_repeated),
            userData: std::ptr::without_provenance_mut(mark),
        };
        // SAFETY: the node is alive (the caller), and nothing is made of it that calls the function. The driver copies `parameters`.
        unsafe { call!(cuGraphHostNodeSetParams(host.node.raw(), &parameters)) }?;
    }
    Ok(())
}

/// `contents`, whose nodes were marked, with the nodes of a copy instead: names in the graph of this number.
///
/// # Errors
///
/// Some are not in the copy.
///
/// # Safety
///
/// The copy is alive, and was made of the graph of `contents` after [`mark`].
pub(super) unsafe fn find_marked(
    contents: &Contents,
    copy: raw::CUgraph,
    number: u64,
    turn: &TemplateTurn<'_>,
) -> Result<Contents> {
    let mut found = contents.clone();
    let mut missing = contents.host_functions.len();
    for kernel in &mut found.launches {
        kernel.node = None;
        missing += usize::from(kernel.launch.can_panic());
    }
    if missing > 0 {
        // SAFETY: the copy is alive and of these contents (the caller).
        missing -= unsafe { find_in(contents, copy, number, turn, &mut found) }?;
    }
    if missing > 0 {
        return Err(driver_call::failed("cuGraphGetNodes", Code::NOT_FOUND)
            .while_doing(|| "looking for the nodes of a graph in its copy".into()));
    }
    Ok(found)
}

/// # Safety
///
/// As for [`find_marked`]; `graph` is the copy, or in a node of it.
unsafe fn find_in(
    contents: &Contents,
    graph: raw::CUgraph,
    number: u64,
    turn: &TemplateTurn<'_>,
    found: &mut Contents,
) -> Result<usize> {
    let mut count = 0;
    // SAFETY: the graph is alive (the caller).
    for node in unsafe { nodes_of(graph, turn) }? {
        // SAFETY: the node is the graph's, which is alive.
        match unsafe { type_of(node, turn) }? {
            Type::CU_GRAPH_NODE_TYPE_KERNEL => {
                for (index, kernel) in contents.launches.iter().enumerate() {
                    if found.launches[index].node.is_some() || !kernel.launch.can_panic() {
                        continue;
                    }
                    // SAFETY: the node is the graph's, which is alive, and a kernel's; `turn` keeps other threads away. The launch can panic.
                    let mark = unsafe { kernel.launch.panic_log(node) }?;
                    if mark == Some(index as u64 + 1) {
                        found.launches[index].node = Some(Node::new(node, number));
                        count += 1;
                        break;
                    }
                }
            }
            Type::CU_GRAPH_NODE_TYPE_HOST => {
                let mut parameters = raw::CUDA_HOST_NODE_PARAMS {
                    fn_: None,
                    userData: std::ptr::null_mut(),
                };
                // SAFETY: the driver writes to `parameters`, which outlives the call; the node is alive, and a function's on the host.
                unsafe { call!(cuGraphHostNodeGetParams(node, &mut parameters)) }?;
                // Each mark is its place plus 1. Functions of other libraries are looked over.
                let place = parameters.userData.addr().wrapping_sub(1);
                let is_ours = parameters
                    .fn_
                    .is_some_and(|function| std::ptr::fn_addr_eq(function, run_repeated as HostFn));
                if let (true, Some(host)) = (is_ours, found.host_functions.get_mut(place)) {
                    host.node = Node::new(node, number);
                    count += 1;
                }
            }
            Type::CU_GRAPH_NODE_TYPE_GRAPH => {
                // SAFETY: the node is alive, and a child graph's, which lives as long.
                count += unsafe {
                    let child = child_of(node, turn)?;
                    find_in(contents, child, number, turn, found)?
                };
            }
            _ => {}
        }
    }
    Ok(count)
}

type HostFn = unsafe extern "C" fn(*mut core::ffi::c_void);

/// # Errors
///
/// The driver cannot copy a graph of these contents.
pub(super) fn refuse_uncopyable(call: &'static str, contents: &Contents) -> Result<()> {
    let what = if contents.allocates() {
        "allocates memory"
    } else if contents.conditions.is_any() {
        "has loops or branches, or conditions for them"
    } else {
        return Ok(());
    };
    Err(Error::misuse(
        call,
        Code::NOT_SUPPORTED,
        format!("the graph {what}: the driver cannot copy it, as a child graph or otherwise"),
        "add these nodes to the graph itself",
    ))
}

/// Nodes of a graph, or inside of its child graphs, that the body of a loop or a branch cannot hold.
///
/// # Safety
///
/// The graph is alive.
pub(super) unsafe fn find_outside_of_bodies(
    graph: raw::CUgraph,
    turn: &TemplateTurn<'_>,
) -> Result<Option<&'static str>> {
    // SAFETY: the graph is alive (the caller), and with it its nodes and their graphs.
    unsafe {
        for node in nodes_of(graph, turn)? {
            let found = match type_of(node, turn)? {
                Type::CU_GRAPH_NODE_TYPE_KERNEL
                | Type::CU_GRAPH_NODE_TYPE_MEMCPY
                | Type::CU_GRAPH_NODE_TYPE_MEMSET
                | Type::CU_GRAPH_NODE_TYPE_EMPTY
                | Type::CU_GRAPH_NODE_TYPE_CONDITIONAL => None,
                Type::CU_GRAPH_NODE_TYPE_GRAPH => {
                    find_outside_of_bodies(child_of(node, turn)?, turn)?
                }
                _ => Some("a child graph with nodes of other kinds"),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }
    Ok(None)
}

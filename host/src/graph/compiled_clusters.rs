//! The clusters that a graph's kernels were compiled for, which an update of the whole leaves to the nodes as they are.

use super::contents::Contents;
use crate::error::{Code, Error, GraphUpdateError, Result};

/// Refuses an update by which a node would get a kernel that was compiled for other clusters: it would run in those of the kernel before, or in none
/// (`cuGraphExecUpdate`, driver 580.159.04). The driver pairs nodes in the order in which they were added.
///
/// # Errors
///
/// The kernels were compiled for other clusters, or for different ones and a node `is_changed`, so that the order says nothing; the driver does not
/// know what a kernel was compiled for.
pub(super) fn check_update(ready: &Contents, is_changed: bool, graph: &Contents) -> Result<()> {
    let clusters = |contents: &Contents| -> Result<Vec<[u32; 3]>> {
        let launches = contents.launches.iter();
        launches
            .map(|kernel| kernel.launch.compiled_cluster())
            .collect()
    };
    let (of_ready, of_graph) = (clusters(ready)?, clusters(graph)?);
    // The driver refuses another number of kernels, and names what differs.
    let has_as_many = of_ready.len() == of_graph.len();
    let mut all = of_ready.iter().chain(&of_graph);
    let first = all.clone().next();
    let are_all_alike = all.all(|cluster| Some(cluster) == first);
    if !has_as_many || are_all_alike || (of_ready == of_graph && !is_changed) {
        return Ok(());
    }
    Err(Error::GraphUpdate(Box::new(GraphUpdateError {
        code: Code::GRAPH_EXEC_UPDATE_FAILURE,
        // `CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED`
        result: 8,
        reason: "kernels were compiled for other clusters than those whose nodes they would get, and nodes keep theirs: instantiate the other one",
        node: None,
    })))
}

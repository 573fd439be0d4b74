//! Updates of whole executable graphs.

use warpsmith_driver::raw;

use super::compiled_clusters;
use super::description::Graph;
use super::exec::{GraphExec, Whole, find_owners};
use crate::driver_call;
use crate::error::{Code, Error, GraphUpdateError, Node, Result};
use crate::gpu::open_device::check_same_device;

impl GraphExec {
    /// Gives the nodes the parameters of `graph`, which must have the same shape. Launches that are under way keep theirs.
    ///
    /// # Errors
    ///
    /// [`Error::GraphUpdate`] with the reason where the shapes differ, a parameter cannot change, one of the graphs allocates memory, their
    /// conditions were made or given to nodes in another order, or their kernels were compiled for other clusters; then instantiate `graph`.
    // covers: GRAPH-51, GRAPH-54
    pub fn update(&mut self, graph: &Graph) -> Result<()> {
        check_same_device(
            "cuGraphExecUpdate",
            ("the new graph", &graph.gpu),
            ("the instantiated one", &self.gpu),
        )?;
        if self.contents.allocates() || graph.contents.allocates() {
            return Err(Error::GraphUpdate(Box::new(GraphUpdateError {
                code: Code::GRAPH_EXEC_UPDATE_FAILURE,
                // `CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED`
                result: 6,
                reason: "a graph that allocates memory cannot be updated: instantiate the other one",
                node: None,
            })));
        }
        self.gpu.bind()?;
        graph.refuse_broken("cuGraphExecUpdate")?;
        (self.contents.conditions).check_update(&graph.contents.conditions)?;
        compiled_clusters::check_update(&self.contents, self.is_changed, &graph.contents)?;
        let turn = graph.template.turn();
        let mut functions = graph.report_to(&turn, &mut self.panics)?;
        let mut info = raw::CUgraphExecUpdateResultInfo::default();
        // SAFETY: the driver writes to `info`, which outlives the call; `self` and `graph` own their graphs.
        let code = unsafe { raw::cuGraphExecUpdate_v2(self.raw, graph.raw, &mut info) };
        if code.0 != 0 && Code(code.0) != Code::GRAPH_EXEC_UPDATE_FAILURE {
            return Err(driver_call::failed("cuGraphExecUpdate", Code(code.0)));
        }
        if code.0 != 0 || info.result.0 != 0 {
            return Err(Error::GraphUpdate(Box::new(GraphUpdateError {
                code: Code::GRAPH_EXEC_UPDATE_FAILURE,
                result: info.result.0,
                reason: match info.result.0 {
                    2 => "the graphs have different shapes",
                    3 => "a node has another type",
                    4 => "a kernel node's function cannot change to this one",
                    5 => "a parameter changed that cannot",
                    6 => "something about the node cannot be updated",
                    7 => "a kernel node's function changed in an unsupported way",
                    8 => "a kernel node's attributes cannot change to these",
                    _ => "the driver gives no reason",
                },
                node: (!info.errorNode.is_null()).then(|| Node::new(info.errorNode, graph.number)),
            })));
        }
        drop(turn);
        let contents = std::mem::replace(&mut self.contents, graph.contents.clone());
        let known = |of: &Graph| of.captured_memory.is_empty() && of.before_all.is_empty();
        self.parts = match &self.parts {
            Some(parts) if self.captured_memory.is_empty() && known(graph) => {
                parts.paired_with(&graph.parts)
            }
            _ => None,
        };
        self.captured_memory.clone_from(&graph.captured_memory);
        self.whole = Whole::of(graph);
        self.is_changed = false;
        if let Some(parts) = &self.parts {
            find_owners(&mut functions, parts);
        }
        self.panics.separate_next_launch();
        let functions = std::mem::replace(&mut self.functions, functions);
        if !functions.is_empty() || !contents.kept.is_empty() {
            self.release_later(functions, contents.kept);
        }
        Ok(())
    }

    /// `update`, or where that is not possible a new instantiation in place of this one.
    // covers: GRAPH-X04
    pub fn update_or_reinstantiate(&mut self, graph: &Graph) -> Result<()> {
        match self.update(graph) {
            Err(Error::GraphUpdate(_)) => {
                *self = graph.instantiate()?;
                Ok(())
            }
            other => other,
        }
    }
}

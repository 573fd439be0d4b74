//! Graphs that are ready to launch.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Contents, Graph, Node, check_same};
use crate::context::{GpuInner, attention};
use crate::driver_call::{self, call};
use crate::error::{Busy, Code, Error, GraphUpdateError, Result};
use crate::reclaim::Remains;
use crate::stream::Stream;
use warpsmith_driver::raw;

/// A graph that is ready to launch, any number of times. A launch waits for the launches before it. Dropping it while it runs is fine.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut words = stream.zeroed::<u32>(2)?;
/// let mut graph = gpu.graph()?;
/// graph.fill(&mut words, 1)?;
/// let mut ready = graph.instantiate()?;
///
/// // The same shape with another value: an update is cheaper than a new one.
/// let mut other = gpu.graph()?;
/// other.fill(&mut words, 2)?;
/// ready.update(&other)?;
/// ready.launch(&stream)?;
/// assert_eq!(stream.download(&words)?, [2, 2]);
/// # Ok(())
/// # }
/// ```
pub struct GraphExec {
    gpu: Arc<GpuInner>,
    raw: raw::CUgraphExec,
    contents: Contents,
}

// SAFETY: the driver's handles may be used from any thread, one at a time: all that uses it takes `&mut self`.
unsafe impl Send for GraphExec {}
// SAFETY: as above.
unsafe impl Sync for GraphExec {}

impl GraphExec {
    pub(crate) fn own(gpu: Arc<GpuInner>, raw: raw::CUgraphExec, contents: Contents) -> GraphExec {
        GraphExec { gpu, raw, contents }
    }

    /// Launches the graph in the stream and returns: it runs after what the stream holds and before what comes later. Within the
    /// graph only its edges give order. The memory that it uses is put in order with other streams' uses.
    ///
    /// # Errors
    ///
    /// The host has some of its memory open, the stream is being captured, or an earlier fault comes to light.
    // covers: GRAPH-20, GRAPH-21
    pub fn launch(&mut self, stream: &Stream) -> Result<()> {
        const CALL: &str = "cuGraphLaunch";
        check_same(CALL, &self.gpu, &stream.inner.gpu)?;
        stream.inner.refuse_capture(CALL)?;
        self.gpu.bind()?;
        let _order = self.gpu.order();
        let open = self
            .contents
            .memory
            .iter()
            .any(|(allocation, _)| allocation.host_accesses.load(Ordering::Acquire) != 0);
        if open || self.gpu.attention.load(Ordering::Acquire) & attention::HOST_ACCESSES != 0 {
            return Err(Error::Busy(Box::new(Busy {
                call: CALL,
                reason: "the host has memory open that the graph uses".into(),
                hint: "drop the guards of `host()` and `host_mut()` first",
            })));
        }
        for (allocation, access) in &self.contents.memory {
            allocation.order(&stream.inner, *access, false)?;
        }
        // SAFETY: both are alive; what the nodes use is kept by `contents` and freed in order.
        unsafe { call!(cuGraphLaunch(self.raw, stream.inner.raw)) }?;
        for (kernel, grid) in &self.contents.kernels {
            kernel.launched(grid);
        }
        Ok(())
    }

    /// Gives the nodes the parameters of `graph`, which must have the same shape. Launches that are under way keep theirs.
    ///
    /// # Errors
    ///
    /// [`Error::GraphUpdate`] with the reason where the shapes differ or a parameter cannot change; then instantiate `graph`.
    // covers: GRAPH-51, GRAPH-54
    pub fn update(&mut self, graph: &Graph) -> Result<()> {
        check_same("cuGraphExecUpdate", &self.gpu, &graph.gpu)?;
        self.gpu.bind()?;
        let mut info = raw::CUgraphExecUpdateResultInfo::default();
        // SAFETY: the result outlives the call; both graphs are alive.
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
        let old = std::mem::replace(&mut self.contents, graph.contents.clone());
        self.release(old);
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

    /// Lets go of what nodes used, when no launch uses it any more. Memory goes in stream order by itself, modules wait by themselves.
    fn release(&self, contents: Contents) {
        if !contents.values.is_empty() {
            self.gpu
                .retire_from_all(Remains::Value(Box::new(contents.values)));
        }
    }
}

impl std::fmt::Debug for GraphExec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GraphExec").finish_non_exhaustive()
    }
}

impl Drop for GraphExec {
    fn drop(&mut self) {
        let result = self.gpu.bind().and_then(|()| {
            // SAFETY: ours; the driver lets launches that are under way finish.
            unsafe { call!(cuGraphExecDestroy(self.raw)) }
        });
        self.gpu.report_drop(result);
        let contents = std::mem::take(&mut self.contents);
        self.release(contents);
    }
}

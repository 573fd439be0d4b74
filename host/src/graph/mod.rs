//! Graphs: work described once and launched many times.
//!
//! A [`Graph`] is the description, built node by node or captured from streams; a [`GraphExec`] is ready to launch. Both keep what
//! their nodes use (memory, modules, functions) alive, and launching one is a use of that memory as a kernel launch is: it is put
//! in order with everything else. Within a graph the order is an edge between nodes; nodes that conflict on memory get theirs by
//! themselves, in the order in which they were added, so that a graph has no races.

pub(crate) mod builder;
pub(crate) mod capture;
mod conditional;
mod exec;

use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::error::Node;
pub use builder::GraphBuilder;
pub use capture::Capture;
pub use conditional::Condition;
pub use exec::GraphExec;

use crate::context::GpuInner;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::launch::Grid;
use crate::launch::kernel::KernelInner;
use crate::memory::allocation::Allocation;
use crate::order::uses::Access;
use warpsmith_driver::raw;

/// A description of work: nodes and their order. Nodes are added by the methods of [`GraphBuilder`].
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut words = stream.zeroed::<u32>(4)?;
/// let mut copy = stream.zeroed::<u32>(4)?;
///
/// let mut graph = gpu.graph()?;
/// graph.fill(&mut words, 7)?;
/// graph.copy(&words, &mut copy)?;    // after the fill: both use `words`
/// let mut ready = graph.instantiate()?;
/// ready.launch(&stream)?;
/// assert_eq!(stream.download(&copy)?, [7; 4]);
/// # Ok(())
/// # }
/// ```
// covers: GRAPH-01, GRAPH-02, GRAPH-19
pub struct Graph {
    builder: GraphBuilder,
    /// One thread at a time.
    _not_sync: PhantomData<Cell<()>>,
}

/// What nodes use and so must outlive them.
#[derive(Clone, Default)]
pub(crate) struct Contents {
    memory: Vec<(Arc<Allocation>, Access)>,
    kernels: Vec<(Arc<KernelInner>, Grid)>,
    values: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Contents {
    /// Notes a use: one entry for each allocation, over all that is used of it.
    fn uses(&mut self, allocation: &Arc<Allocation>, access: Access) {
        match self
            .memory
            .iter_mut()
            .find(|(known, _)| Arc::ptr_eq(known, allocation))
        {
            Some((_, whole)) => {
                whole.start = whole.start.min(access.start);
                whole.end = whole.end.max(access.end);
                whole.write |= access.write;
            }
            None => self.memory.push((allocation.clone(), access)),
        }
    }

    fn absorb(&mut self, other: Contents) {
        for (allocation, access) in &other.memory {
            self.uses(allocation, *access);
        }
        self.kernels.extend(other.kernels);
        self.values.extend(other.values);
    }
}

impl Gpu {
    /// An empty graph.
    pub fn graph(&self) -> Result<Graph> {
        self.inner.bind()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the result outlives the call.
        unsafe { call!(cuGraphCreate(&mut handle, 0)) }?;
        Ok(Graph::own(GraphBuilder::new(&self.inner, handle)))
    }
}

impl Graph {
    /// The builder's graph is nobody else's.
    pub(crate) fn own(builder: GraphBuilder) -> Graph {
        Graph {
            builder,
            _not_sync: PhantomData,
        }
    }

    /// Makes the graph ready to launch: a snapshot, which later changes of the graph do not touch.
    ///
    /// # Errors
    ///
    /// The driver cannot make it ready; the error says why (a condition that no node uses, for example).
    // covers: GRAPH-23, COND-01
    pub fn instantiate(&self) -> Result<GraphExec> {
        let gpu = &self.builder.gpu;
        gpu.bind()?;
        let mut parameters = raw::CUDA_GRAPH_INSTANTIATE_PARAMS::default();
        let mut handle = std::ptr::null_mut();
        // SAFETY: the result and the parameters outlive the call; the graph is alive.
        let result = unsafe {
            call!(cuGraphInstantiateWithParams(
                &mut handle,
                self.builder.raw,
                &mut parameters
            ))
        };
        if let Err(error) = result {
            let reason = match parameters.result_out.0 {
                2 => "the graph's structure is invalid",
                3 => "a node cannot be part of such a graph",
                4 => "nodes belong to different devices",
                5 => "a condition is not used by any node",
                _ => "the driver gives no reason",
            };
            return Err(error.while_doing(|| reason.into()));
        }
        Ok(GraphExec::own(
            gpu.clone(),
            handle,
            self.builder.contents.clone(),
        ))
    }

    /// The graph in the language of Graphviz.
    // covers: GRAPH-18
    pub fn dot(&self) -> Result<String> {
        const CALL: &str = "cuGraphDebugDotPrint";
        self.builder.gpu.bind()?;
        let file = std::env::temp_dir().join(format!(
            "warpsmith-graph-{}-{}.dot",
            std::process::id(),
            self.builder.number
        ));
        let path = std::ffi::CString::new(file.as_os_str().as_encoded_bytes()).map_err(|_| {
            Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "the temporary folder's name has a NUL byte",
                "set TMPDIR",
            )
        })?;
        // SAFETY: the path outlives the call; the graph is alive.
        unsafe { call!(cuGraphDebugDotPrint(self.builder.raw, path.as_ptr(), 0)) }?;
        let text = std::fs::read_to_string(&file);
        let _ = std::fs::remove_file(&file);
        text.map_err(|error| {
            Error::misuse(
                CALL,
                Code::OPERATING_SYSTEM,
                format!("{}: {error}", file.display()),
                "is the temporary folder writable?",
            )
        })
    }

    /// The nodes, those of bodies not among them.
    pub fn nodes(&self) -> Result<Vec<Node>> {
        Ok(self
            .builder
            .raw_nodes()?
            .into_iter()
            .map(|node| Node::new(node, self.builder.number))
            .collect())
    }

    /// The number of nodes.
    pub fn node_count(&self) -> Result<usize> {
        Ok(self.builder.raw_nodes()?.len())
    }

    /// The edges: pairs of a node and one that waits for it.
    pub fn edges(&self) -> Result<Vec<(Node, Node)>> {
        self.builder.gpu.bind()?;
        let mut count = 0;
        let null = std::ptr::null_mut();
        // SAFETY: asks for the number only.
        unsafe { call!(cuGraphGetEdges(self.builder.raw, null, null, &mut count)) }?;
        let mut from = vec![null_node(); count];
        let mut to = from.clone();
        if count > 0 {
            // SAFETY: both have room for `count` nodes.
            unsafe {
                call!(cuGraphGetEdges(
                    self.builder.raw,
                    from.as_mut_ptr(),
                    to.as_mut_ptr(),
                    &mut count
                ))
            }?;
        }
        let node = |raw| Node::new(raw, self.builder.number);
        Ok(from
            .into_iter()
            .zip(to)
            .take(count)
            .map(|(from, to)| (node(from), node(to)))
            .collect())
    }
}

fn null_node() -> raw::CUgraphNode {
    std::ptr::null_mut()
}

// SAFETY: the driver's handles may be used from any thread, one at a time, which `!Sync` sees to.
unsafe impl Send for Graph {}

impl Deref for Graph {
    type Target = GraphBuilder;

    fn deref(&self) -> &GraphBuilder {
        &self.builder
    }
}

impl DerefMut for Graph {
    fn deref_mut(&mut self) -> &mut GraphBuilder {
        &mut self.builder
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Graph({})", self.builder.number)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let gpu = &self.builder.gpu;
        let result = gpu.bind().and_then(|()| {
            // SAFETY: ours; executable graphs are independent of it.
            unsafe { call!(cuGraphDestroy(self.builder.raw)) }
        });
        gpu.report_drop(result);
        // Nothing of a graph that was not made ready runs, so its contents may go at once.
    }
}

/// The numbers of graphs and captures; never used twice in a process.
pub(crate) fn next_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(crate) fn check_same(
    call: &'static str,
    one: &Arc<GpuInner>,
    other: &Arc<GpuInner>,
) -> Result<()> {
    if Arc::ptr_eq(one, other) {
        Ok(())
    } else {
        Err(crate::memory::allocation::wrong_gpu(call))
    }
}

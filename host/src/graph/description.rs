//! The description of a graph.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::builder::GraphBuilder;
use super::edge::Edge;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::gpu::Gpu;

/// A description of work: nodes and their order. Nodes are added by the methods of [`GraphBuilder`].
///
/// A node is of the device of its kernel or its memory, which need not be that of the `Gpu` by which the graph was made. In streams of that one the
/// graph is launched.
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
    builder: GraphBuilder<'static>,
    /// One thread at a time.
    _not_sync: PhantomData<Cell<()>>,
}

impl Gpu {
    /// An empty graph.
    pub fn graph(&self) -> Result<Graph> {
        self.inner.bind()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `handle`, which outlives the call.
        unsafe { call!(cuGraphCreate(&mut handle, 0)) }?;
        Ok(Graph::own(GraphBuilder::new(&self.inner, handle)))
    }
}

impl Graph {
    /// Takes over the builder's graph, which no other `Graph` owns.
    pub(crate) fn own(builder: GraphBuilder<'static>) -> Graph {
        Graph {
            builder,
            _not_sync: PhantomData,
        }
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
        let _turn = self.builder.template.turn();
        // SAFETY: `path` is a `CString` that outlives the call; `self` owns the graph.
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

    /// The edges.
    // covers: GRAPH-15
    pub fn edges(&self) -> Result<Vec<Edge>> {
        self.builder.raw_edges()
    }
}

// SAFETY: the driver's graphs may be used from any thread, but by one at a time (CUDA driver API, "graph object thread safety"):
// `_not_sync` makes `Graph` not `Sync`.
unsafe impl Send for Graph {}

impl Deref for Graph {
    type Target = GraphBuilder<'static>;

    fn deref(&self) -> &GraphBuilder<'static> {
        &self.builder
    }
}

impl DerefMut for Graph {
    fn deref_mut(&mut self) -> &mut GraphBuilder<'static> {
        &mut self.builder
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Graph({})", self.builder.number)
    }
}

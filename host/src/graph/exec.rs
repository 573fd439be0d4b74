//! Graphs that are ready to launch.

use std::any::Any;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Weak};

use warpsmith_driver::raw;

use super::builder::Instance;
use super::contents::{Contents, RecordedKernel};
use super::description::Graph;
use super::last_handle::LastHandle;
use super::panic_sources::PanicSources;
use super::part::Parts;
use super::template::Template;
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::error::{Node, Result};
use crate::gpu::open_device::OpenDevice;
use crate::order::memory_use::MemoryUse;
use crate::order::stream_handle::StreamHandle;
use crate::reclaim::{FreeCost, Reclaim};
use crate::stream::host_function::Repeated;

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
    pub(super) gpu: Arc<OpenDevice>,
    pub(super) raw: raw::CUgraphExec,
    pub(super) instance: Arc<Instance>,
    pub(super) contents: Contents,
    /// The graph that it was made of, whose nodes are the names of its own.
    pub(super) template: Arc<Template>,
    /// The number of that graph.
    pub(super) template_number: u64,
    /// Its nodes one by one; `None` where it is not known any more which of them uses what.
    pub(super) parts: Option<Parts>,
    /// What captured nodes use.
    pub(super) captured_memory: Vec<MemoryUse>,
    /// Where its launches tell of panics, of each device where anything in it can panic.
    pub(super) panics: PanicSources,
    /// What its host nodes point to.
    pub(super) functions: Vec<HostCall>,
    /// What it runs as a whole.
    pub(super) whole: Whole,
    /// A node was changed by itself since it was what `whole` says.
    pub(super) is_changed: bool,
    /// The nodes that were switched off.
    pub(super) switched_off: Vec<Node>,
    /// Where it was launched last.
    pub(super) last_stream: Weak<StreamHandle>,
}

/// What it holds is dropped alone, changed by `&mut self`, or has locks; host functions are called by the driver's thread, where a panic is caught.
impl UnwindSafe for GraphExec {}
impl RefUnwindSafe for GraphExec {}

/// The graph that an executable graph was made of, or updated to last.
pub(super) struct Whole {
    pub(super) template: Arc<Template>,
    /// The graph's number.
    pub(super) number: u64,
    /// How many changes the graph had seen.
    pub(super) changes: u64,
}

impl Whole {
    /// The graph as it is now.
    pub(super) fn of(graph: &Graph) -> Whole {
        Whole {
            template: graph.template.clone(),
            number: graph.number,
            changes: graph.template.changes(),
        }
    }
}

/// What a host node of an executable graph calls.
pub(super) struct HostCall {
    /// The node, or the one that it was in the graph that gave the function.
    pub(super) node: Node,
    /// The node of the template that it is, or that it is inside of, where that is known.
    pub(super) owner: Option<Node>,
    // Kept for its drop.
    #[allow(dead_code)]
    pub(super) function: Arc<Repeated>,
}

// SAFETY: the driver's graphs may be used from any thread, but by one at a time (CUDA driver API, "graph object thread safety"):
// all that uses `raw` takes `&mut self`.
unsafe impl Send for GraphExec {}
// SAFETY: with `&GraphExec` the driver is asked for nothing; `template` has a lock of its own.
unsafe impl Sync for GraphExec {}

impl GraphExec {
    /// Gives up what host nodes called, and what else launches reach, once no launch does any more.
    pub(super) fn release_later(
        &self,
        functions: Vec<HostCall>,
        kept: Vec<Arc<dyn Any + Send + Sync>>,
    ) {
        self.release(Released {
            graph: None,
            instance: None,
            functions,
            kept,
            panics: PanicSources::default(),
            elsewhere: Vec::new(),
        });
    }

    /// Releases what launches reach by pointers once no launch does any more. Memory is freed in stream order and modules are retired by
    /// their own destructors.
    fn release(&self, released: Released) {
        self.gpu
            .call_driver_later(|gpu| gpu.retire_from_all(Box::new(released)));
    }
}

/// Notes which of the nodes each function's node is, or is inside of.
pub(super) fn find_owners(functions: &mut [HostCall], parts: &Parts) {
    for call in functions {
        let mut parts = parts.iter();
        let owner = parts.find(|part| {
            let mut inside = part.contents.host_functions.iter();
            inside.any(|host| host.node == call.node)
        });
        call.owner = owner.map(|part| part.node);
    }
}

/// What launches of a graph reach by pointers, until they are done, and the executable graph itself: a GPU's driver waits for work on the device
/// where it is destroyed.
struct Released {
    graph: Option<LastHandle<raw::CUgraphExec>>,
    instance: Option<Arc<Instance>>,
    // Kept for their drops.
    #[allow(dead_code)]
    functions: Vec<HostCall>,
    #[allow(dead_code)]
    kept: Vec<Arc<dyn Any + Send + Sync>>,
    #[allow(dead_code)]
    panics: PanicSources,
    /// Kernels of other devices, whose modules know this one's streams by their follower alone.
    #[allow(dead_code)]
    elsewhere: Vec<RecordedKernel>,
}

impl Reclaim for Released {
    fn free_cost(&self) -> FreeCost {
        match self.graph {
            Some(_) => FreeCost::WaitsForIdleDevice,
            None => FreeCost::None,
        }
    }

    fn free(self: Box<Self>, _context: &Context) -> Result<()> {
        let destroyed = match self.graph {
            // SAFETY: the `GraphExec` that owned the graph was dropped, and this is called once.
            Some(graph) => unsafe { call!(cuGraphExecDestroy(graph.raw())) },
            None => Ok(()),
        };
        // From here on another one may be made.
        drop(self.instance);
        destroyed
    }
}

impl std::fmt::Debug for GraphExec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GraphExec").finish_non_exhaustive()
    }
}

impl Drop for GraphExec {
    fn drop(&mut self) {
        let released = Released {
            graph: Some(LastHandle::new(self.raw)),
            instance: Some(self.instance.clone()),
            functions: std::mem::take(&mut self.functions),
            kept: std::mem::take(&mut self.contents.kept),
            panics: std::mem::take(&mut self.panics),
            elsewhere: std::mem::take(&mut self.contents.launches)
                .into_iter()
                .filter(|kernel| !Arc::ptr_eq(kernel.launch.panics(), self.gpu.panics()))
                .collect(),
        };
        self.release(released);
    }
}

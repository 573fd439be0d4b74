//! Executable graphs that kernels launch (CUDA C++ Programming Guide, "Device Graph Launch").
//!
//! What a kernel that is passed one may launch runs in the launch of the kernel's own graph, whose stream goes on after it. So the node of the
//! kernel counts as a use of all that the launched graph uses, and with it each launch of the graph that it is in. What an update could
//! change about that it may not change.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Mutex};

use warpsmith_device::launch::GraphHandle;

use super::description::Graph;
use super::device_rules::check_for_device;
use super::exec::GraphExec;
use crate::driver_call::call;
use crate::error::{Busy, Code, Error, Result};
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::launch::{Argument, Packer};
use crate::order::access::{Access, AccessKind, ViewScope};
use crate::order::history::OrderedMemory;
use crate::order::launchable_graph::{LaunchableGraph, Turn};
use crate::order::memory_use::MemoryUse;
use crate::stream::Stream;
use crate::sync::lock;

/// `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`
const DEVICE_LAUNCH: u64 = 4;

/// An executable graph that kernels may launch, as well as the host: `&DeviceGraph` is what a kernel of a graph is passed for a parameter
/// [`DeviceGraph`](warpsmith_device::graph::DeviceGraph). It is uploaded from the beginning.
///
/// Each launch of a graph with such a kernel comes after all that conflicts with what this graph uses, and whatever conflicts with that later comes
/// after it, whether the kernel launches this graph or not. Launches of graphs that may launch the same one come one after the other,
/// and so does a launch of that by the host. The graph lives as long as one that may launch it, so this may be dropped any time. A panic of
/// its kernels is told to the wait for the launch in which it ran.
///
/// A graph that launches itself again as its tail does so by [`current`](warpsmith_device::graph::current), and is passed nothing.
///
/// ```no_run
/// # use warpsmith_device::prelude::*;
/// # const PTX: &str = "";
/// use warpsmith_device::graph;
/// use warpsmith_host::prelude::*;
///
/// /// Halves once more, in a launch of the graph of its own, while the first element is too large.
/// #[kernel]
/// pub fn halve(mut x: PerThread<[f32]>, until: f32) {
///     if let Some(x) = x.mine() {
///         *x *= 0.5;
///         if thread::is_first() && *x > until {
///             let _ = graph::current().map(|graph| graph.launch_tail());
///         }
///     }
/// }
///
/// /// Has the graph run after this one if it is needed.
/// #[kernel]
/// pub fn decide(x: &f32, until: f32, refine: graph::DeviceGraph) {
///     if thread::is_first() && *x > until {
///         let _ = refine.launch_tail();
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open_default()?;
/// let module = gpu.load(PTX)?;
/// let (halve, decide) = (module.kernel(halve)?, module.kernel(decide)?);
/// let stream = gpu.stream()?;
/// let mut x = stream.upload(&[8.0_f32])?;
///
/// let mut refine = gpu.graph()?;
/// refine.kernel(&halve, Grid::new(1, 1), (&mut x, 1.0))?;
/// let refine = refine.instantiate_for_device_launch(&stream)?;
///
/// let mut graph = gpu.graph()?;
/// graph.kernel(&decide, Grid::new(1, 1), (&x, 1.0, &refine))?;
/// graph.instantiate()?.launch(&stream)?;
/// assert_eq!(stream.download(&x)?, [1.0]);
/// # Ok(())
/// # }
/// ```
pub struct DeviceGraph {
    gpu: Arc<OpenDevice>,
    /// Shared with all contents whose kernels may launch it.
    exec: Arc<Mutex<GraphExec>>,
    turn: Arc<Turn>,
    launchable: LaunchableGraph,
}

/// What it holds is dropped alone, or has locks.
impl UnwindSafe for DeviceGraph {}
impl RefUnwindSafe for DeviceGraph {}

impl Graph {
    /// As [`instantiate`](Self::instantiate), for launches by kernels, too, and uploads it in `stream`: launches of graphs that may
    /// launch it come after that.
    ///
    /// # Errors
    ///
    /// The graph is empty, or has other nodes than launches of kernels, copies and fills (a copy or fill of no memory is an empty node); a copy
    /// of memory that the device does not reach by itself; the stream is of another device, or is being captured.
    // covers: DGRAPH-01, DGRAPH-02, DGRAPH-03
    pub fn instantiate_for_device_launch(&self, stream: &Stream) -> Result<DeviceGraph> {
        const CALL: &str = "cuGraphInstantiateWithParams";
        check_same_device(CALL, ("the graph", &self.gpu), ("the stream", &stream.gpu))?;
        stream.handle.refuse_capture(
            CALL,
            "a graph that kernels launch is uploaded at once, which is no node",
            "make and update it before the capture",
        )?;
        self.gpu.bind()?;
        check_for_device(self)?;
        // From the beginning, so that the contents of all that may launch it know it, whatever it is updated to.
        let panics = self.gpu.panics().add_graph()?;
        let mut exec = self.make_exec(DEVICE_LAUNCH, panics.clone().into())?;
        let turn = Arc::<Turn>::default();
        exec.contents.add_use(&turn.taken());
        let (handle, uses) = (exec.raw.addr() as u64, exec.contents.memory.clone());
        let launched = exec.contents.panics.iter().cloned();
        let panics = std::iter::once(panics).chain(launched).collect();
        let exec = Arc::new(Mutex::new(exec));
        let graph = DeviceGraph {
            gpu: self.gpu.clone(),
            turn,
            launchable: LaunchableGraph {
                handle,
                uses,
                panics,
                exec: exec.clone(),
            },
            exec,
        };
        graph.upload(stream)?;
        Ok(graph)
    }
}

impl DeviceGraph {
    /// As [`GraphExec::launch`]. It comes after launches of graphs that may launch this one, and the other way round.
    ///
    /// # Errors
    ///
    /// Those of [`GraphExec::launch`], or the stream is of another device.
    // covers: DGRAPH-07
    pub fn launch(&mut self, stream: &Stream) -> Result<()> {
        let of_stream = ("the stream", &stream.gpu);
        check_same_device("cuGraphLaunch", ("the graph", &self.gpu), of_stream)?;
        lock(&self.exec).launch(stream)
    }

    /// As [`GraphExec::update`], and uploads it in `stream`, so that launches by kernels from then on run what it was updated to.
    ///
    /// It can use no more than before: buffers (or ranges of one) that it has used, and has written if it writes them, and graphs that its kernels
    /// were passed; graphs that may launch it rely on that.
    ///
    /// # Errors
    ///
    /// Those of [`GraphExec::update`] and [`Graph::instantiate_for_device_launch`]; [`Error::Invalid`] where `graph` uses more;
    /// [`Error::Busy`] as long as a launch of it, or of a graph that may launch it, is not done: wait for that first. Where the upload
    /// fails, it and graphs that may launch it cannot be launched any more ([`Error::Busy`]).
    // covers: DGRAPH-04
    pub fn update(&mut self, graph: &Graph, stream: &Stream) -> Result<()> {
        const CALL: &str = "cuGraphExecUpdate";
        for other in [("the new graph", &graph.gpu), ("the stream", &stream.gpu)] {
            check_same_device(CALL, other, ("the instantiated graph", &self.gpu))?;
        }
        stream.handle.refuse_capture(
            CALL,
            "a graph that kernels launch is uploaded at once, which is no node",
            "make and update it before the capture",
        )?;
        self.gpu.bind()?;
        check_for_device(graph)?;
        self.refuse_further_uses(graph)?;
        {
            let guard = self.gpu.lock_order();
            let history = self.turn.history();
            if history.is_open_to_host()
                || history
                    .before_host_access(&guard, &Access::to_everything(AccessKind::Read))?
                    .is_none()
            {
                return Err(Error::Busy(Box::new(Busy {
                    call: CALL,
                    reason: "a launch of the graph, or of one that may launch it, is not done, or an update of it has failed"
                        .into(),
                    hint: "wait for the launches first: `stream.synchronize()`, or instantiate the other graph instead",
                })));
            }
            // Until it is uploaded no graph that may launch it is launched.
            history.open_host_access(&guard);
        }
        let updated = {
            let mut exec = lock(&self.exec);
            let updated = exec.update(graph);
            if updated.is_ok() {
                exec.contents.add_use(&self.turn.taken());
            }
            updated
        };
        if updated.is_ok() {
            self.upload(stream)?;
        }
        self.turn.history().close_host_access();
        updated
    }

    fn refuse_further_uses(&self, graph: &Graph) -> Result<()> {
        let is_known = |used: &MemoryUse| {
            let history: *const _ = used.memory.history();
            self.launchable.uses.iter().any(|known| {
                std::ptr::eq(known.memory.history(), history) && known.access.covers(&used.access)
            })
        };
        if graph.contents.memory.iter().all(is_known) {
            return Ok(());
        }
        Err(Error::misuse(
            "cuGraphExecUpdate",
            Code::INVALID_VALUE,
            "the other graph uses memory, or may launch a graph, that this one does not use, or it writes what this one reads: graphs that may launch \
             this one would not be in order with that",
            "instantiate the other one for device launch, and pass that to the kernels that are to launch it",
        ))
    }

    /// Uploads it, after all that has its turn.
    fn upload(&self, stream: &Stream) -> Result<()> {
        let raw = lock(&self.exec).raw;
        let guard = self.gpu.lock_order();
        let launch = stream.handle.timeline().next();
        let turn = self.turn.taken();
        turn.memory.order_use(
            "cuGraphUpload",
            &guard,
            &stream.handle,
            &launch,
            turn.access,
            ViewScope::Shared,
        )?;
        // SAFETY: `self` owns the executable graph, `stream` the stream. What was enqueued that may launch the graph comes before, by its turn.
        unsafe { call!(cuGraphUpload(raw, stream.handle.raw())) }
    }
}

impl Argument<GraphHandle> for &DeviceGraph {
    fn pack<'a>(&'a self, packer: &mut Packer<'a>) {
        packer.graph(&self.gpu, &self.launchable);
    }
}

impl std::fmt::Debug for DeviceGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceGraph").finish_non_exhaustive()
    }
}

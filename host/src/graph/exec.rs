//! Graphs that are ready to launch.

use std::any::Any;
use std::sync::{Arc, Weak};

use warpsmith_driver::raw;

use super::builder::{Broken, Instance};
use super::capture::CaptureState;
use super::captured_child::{WholeGraph, refuse_changed};
use super::contents::{Contents, EventAction, RecordedHost};
use super::description::Graph;
use super::last_handle::LastHandle;
use super::part::Parts;
use super::template::{Template, TemplateTurn};
use crate::context::primary::Context;
use crate::driver_call::{self, call};
use crate::error::{Busy, Code, Error, GraphUpdateError, Node, Result};
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::order::access::ViewScope;
use crate::order::memory_use::MemoryUse;
use crate::order::order_lock::OrderGuard;
use crate::order::stream_handle::StreamHandle;
use crate::panics::reports::PanicSource;
use crate::panics::source::{NumberToSet, Source, begin_graph_launch};
use crate::panics::timeline::NewLaunch;
use crate::reclaim::{FreeCost, Reclaim};
use crate::stream::Stream;
use crate::stream::host_function::{Repeated, run_repeated};
use crate::sync::lock;
use crate::trace::track::Track;
use crate::trace::work::Work;

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
    instance: Arc<Instance>,
    pub(super) contents: Contents,
    /// The graph that it was made of, whose nodes are the names of its own.
    pub(super) template: Arc<Template>,
    /// The number of that graph.
    pub(super) template_number: u64,
    /// Its nodes one by one; `None` where it is not known any more which of them uses what.
    pub(super) parts: Option<Parts>,
    /// What captured nodes use.
    pub(super) captured_memory: Vec<MemoryUse>,
    /// Where its launches tell of panics, if anything in it can panic.
    pub(super) panics: Option<Arc<PanicSource>>,
    /// What its host nodes point to.
    pub(super) functions: Vec<HostCall>,
    /// What it runs as a whole.
    whole: Whole,
    /// A node was changed by itself since it was what `whole` says.
    pub(super) is_changed: bool,
    /// The nodes that were switched off.
    pub(super) switched_off: Vec<Node>,
    /// Where it was launched last.
    last_stream: Weak<StreamHandle>,
}

/// The graph that an executable graph was made of, or updated to last.
struct Whole {
    template: Arc<Template>,
    /// The graph's number.
    number: u64,
    /// How many changes the graph had seen.
    changes: u64,
}

impl Whole {
    /// The graph as it is now.
    fn of(graph: &Graph) -> Whole {
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

impl Graph {
    /// Makes the graph ready to launch: a snapshot, which later changes of the graph do not touch.
    ///
    /// # Errors
    ///
    /// The driver cannot make it ready; the error says why (a condition that no node uses, for example). Of a graph that allocates
    /// memory there is one executable graph at a time.
    // covers: GRAPH-23, COND-01
    pub fn instantiate(&self) -> Result<GraphExec> {
        let gpu = &self.gpu;
        gpu.bind()?;
        self.refuse_broken()?;
        let allocates = self.contents.allocates();
        if allocates {
            self.free_memory()?;
            self.refuse_second_instance()?;
        }
        self.make_exec(0, None)
    }

    /// As [`instantiate`](Self::instantiate), of a graph that allocates no memory or has no other executable graph, with the driver's flags. Where
    /// it tells of panics can be there already.
    pub(super) fn make_exec(
        &self,
        flags: u64,
        mut panics: Option<Arc<PanicSource>>,
    ) -> Result<GraphExec> {
        let turn = self.template.turn();
        let mut functions = self.report_to(&turn, &mut panics)?;
        find_owners(&mut functions, &self.parts);
        let mut parameters = raw::CUDA_GRAPH_INSTANTIATE_PARAMS {
            flags,
            ..Default::default()
        };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the driver writes to `handle` and `parameters`, which outlive the call; `self` owns the graph.
        let result = unsafe {
            call!(cuGraphInstantiateWithParams(
                &mut handle,
                self.raw,
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
            let node = parameters.hErrNode_out;
            let node = (!node.is_null()).then(|| Node::new(node, self.number));
            return Err(error.while_doing(|| match node {
                Some(node) => format!("{reason}: {node:?}"),
                None => reason.into(),
            }));
        }
        let instance = Arc::new(Instance);
        *lock(&self.instance) = Arc::downgrade(&instance);
        Ok(GraphExec {
            gpu: self.gpu.clone(),
            raw: handle,
            instance,
            contents: self.contents.clone(),
            template: self.template.clone(),
            template_number: self.number,
            parts: Some(self.parts.clone()),
            captured_memory: self.captured_memory.clone(),
            panics,
            functions,
            whole: Whole::of(self),
            is_changed: false,
            switched_off: Vec::new(),
            last_stream: Weak::new(),
        })
    }

    /// # Errors
    ///
    /// An earlier error has left a node without an edge that it needs, or a body unfinished.
    pub(super) fn refuse_broken(&self) -> Result<()> {
        let Some(Broken { node, what }) = self.broken else {
            return Ok(());
        };
        Err(Error::misuse(
            "cuGraphInstantiate",
            Code::INVALID_VALUE,
            format!("nothing can be made of the graph because of {node:?}: {what}"),
            "build the graph anew, and look at that call's error",
        ))
    }

    /// Two executable graphs with the same memory could run at the same time.
    fn refuse_second_instance(&self) -> Result<()> {
        let exists = || lock(&self.instance).strong_count() > 0;
        if exists() {
            // One that was dropped may still have to be destroyed.
            self.gpu.reclaim();
        }
        if exists() {
            return Err(Error::Busy(Box::new(Busy {
                call: "cuGraphInstantiate",
                reason: "the graph allocates memory, and an executable graph of it exists".into(),
                hint: "drop that one, and wait for its launches: `gpu.synchronize()`",
            })));
        }
        Ok(())
    }

    /// Has the nodes tell of panics where an executable graph does, which may still have to be made; gives what the host nodes point to
    /// from here on.
    pub(super) fn report_to(
        &self,
        _turn: &TemplateTurn<'_>,
        panics: &mut Option<Arc<PanicSource>>,
    ) -> Result<Vec<HostCall>> {
        let contents = &self.contents;
        let kernels: Vec<_> = contents
            .launches
            .iter()
            .filter(|kernel| kernel.launch.can_panic())
            .collect();
        if kernels.is_empty() && contents.host_functions.is_empty() {
            return Ok(Vec::new());
        }
        let source = match panics {
            Some(source) => &*source,
            None => panics.insert(self.gpu.panics().add_graph()?),
        };
        for kernel in kernels {
            if let Some(node) = kernel.node {
                // SAFETY: the node is of this graph, and no method removes nodes; it is the one of the launch, which can panic.
                unsafe { kernel.launch.set_panic_log(node.raw(), source.address()) }?;
            }
        }
        let host_functions = self.gpu.panics().host_functions();
        let set = |host: &RecordedHost| {
            let function = Arc::new(Repeated::new(host_functions, source, &host.function));
            let parameters = raw::CUDA_HOST_NODE_PARAMS {
                fn_: Some(run_repeated),
                userData: Arc::as_ptr(&function).cast_mut().cast(),
            };
            // SAFETY: the node is of this graph, and no method removes nodes. The driver copies `parameters`; `userData` is the `Repeated`
            // that `run_repeated` asks for, which the executable graph keeps until its launches are done. The graph itself does not run.
            unsafe { call!(cuGraphHostNodeSetParams(host.node.raw(), &parameters)) }?;
            Ok(HostCall {
                node: host.node,
                owner: None,
                function,
            })
        };
        contents.host_functions.iter().map(set).collect()
    }
}

impl GraphExec {
    /// Launches the graph in the stream and returns: it runs after what the stream holds and before what comes later. Within the
    /// graph only its edges give order. The memory that it uses is put in order with other streams' uses.
    ///
    /// In a stream that is being captured the launch becomes a child graph of what is captured: a copy of the graph that this was made of, or
    /// updated to last. It is a copy of that alone, so it is refused where a single node was changed or switched off since, or the graph has got
    /// more nodes; [`Capture::child`](crate::Capture::child) adds any graph.
    ///
    /// # Errors
    ///
    /// The host has some of its memory open, or an earlier fault comes to light. In a capture: the graph allocates memory, has loops or branches, or is
    /// not what this is any more.
    // covers: GRAPH-20, GRAPH-21
    pub fn launch(&mut self, stream: &Stream) -> Result<()> {
        const CALL: &str = "cuGraphLaunch";
        check_same_device(CALL, &self.gpu, &stream.gpu)?;
        let gpu = self.gpu.clone();
        gpu.bind()?;
        // Given up after the lock: with its last owner a stream of another library gives up its keeper, which is the program's and may call this crate.
        let last = self.last_stream.upgrade();
        let guard = gpu.lock_order();
        if stream.handle.is_captured() {
            return self.launch_captured(&guard, stream);
        }
        let open = self
            .contents
            .ordered()
            .any(|used| used.memory.history().is_open_to_host());
        let kept_out = gpu.order().launch_gate.state().has_host_accesses()
            || stream.handle.host_accesses().are_open();
        if open || kept_out {
            return Err(Error::Busy(Box::new(Busy {
                call: CALL,
                reason: "the host has memory open that the graph uses, or updates a graph that it may launch"
                    .into(),
                hint: "drop the guards of `host()` and `host_mut()` first, and wait for the update",
            })));
        }
        for used in &self.contents.events {
            if used.action == EventAction::Wait {
                used.event.refuse_captured(CALL)?;
            }
        }
        // Recordings in the graph may be complete before the launch is, but after all that is before it.
        let recorded = self
            .records_events()
            .then(|| stream.handle.timeline().end());
        let (launch, to_set) = begin_graph_launch(stream.handle.timeline(), self.panic_sources());
        let enqueued = self.enqueue(&guard, stream, last.as_deref(), &launch, &to_set);
        if enqueued.is_err() {
            self.panic_sources().for_each(Source::separate_next_launch);
        }
        enqueued?;
        for used in &self.contents.events {
            if used.action == EventAction::Wait {
                stream
                    .handle
                    .timeline()
                    .follow(&launch, &used.event.reach());
            }
        }
        for used in &self.contents.events {
            if let (EventAction::Record, Some(reach)) = (used.action, &recorded) {
                used.event.set_position(None, reach.clone());
            }
        }
        Ok(())
    }

    /// Adds a copy of the graph that this is to the stream's capture.
    fn launch_captured(&self, guard: &OrderGuard<'_>, stream: &Stream) -> Result<()> {
        let capture = CaptureState::of(&self.gpu, guard, &stream.handle)?;
        if self.is_changed {
            return Err(refuse_changed("a node of this was changed by itself since"));
        }
        if let Some(node) = self.switched_off.first() {
            return Err(refuse_changed(&format!("{node:?} of this is switched off")));
        }
        let Whole {
            template,
            number,
            changes,
        } = &self.whole;
        if template.changes() != *changes {
            return Err(refuse_changed(
                "nodes or edges were added to that graph since",
            ));
        }
        let whole = WholeGraph {
            template,
            contents: &self.contents,
            number: *number,
        };
        capture.add_child(guard, &stream.handle, &whole)
    }

    /// The number of the graph whose conditions its kernels set.
    pub(super) fn conditions_of(&self) -> u64 {
        self.whole.number
    }

    fn records_events(&self) -> bool {
        let mut events = self.contents.events.iter();
        events.any(|used| used.action == EventAction::Record)
    }

    /// Where kernels tell of panics that run when it is launched: its own, and those of graphs that they launch.
    fn panic_sources(&self) -> impl Iterator<Item = &Source> {
        self.panics
            .iter()
            .chain(&self.contents.panics)
            .map(|source| &***source)
    }

    /// Enqueues a launch after all that its memory's earlier uses conflict with.
    fn enqueue(
        &mut self,
        guard: &OrderGuard<'_>,
        stream: &Stream,
        last: Option<&StreamHandle>,
        launch: &NewLaunch<'_>,
        to_set: &[NumberToSet],
    ) -> Result<()> {
        for used in self.contents.ordered() {
            used.memory.order_use(
                guard,
                &stream.handle,
                launch,
                used.access,
                ViewScope::Shared,
            )?;
        }
        if !to_set.is_empty()
            && let Some(last) = last
            && *last != *stream.handle
        {
            last.hold_back(guard, stream.handle.stream_ref())?;
        }
        for &NumberToSet { address, number } in to_set {
            // SAFETY: the word lives with its source, which lives until the stream has done this: with this executable graph, or that of the
            // contents whose kernels tell there. The launches before are done then, which read it: they are in this stream, or in one that it
            // waits for, as the last stream above, and as all that have had the turn of a graph that kernels launch.
            unsafe { call!(cuMemsetD32Async(address, number, 1, stream.handle.raw())) }?;
        }
        self.last_stream = Arc::downgrade(&stream.handle);
        self.gpu.traced(
            || Track::of(&stream.handle),
            || Work::graph(self.contents.launches.len()),
            // SAFETY: `self` owns the executable graph, `stream` the stream; `contents` keeps what the nodes use, which is freed in order.
            || unsafe { call!(cuGraphLaunch(self.raw, stream.handle.raw())) },
        )
    }

    /// Prepares launches in this stream: maps the memory that the graph allocates, so that the first launch does not have to. A launch in
    /// another stream maps again.
    ///
    /// # Errors
    ///
    /// The device has not so much memory, or the stream is being captured.
    // covers: GMEM-20
    pub fn upload(&mut self, stream: &Stream) -> Result<()> {
        const CALL: &str = "cuGraphUpload";
        check_same_device(CALL, &self.gpu, &stream.gpu)?;
        stream.handle.refuse_capture(
            CALL,
            "an upload is no node of a graph",
            "upload before the capture, or in the stream that launches the graph",
        )?;
        self.gpu.bind()?;
        // SAFETY: `self` owns the executable graph, `stream` the stream.
        unsafe { call!(cuGraphUpload(self.raw, stream.handle.raw())) }
    }

    /// Gives the nodes the parameters of `graph`, which must have the same shape. Launches that are under way keep theirs.
    ///
    /// # Errors
    ///
    /// [`Error::GraphUpdate`] with the reason where the shapes differ, a parameter cannot change, one of the graphs allocates memory, or their
    /// conditions were made or given to nodes in another order; then instantiate `graph`.
    // covers: GRAPH-51, GRAPH-54
    pub fn update(&mut self, graph: &Graph) -> Result<()> {
        check_same_device("cuGraphExecUpdate", &self.gpu, &graph.gpu)?;
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
        graph.refuse_broken()?;
        (self.contents.conditions).check_update(&graph.contents.conditions)?;
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
        if let Some(panics) = &self.panics {
            panics.separate_next_launch();
        }
        let functions = std::mem::replace(&mut self.functions, functions);
        if !functions.is_empty() || !contents.kept.is_empty() {
            self.release_later(functions, contents.kept);
        }
        Ok(())
    }

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
            panics: None,
        });
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

    /// Releases what launches reach by pointers once no launch does any more. Memory is freed in stream order and modules are retired by
    /// their own destructors.
    fn release(&self, released: Released) {
        self.gpu
            .call_driver_later(|gpu| gpu.retire_from_all(Box::new(released)));
    }
}

/// Notes which of the nodes each function's node is, or is inside of.
fn find_owners(functions: &mut [HostCall], parts: &Parts) {
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
    panics: Option<Arc<PanicSource>>,
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
            panics: self.panics.take(),
        };
        self.release(released);
    }
}

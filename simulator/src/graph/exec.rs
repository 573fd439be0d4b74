//! Executable graphs: a plan that can be launched, updated, and changed node by node.

use std::sync::{Arc, Mutex};

use super::device_graph::{DeviceGraph, Uploaded};
use super::execution::run_in_stream;
use super::launch_memory::LaunchMemory;
use super::lifetimes::set_scopes;
use super::merge::{Refusal, forbidden, merge};
use super::objects::UserObject;
use super::plan::{Action, Plan, Step, compile};
use super::run::EventRecords;
use super::semaphores::SemaphoresInUse;
use super::template::{Graph, Instance, node_type_of};
use crate::context::Context;
use crate::error::{Result, code};
use crate::memory::graph_memory;
use crate::registry::{ContextBound, Registry};
use crate::settings;
use crate::streams::semaphore;
use crate::streams::{Operation, Stream};
use crate::sync::lock;
use crate::work::CompletionPoint;
use warpsmith_abi::CUgraphExecUpdateResult;
use warpsmith_abi::fault::{Fault, FaultKind};

/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`
const AUTO_FREE_ON_LAUNCH: u64 = 1;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY`
const USE_NODE_PRIORITY: u64 = 8;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`
pub(crate) const DEVICE_LAUNCH: u64 = 4;

/// All executable graphs.
pub(crate) static EXECS: Registry<Exec> = Registry::with_invalid_null();

impl ContextBound for Exec {
    fn context(&self) -> u64 {
        self.context
    }
}

/// An executable graph.
pub(crate) struct Exec {
    pub(crate) handle: usize,
    pub(crate) context: u64,
    pub(crate) flags: u64,
    /// What launches do to the memory of graphs; no update changes it.
    memory: LaunchMemory,
    /// What kernels launch, if they may.
    on_device: Option<Arc<DeviceGraph>>,
    /// Held as long as this lives.
    _instance: Arc<Instance>,
    state: Mutex<ExecState>,
}

impl Drop for Exec {
    fn drop(&mut self) {
        self.on_device.iter().for_each(|graph| graph.remove());
        if self.memory.is_any() {
            graph_memory::forget_exec(self.handle);
        }
    }
}

struct ExecState {
    plan: Arc<Plan>,
    /// Held as long as this, and every launch, lasts.
    objects: Arc<HeldObjects>,
    /// An executable graph never overlaps itself: a launch waits for the one before.
    last: Option<CompletionPoint>,
}

impl ExecState {
    /// What a launch runs.
    fn uploaded(&self) -> Uploaded {
        Uploaded {
            plan: Arc::clone(&self.plan),
            _objects: Arc::clone(&self.objects),
        }
    }
}

/// References to user objects, each with the name of the step whose inner graph holds it; 0 for the graph itself.
type HeldObjects = Vec<(usize, Arc<UserObject>)>;

impl Exec {
    pub(crate) fn new(
        handle: usize,
        context: u64,
        flags: u64,
        mut plan: Plan,
        objects: HeldObjects,
        instance: Arc<Instance>,
    ) -> Self {
        set_scopes(&mut plan);
        let memory = LaunchMemory::of(&plan);
        let for_device = flags & DEVICE_LAUNCH != 0;
        let on_device = for_device.then(|| DeviceGraph::add(handle as u64, context));
        let state = ExecState {
            plan: Arc::new(plan),
            objects: Arc::new(objects),
            last: None,
        };
        Self {
            handle,
            context,
            flags,
            memory,
            on_device,
            _instance: instance,
            state: Mutex::new(state),
        }
    }

    /// Takes over all parameters of a graph of the same shape, and its user objects, from the next launch on.
    pub(crate) fn update(&self, graph: &Graph) -> core::result::Result<(), Refusal> {
        let fresh = compile(graph).map_err(|problem| Refusal {
            outcome: CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR,
            node: problem.node,
            compared_with: 0,
        })?;
        let mut state = lock(&self.state);
        let compiled = origins(&fresh);
        let mut plan = merge(&state.plan, fresh)?;
        set_scopes(&mut plan);
        state.objects = Arc::new(renamed(graph.all_objects(), &compiled, &origins(&plan)));
        state.plan = Arc::new(plan);
        Ok(())
    }

    /// Changes one step from the next launch on. Launches that are running or queued keep what they had.
    fn edit<T>(&self, origin: usize, edit: impl FnOnce(&mut Step) -> Result<T>) -> Result<T> {
        let mut state = lock(&self.state);
        // On a copy, so that a refused change leaves everything as it was.
        let mut plan = Plan::clone(&state.plan);
        let answer = edit(find(&mut plan, origin).ok_or(code::INVALID_VALUE)?)?;
        set_scopes(&mut plan);
        state.plan = Arc::new(plan);
        Ok(answer)
    }

    /// Changes what one step does.
    pub(crate) fn set_operation(
        &self,
        origin: usize,
        make: impl FnOnce(&Operation) -> Result<Operation>,
    ) -> Result {
        self.edit(origin, |step| {
            let Action::Single(old) = &step.action else {
                return Err(code::INVALID_VALUE);
            };
            let new = make(old)?;
            if node_type_of(&new) != node_type_of(old) || forbidden(old, &new).is_some() {
                return Err(code::INVALID_VALUE);
            }
            step.action = Action::Single(new);
            Ok(())
        })
    }

    /// Changes the parameters in a child graph to those of another graph of the same shape, whose references take the place of the child's.
    pub(crate) fn set_child(&self, origin: usize, child: &Graph) -> Result {
        let fresh = compile(child).map_err(|problem| problem.code)?;
        let compiled = origins(&fresh);
        let mut state = lock(&self.state);
        let mut plan = Plan::clone(&state.plan);
        let step = find(&mut plan, origin).ok_or(code::INVALID_VALUE)?;
        let Action::Child(old) = &step.action else {
            return Err(code::INVALID_VALUE);
        };
        // As the driver (580.159.04) says it, where its documentation names INVALID_VALUE.
        let merged = merge(old, fresh).map_err(|_| code::GRAPH_EXEC_UPDATE_FAILURE)?;
        // Nodes keep the names that they had, so these are those of the old child, too.
        let inside = origins(&merged);
        let is_outside = |holder: usize| holder != origin && !inside.contains(&holder);
        let mut objects = HeldObjects::clone(&state.objects);
        objects.retain(|(holder, _)| is_outside(*holder));
        let displacing = renamed(child.all_objects(), &compiled, &inside).into_iter();
        objects.extend(displacing.map(|(holder, object)| match holder {
            0 => (origin, object),
            _ => (holder, object),
        }));
        step.action = Action::Child(Arc::new(merged));
        set_scopes(&mut plan);
        state.plan = Arc::new(plan);
        state.objects = Arc::new(objects);
        Ok(())
    }

    /// Switches a kernel, copy or fill on or off.
    pub(crate) fn set_enabled(&self, origin: usize, enabled: bool) -> Result {
        self.edit(origin, |step| {
            check_switchable(step)?;
            step.enabled = enabled;
            Ok(())
        })
    }

    pub(crate) fn is_enabled(&self, origin: usize) -> Result<bool> {
        self.edit(origin, |step| {
            check_switchable(step)?;
            Ok(step.enabled)
        })
    }

    /// Maps the memory that the graph allocates, for launches in this stream, and lets kernels launch what it is now.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub(crate) fn upload(&self, stream: &Stream) -> Result {
        let context = stream.context()?;
        self.memory.map(self.handle, stream)?;
        let Some(graph) = self.on_device.clone() else {
            return stream.enqueue(&context, Operation::Empty).map(drop);
        };
        let (room, uploaded) = (stream.room(), lock(&self.state).uploaded());
        let work = Box::new(move || graph.upload(uploaded));
        stream.submit(&context, room, Vec::new(), work);
        Ok(())
    }

    /// Launches the graph in a stream, after its launch before: an executable graph never overlaps itself.
    ///
    /// # Errors
    ///
    /// Invalid value if what it allocated at its last launch is not freed, unless it frees that by itself, or if what it frees is not
    /// allocated; out of memory; invalid handle for a stream of another context, if kernels may launch it, too.
    pub(crate) fn launch(&self, stream: &Stream) -> Result {
        let context = stream.context()?;
        if self.on_device.is_some() && self.context != context.id() {
            return Err(code::INVALID_HANDLE);
        }
        // Before the lock, and before events are promised for which the stream itself may wait.
        let room = stream.room();
        let mut state = lock(&self.state);
        let launched = state.uploaded();
        let graph = self.on_device.clone();
        let auto_free = self.flags & AUTO_FREE_ON_LAUNCH != 0;
        let by_node = settings::process()
            .use_node_priority
            .unwrap_or(self.flags & USE_NODE_PRIORITY != 0);
        let priority = (!by_node).then(|| stream.attributes().priority);
        let memory = self.memory.begin(self.handle, stream, auto_free)?;
        let leftovers = memory.leftovers;
        let records = Arc::new(EventRecords::promise(&launched.plan));
        let promised = Arc::clone(&records);
        let semaphores = SemaphoresInUse::of(&launched.plan);
        let signals = semaphores.signals;
        let worker = Arc::clone(&context);
        let after = state.last.take().into_iter().collect();
        let work = Box::new(move || {
            worker.execute(|| {
                for leftover in &leftovers {
                    let ended =
                        Operation::GraphFree(Arc::clone(leftover), "its graph's next launch");
                    ended.execute(&worker);
                }
                if let Some(graph) = &graph {
                    begin_by_host(graph, &worker, launched.clone());
                }
                run_in_stream(&worker, &launched.plan, &records, graph.as_ref(), priority);
            });
            // Events that were not reached because of an error are completed too, so that waits for them end.
            records.complete_all();
            drop((launched, semaphores));
        });
        let point = stream.submit(&context, room, after, work);
        promised.promise_launch(&point);
        if signals {
            semaphore::note_signal(&point);
        }
        if let Some(backing) = memory.backing {
            backing.launched(point.clone());
        }
        state.last = Some(point);
        Ok(())
    }
}

/// Begins the host's launch of a graph that kernels may launch, too, but not at the same time.
fn begin_by_host(graph: &DeviceGraph, context: &Context, uploaded: Uploaded) {
    if !graph.begin_by_host(uploaded) {
        let text = format!(
            "the host launches graph {:#x} while a launch of it by a kernel is still running: what happens is undefined",
            graph.handle
        );
        context.fail(Fault::outside_kernels(FaultKind::Other, text));
    }
}

/// The names of a plan's steps and of those inside them, in order.
fn origins(plan: &Plan) -> Vec<usize> {
    let steps = plan.nodes.iter();
    let of_step = |step: &Step| {
        let inner: &[Arc<Plan>] = match &step.action {
            Action::Single(_) => &[],
            Action::Child(child) => std::slice::from_ref(child),
            Action::Conditional { bodies, .. } => bodies,
        };
        let inner = inner.iter().flat_map(|plan| origins(plan));
        std::iter::once(step.origin)
            .chain(inner)
            .collect::<Vec<_>>()
    };
    steps.flat_map(of_step).collect()
}

/// References whose holders have the names `to` instead of the names `from`, one by one.
fn renamed(objects: HeldObjects, from: &[usize], to: &[usize]) -> HeldObjects {
    let rename = |holder| {
        let mut names = from.iter().zip(to);
        let found = names.find(|(from, _)| **from == holder);
        found.map_or(holder, |(_, to)| *to)
    };
    let objects = objects.into_iter();
    objects
        .map(|(holder, object)| (rename(holder), object))
        .collect()
}

fn check_switchable(step: &Step) -> Result {
    match &step.action {
        Action::Single(
            Operation::Kernel(_)
            | Operation::Copy(_)
            | Operation::StagedCopy(..)
            | Operation::Fill(_),
        ) => Ok(()),
        _ => Err(code::INVALID_VALUE),
    }
}

/// The step of a template's node, also in child graphs and bodies.
fn find(plan: &mut Plan, origin: usize) -> Option<&mut Step> {
    if let Some(index) = plan.nodes.iter().position(|step| step.origin == origin) {
        return plan.nodes.get_mut(index);
    }
    for step in &mut plan.nodes {
        let inner: Vec<&mut Arc<Plan>> = match &mut step.action {
            Action::Single(_) => continue,
            Action::Child(child) => vec![child],
            Action::Conditional { bodies, .. } => bodies.iter_mut().collect(),
        };
        for plan in inner {
            if contains(plan, origin) {
                return find(Arc::make_mut(plan), origin);
            }
        }
    }
    None
}

fn contains(plan: &Plan, origin: usize) -> bool {
    plan.nodes.iter().any(|step| {
        step.origin == origin
            || match &step.action {
                Action::Single(_) => false,
                Action::Child(child) => contains(child, origin),
                Action::Conditional { bodies, .. } => {
                    bodies.iter().any(|body| contains(body, origin))
                }
            }
    })
}

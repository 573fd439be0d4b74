//! Executions of graphs, and the graphs that their kernels launch (CUDA C++ Programming Guide, "Device Graph Launch").
//!
//! An execution has ended when its own nodes and all that it has launched by fire and forget have; its tails come after it, one at a
//! time, each before those that were there before its own. A sibling is a child of the execution's parent. The parent of what the host
//! launches is the stream's: the stream goes on when that has no children left.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::device_graph::{DeviceGraph, Uploaded};
use super::plan::Plan;
use super::run::{EventRecords, run};
use crate::check::stream_order::Place;
use crate::context::Context;
use crate::device_runtime::{GraphLaunchMode, RunningGraph, conditions};
use crate::settings;
use crate::sync::lock;
use crate::work;
use warpsmith_abi::fault::{Fault, FaultKind};

/// How many graphs an execution launches by fire and forget, and how many as siblings, at most.
const MOST_AT_ONCE: u32 = 120;
/// How many tails it may have.
const MOST_TAILS: usize = 255;

/// An execution of a graph, or what a stream waits for.
struct Execution {
    context: Arc<Context>,
    graph: Option<Arc<DeviceGraph>>,
    /// `None` for what a stream waits for.
    parent: Option<Arc<Execution>>,
    /// That of the stream, unless each kernel has its node's.
    priority: Option<i32>,
    launched: Mutex<Launched>,
    child_ended: Condvar,
}

/// What an execution's kernels have launched.
#[derive(Default)]
struct Launched {
    /// Children that have not ended.
    children: usize,
    fired: u32,
    siblings: u32,
    tails: Vec<Begun>,
}

/// A graph that was launched, and is to run.
struct Begun {
    graph: Arc<DeviceGraph>,
    uploaded: Uploaded,
}

/// Runs a graph that the host has launched, and all that its kernels launch.
pub(super) fn run_in_stream(
    context: &Arc<Context>,
    plan: &Plan,
    records: &EventRecords,
    graph: Option<&Arc<DeviceGraph>>,
    priority: Option<i32>,
) {
    let stream = Execution::new(context, None, None, priority);
    let execution = Execution::new(context, graph.cloned(), Some(Arc::clone(&stream)), priority);
    let mut last = None;
    let tails = execution.run(plan, records, &mut last);
    stream.run_all(tails, last);
    stream.wait_for_children();
}

impl Execution {
    fn new(
        context: &Arc<Context>,
        graph: Option<Arc<DeviceGraph>>,
        parent: Option<Arc<Execution>>,
        priority: Option<i32>,
    ) -> Arc<Self> {
        Arc::new(Self {
            context: Arc::clone(context),
            graph,
            parent,
            priority,
            launched: Mutex::default(),
            child_ended: Condvar::new(),
        })
    }

    /// Runs the nodes and waits for the children; the tails are left to do. `last` is the place of the execution that this one comes after,
    /// and then its own; what runs on a thread for a launch by a kernel has none.
    fn run(
        self: &Arc<Self>,
        plan: &Plan,
        records: &EventRecords,
        last: &mut Option<Place>,
    ) -> Vec<Begun> {
        for &(handle, default) in &plan.defaults {
            conditions::set(handle, default);
        }
        let place = work::place().map(|place| place.inside(&*last));
        work::at_place(place.clone(), || run(plan, &self.context, records, self));
        *last = place;
        self.wait_for_children();
        if let Some(graph) = &self.graph {
            graph.end();
        }
        std::mem::take(&mut lock(&self.launched).tails)
    }

    /// Runs graphs one after the other as children of this execution, the tails of each before the next.
    fn run_all(self: &Arc<Self>, first: Vec<Begun>, mut last: Option<Place>) {
        let mut waiting = VecDeque::from(first);
        let most = settings::get().iterations;
        let mut runs = 0;
        while let Some(next) = waiting.pop_front() {
            if self.context.is_ending() {
                next.graph.end();
                continue;
            }
            if runs == most {
                let text = format!(
                    "graphs went on launching further ones as their tails after {most} of them"
                );
                let fault = Fault::outside_kernels(FaultKind::EndlessLoop, text);
                self.context.fail(fault);
            }
            runs += 1;
            let (graph, parent) = (Some(next.graph), Some(Arc::clone(self)));
            let execution = Execution::new(&self.context, graph, parent, self.priority);
            let tails = execution.run(&next.uploaded.plan, &EventRecords::default(), &mut last);
            tails
                .into_iter()
                .rev()
                .for_each(|tail| waiting.push_front(tail));
        }
    }

    fn wait_for_children(&self) {
        let mut launched = lock(&self.launched);
        while launched.children > 0 {
            let woken = self.child_ended.wait(launched);
            launched = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Runs a graph on a thread of its own.
    fn start_child(self: &Arc<Self>, begun: Begun) {
        lock(&self.launched).children += 1;
        let parent = Arc::clone(self);
        let run = move || {
            let context = Arc::clone(&parent.context);
            context.execute(|| parent.run_all(vec![begun], None));
            lock(&parent.launched).children -= 1;
            parent.child_ended.notify_all();
        };
        std::thread::Builder::new()
            .name("warpsmith launched graph".to_owned())
            .spawn(run)
            .expect("the system refuses a thread for a graph");
    }

    /// Begins a launch of another graph, or of this one as its own tail; `None` if that is refused.
    fn begin(&self, graph: Arc<DeviceGraph>, mode: GraphLaunchMode) -> Option<Begun> {
        let is_own = self
            .graph
            .as_ref()
            .is_some_and(|own| own.handle == graph.handle);
        let uploaded = match is_own && mode == GraphLaunchMode::Tail {
            true => graph.relaunch(),
            false => graph.begin(),
        }?;
        Some(Begun { graph, uploaded })
    }
}

impl RunningGraph for Arc<Execution> {
    fn handle(&self) -> u64 {
        self.graph.as_ref().map_or(0, |graph| graph.handle)
    }

    fn priority(&self) -> Option<i32> {
        self.priority
    }

    fn launch(&self, exec: u64, mode: GraphLaunchMode) -> Result<bool, String> {
        if exec == 0 {
            return Ok(false);
        }
        let graph = DeviceGraph::find(exec).filter(|graph| graph.context == self.context.id());
        let graph = graph.ok_or_else(|| {
            format!(
                "cudaGraphLaunch was called with {exec:#x}, which is no executable graph of this context that was instantiated for \
                 launches by kernels"
            )
        })?;
        let mut launched = lock(&self.launched);
        let has_room = match mode {
            GraphLaunchMode::Tail => launched.tails.len() < MOST_TAILS,
            GraphLaunchMode::FireAndForget => launched.fired < MOST_AT_ONCE,
            GraphLaunchMode::Sibling => launched.siblings < MOST_AT_ONCE,
        };
        let Some(begun) = has_room.then(|| self.begin(graph, mode)).flatten() else {
            return Ok(false);
        };
        let parent = match mode {
            GraphLaunchMode::Tail => {
                launched.tails.push(begun);
                return Ok(true);
            }
            GraphLaunchMode::FireAndForget => {
                launched.fired += 1;
                self
            }
            GraphLaunchMode::Sibling => {
                launched.siblings += 1;
                self.parent
                    .as_ref()
                    .expect("a stream runs no kernels: every execution has a parent")
            }
        };
        drop(launched);
        parent.start_child(begun);
        Ok(true)
    }
}

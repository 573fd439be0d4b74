//! Running a plan: independent branches at the same time.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::plan::{Action, Plan, Step};
use super::template::ConditionalKind;
use crate::check::stream_order::{Clock, Place};
use crate::context::Context;
use crate::device_runtime::{GraphLaunchMode, RunningGraph, conditions};
use crate::memory::graph_memory;
use crate::order_check;
use crate::report;
use crate::settings;
use crate::streams::semaphore;
use crate::streams::{Event, EventPoint, Launch, Operation, Recording};
use crate::sync::lock;
use crate::work::{self, CompletionPoint};
use warpsmith_abi::fault::{Fault, FaultKind};

/// How many branches of a graph run at the same time, not counting those that wait for something outside of them.
const BRANCHES: usize = 8;

/// The events that a launch records.
#[derive(Default)]
pub(super) struct EventRecords {
    /// For each event record node, the point that this launch's recording stands for.
    points: HashMap<usize, EventPoint>,
    /// What each of these events, and of those that nodes wait for, stood for before the launch: a wait node means that, whatever is
    /// recorded later (H200, driver 580.159.04).
    before: HashMap<usize, Recording>,
}

impl EventRecords {
    /// Records all events of a plan as points that are still to be reached, and notes what those stand for that it waits for.
    pub(super) fn promise(plan: &Plan) -> Self {
        let mut records = Self::default();
        records.add(plan);
        records
    }

    fn add(&mut self, plan: &Plan) {
        for step in &plan.nodes {
            match &step.action {
                Action::Single(Operation::EventWait(event)) => self.note(event),
                Action::Single(Operation::EventRecord(event)) => {
                    self.note(event);
                    self.points.insert(step.origin, event.promise());
                }
                Action::Child(child) => self.add(child),
                _ => {}
            }
        }
    }

    fn note(&mut self, event: &Event) {
        self.before
            .entry(event.handle)
            .or_insert_with(|| event.recording());
    }

    /// Says what those come after that wait for events which the launch records: the whole launch.
    pub(super) fn promise_launch(&self, launch: &CompletionPoint) {
        for point in self.points.values() {
            point.point.promise(|clock| launch.enter(clock));
        }
    }

    /// Completes all points that have not been reached.
    pub(super) fn complete_all(&self) {
        self.points.values().for_each(EventPoint::complete);
    }
}

/// What the workers of one run share.
struct Run<'a> {
    plan: &'a Plan,
    /// That of the plan, and those of the steps that have been come to; `None` where nobody asks for them.
    place: Option<Place>,
    places: Vec<OnceLock<Place>>,
    context: &'a Context,
    records: &'a EventRecords,
    running: &'a dyn RunningGraph,
    /// For each step, those that come after it.
    next: Vec<Vec<usize>>,
    progress: Mutex<RunProgress>,
    seed: u64,
}

struct RunProgress {
    /// For each step, how many it still waits for.
    missing: Vec<usize>,
    ready: VecDeque<usize>,
    workers: usize,
    picks: u64,
}

/// Runs a plan to its end; `running` is the execution of a graph that it is, or belongs to.
pub(super) fn run(
    plan: &Plan,
    context: &Context,
    records: &EventRecords,
    running: &dyn RunningGraph,
) {
    let mut next = vec![Vec::new(); plan.nodes.len()];
    for (number, step) in plan.nodes.iter().enumerate() {
        step.after
            .iter()
            .for_each(|&before| next[before].push(number));
    }
    let missing: Vec<usize> = plan.nodes.iter().map(|step| step.after.len()).collect();
    let ready = (0..plan.nodes.len())
        .filter(|&number| missing[number] == 0)
        .collect();
    let progress = Mutex::new(RunProgress {
        missing,
        ready,
        workers: 1,
        picks: 0,
    });
    let run = Run {
        plan,
        place: work::place().filter(|_| order_check::is_on()),
        places: plan.nodes.iter().map(|_| OnceLock::new()).collect(),
        context,
        records,
        running,
        next,
        progress,
        seed: settings::get().seed,
    };
    std::thread::scope(|scope| run.work(scope));
}

/// The body of a conditional node, as its kernels see it: they launch no graphs (CUDA C++ Programming Guide, "Conditional Node Body Graph
/// Requirements").
struct ConditionalBody {
    priority: Option<i32>,
}

impl RunningGraph for ConditionalBody {
    fn handle(&self) -> u64 {
        0
    }

    fn priority(&self) -> Option<i32> {
        self.priority
    }

    fn launch(&self, exec: u64, _mode: GraphLaunchMode) -> Result<bool, String> {
        Err(format!(
            "cudaGraphLaunch was called with {exec:#x} by a kernel in the body of a conditional node, where no kernel may launch graphs"
        ))
    }
}

/// Whether a step may wait for what another branch, or somebody else, does.
fn may_wait(action: &Action) -> bool {
    match action {
        Action::Single(Operation::Memory(batch)) => batch.waits(),
        Action::Single(Operation::EventWait(_) | Operation::SemaphoreWait(_)) => true,
        Action::Single(_) => false,
        Action::Child(_) | Action::Conditional { .. } => true,
    }
}

impl<'a> Run<'a> {
    /// Executes steps as they become ready; calls helpers while there is more than one.
    fn work<'scope>(&'scope self, scope: &'scope std::thread::Scope<'scope, 'a>) {
        loop {
            let number = {
                let mut progress = lock(&self.progress);
                self.call_helpers(scope, &mut progress, 1);
                let index = self.pick(&mut progress);
                match progress.ready.remove(index) {
                    Some(number) => number,
                    None => {
                        progress.workers -= 1;
                        return;
                    }
                }
            };
            self.step(scope, number);
        }
    }

    /// Lets other threads execute the ready steps but `own` of them.
    fn call_helpers<'scope>(
        &'scope self,
        scope: &'scope std::thread::Scope<'scope, 'a>,
        progress: &mut RunProgress,
        own: usize,
    ) {
        while progress.ready.len() > own && progress.workers < BRANCHES {
            progress.workers += 1;
            let index = self.pick(progress);
            let number = progress.ready.remove(index);
            scope.spawn(move || {
                number
                    .into_iter()
                    .for_each(|number| self.step(scope, number));
                self.work(scope);
            });
        }
    }

    /// Which of the ready steps comes next: nothing orders them, so the seed may.
    fn pick(&self, progress: &mut RunProgress) -> usize {
        if self.seed == 0 || progress.ready.is_empty() {
            return 0;
        }
        progress.picks += 1;
        let mixed = (self.seed ^ progress.picks).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> 32) as usize) % progress.ready.len()
    }

    fn step<'scope>(&'scope self, scope: &'scope std::thread::Scope<'scope, 'a>, number: usize) {
        let step = &self.plan.nodes[number];
        let waits = may_wait(&step.action);
        if waits {
            // What it waits for may be another branch.
            let mut progress = lock(&self.progress);
            progress.workers -= 1;
            self.call_helpers(scope, &mut progress, 0);
        }
        let place = self.place_of(number);
        if step.enabled && self.context.check().is_ok() {
            work::at_place(place, || self.perform(step));
        }
        let mut progress = lock(&self.progress);
        progress.workers += usize::from(waits);
        for &after in &self.next[number] {
            progress.missing[after] -= 1;
            if progress.missing[after] == 0 {
                progress.ready.push_back(after);
            }
        }
    }

    /// The place of a step: after those that come before it, and what it waits for.
    fn place_of(&self, number: usize) -> Option<Place> {
        let plan = self.place.as_ref()?;
        let step = &self.plan.nodes[number];
        let before = step
            .after
            .iter()
            .filter_map(|&step| self.places[step].get());
        let label = format!("node {:#x} of a graph in {}", step.origin, plan.label);
        let mut place = plan.inside(before).labelled(&label.into());
        if let Action::Single(Operation::EventWait(event)) = &step.action
            && let Some(recording) = self.records.before.get(&event.handle)
        {
            let mut known = Clock::new();
            recording.enter(&mut known);
            place = place.knowing(&known);
        }
        if let Action::Single(Operation::SemaphoreWait(_)) = &step.action {
            place = place.knowing(&semaphore::signalled());
        }
        Some(self.places[number].get_or_init(|| place).clone())
    }

    fn perform(&self, step: &Step) {
        match &step.action {
            Action::Single(Operation::EventRecord(_)) => {
                if let Some(point) = self.records.points.get(&step.origin) {
                    point.complete();
                }
            }
            Action::Single(Operation::EventWait(event)) => {
                if let Some(recording) = self.records.before.get(&event.handle) {
                    recording.wait(|| self.context.is_ending());
                }
            }
            Action::Single(Operation::Kernel(launch)) => {
                graph_memory::within(step.scope.as_ref(), || self.launch(step.origin, launch));
            }
            Action::Single(operation) => {
                graph_memory::within(step.scope.as_ref(), || operation.execute(self.context));
            }
            Action::Child(plan) => self.inner(plan),
            Action::Conditional {
                handle,
                kind,
                bodies,
                ..
            } => self.decide(step.origin, *handle, *kind, bodies),
        }
    }

    /// Runs a kernel in the context of its node, which need not be that of the stream. A fault is then one of both (H100, driver 580.159.04).
    fn launch(&self, node: usize, launch: &Launch) {
        let function = &launch.function;
        if function.context == self.context.id() {
            return launch.execute_in(self.context, self.running);
        }
        let has_run = Context::of_id(function.context).is_ok_and(|context| {
            let run = || launch.execute_in(&context, self.running);
            let has_run = context.execute_as_guest(function.epoch, run);
            self.context.share_fault(&context);
            has_run
        });
        if !has_run {
            let text = format!(
                "node {node:#x} of a graph launches `{}` in a context that has ended: what happens is undefined",
                function.kernel.name
            );
            self.context
                .fail(Fault::outside_kernels(FaultKind::Other, text));
        }
    }

    /// Runs a child graph.
    fn inner(&self, plan: &Plan) {
        run(plan, self.context, self.records, self.running);
    }

    /// Runs a body of a conditional node.
    fn body(&self, plan: &Plan) {
        let priority = self.running.priority();
        let body = ConditionalBody { priority };
        run(plan, self.context, self.records, &body);
    }

    fn decide(&self, node: usize, handle: u64, kind: ConditionalKind, bodies: &[Arc<Plan>]) {
        let value = || {
            conditions::value(handle).or_else(|| {
                let text = format!(
                    "conditional handle {handle:#x} was tested before anybody set it; it has no default value"
                );
                self.context.fail(Fault::outside_kernels(FaultKind::UnsetCondition, text));
                None
            })
        };
        let chosen = match (kind, value()) {
            (_, None) => return,
            (ConditionalKind::If, Some(value)) => usize::from(value == 0),
            (ConditionalKind::Switch, Some(value)) => value as usize,
            (ConditionalKind::While, Some(_)) => return self.repeat(node, handle, bodies, value),
        };
        if let Some(body) = bodies.get(chosen) {
            self.body(body);
        }
    }

    fn repeat(
        &self,
        node: usize,
        handle: u64,
        bodies: &[Arc<Plan>],
        value: impl Fn() -> Option<u32>,
    ) {
        let most = settings::get().iterations;
        let (start, patience) = (Instant::now(), settings::get().patience);
        let mut is_told = false;
        let mut passes = 0;
        let mut last: Option<Place> = None;
        while let Some(again) = value()
            && again != 0
            && self.context.check().is_ok()
        {
            if !is_told && passes > 0 && start.elapsed() >= patience {
                is_told = true;
                report::remark(&format!(
                    "the loop of node {node:#x} of a graph has run for {} s: {passes} rounds, and its condition {handle:#x} is still {again}",
                    patience.as_secs_f32(),
                ));
            }
            if passes == most || self.context.cancel_flag().load(Ordering::Acquire) {
                let text = format!(
                    "a conditional while node did not end within {most} passes: nobody sets its value to 0"
                );
                self.context
                    .fail(Fault::outside_kernels(FaultKind::EndlessLoop, text));
                return;
            }
            // Each pass comes after the one before.
            let pass = work::place().map(|node| node.inside(&last));
            work::at_place(pass.clone(), || {
                bodies.iter().for_each(|body| self.body(body));
            });
            last = pass;
            passes += 1;
        }
    }
}

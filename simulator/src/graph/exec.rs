//! Executable graphs: launching a plan, with independent branches at the same time.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::UserObject;
use super::conditional::{self, ConditionalKind};
use super::plan::{Action, Plan, Step, compile};
use super::template::{Graph, kind_of};
use super::update::{forbidden, merge};
use crate::report;
use crate::settings;
use crate::state::{Context, Result, code, lock};
use crate::streams::{Mark, Operation, Recording, Stream};

/// How many branches of a graph run at the same time.
const BRANCHES: usize = 8;

/// An executable graph.
pub(crate) struct Exec {
    pub(crate) handle: usize,
    pub(crate) context: u64,
    pub(crate) flags: u64,
    state: Mutex<State>,
}

struct State {
    plan: Arc<Plan>,
    /// Held as long as this, and every launch, lasts.
    objects: Arc<Vec<Arc<UserObject>>>,
    /// An executable graph never overlaps itself: a launch waits for the one before.
    last: Option<Mark>,
}

impl Exec {
    pub(crate) fn new(
        handle: usize,
        context: u64,
        flags: u64,
        plan: Plan,
        objects: Vec<Arc<UserObject>>,
    ) -> Self {
        let state = State {
            plan: Arc::new(plan),
            objects: Arc::new(objects),
            last: None,
        };
        Self {
            handle,
            context,
            flags,
            state: Mutex::new(state),
        }
    }

    pub(crate) fn plan(&self) -> Arc<Plan> {
        Arc::clone(&lock(&self.state).plan)
    }

    /// Replaces plan and objects from the next launch on.
    pub(crate) fn replace(&self, plan: Plan, objects: Option<Vec<Arc<UserObject>>>) {
        let mut state = lock(&self.state);
        state.plan = Arc::new(plan);
        if let Some(objects) = objects {
            state.objects = Arc::new(objects);
        }
    }

    /// Changes one step from the next launch on. Launches that are running or queued keep what they had.
    fn edit<T>(&self, origin: usize, edit: impl FnOnce(&mut Step) -> Result<T>) -> Result<T> {
        let mut state = lock(&self.state);
        // On a copy, so that a refused change leaves everything as it was.
        let mut plan = Plan::clone(&state.plan);
        let answer = edit(find(&mut plan, origin).ok_or(code::INVALID_VALUE)?)?;
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
            let Action::Do(old) = &step.action else {
                return Err(code::INVALID_VALUE);
            };
            let new = make(old)?;
            if kind_of(&new) != kind_of(old) || forbidden(old, &new).is_some() {
                return Err(code::INVALID_VALUE);
            }
            step.action = Action::Do(new);
            Ok(())
        })
    }

    /// Changes the parameters in a child graph to those of another graph of the same shape.
    pub(crate) fn set_child(&self, origin: usize, child: &Graph) -> Result {
        let fresh = compile(child).map_err(|problem| problem.code)?;
        self.edit(origin, |step| {
            let Action::Child(old) = &step.action else {
                return Err(code::INVALID_VALUE);
            };
            step.action = Action::Child(Arc::new(
                merge(old, fresh).map_err(|_| code::INVALID_VALUE)?,
            ));
            Ok(())
        })
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

    pub(crate) fn launch(&self, stream: &Arc<Stream>) -> Result {
        let context = stream.context()?;
        let mut state = lock(&self.state);
        let (plan, objects) = (Arc::clone(&state.plan), Arc::clone(&state.objects));
        let mut records = Records::default();
        promise_records(&plan, &mut records);
        let worker = Arc::clone(&context);
        let after = state.last.take().into_iter().collect();
        let work = Box::new(move || {
            if worker.check().is_ok() {
                for &(handle, default) in &plan.defaults {
                    conditional::set_condition(handle, default);
                }
                run(&plan, &worker, &records);
            }
            // Records that were not reached, because of an error, must not keep anybody waiting.
            records.points.values().for_each(fulfil);
            drop(objects);
        });
        state.last = Some(stream.issue_with(&context, after, work));
        Ok(())
    }
}

fn check_switchable(step: &Step) -> Result {
    match &step.action {
        Action::Do(
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
            Action::Do(_) => continue,
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
                Action::Do(_) => false,
                Action::Child(child) => contains(child, origin),
                Action::Conditional { bodies, .. } => {
                    bodies.iter().any(|body| contains(body, origin))
                }
            }
    })
}

/// The events that a launch records.
#[derive(Default)]
struct Records {
    /// For each event record node, the point that this launch's recording stands for.
    points: HashMap<usize, (Mark, Arc<OnceLock<Instant>>)>,
    /// What each of these events stood for before the launch: a wait node of the same graph means that.
    before: HashMap<usize, Recording>,
}

/// Records all events of a plan as points that are still to come.
fn promise_records(plan: &Plan, records: &mut Records) {
    for step in &plan.nodes {
        match &step.action {
            Action::Do(Operation::EventRecord(event)) => {
                let point = (Mark::promise(), Arc::default());
                records
                    .before
                    .entry(event.handle)
                    .or_insert_with(|| event.recording());
                event.record(Recording::Real(point.0.clone(), Arc::clone(&point.1)));
                records.points.insert(step.origin, point);
            }
            Action::Child(child) => promise_records(child, records),
            _ => {}
        }
    }
}

fn fulfil((mark, time): &(Mark, Arc<OnceLock<Instant>>)) {
    let _ = time.set(Instant::now());
    mark.fulfil();
}

/// What the workers of one run share.
struct Run<'a> {
    plan: &'a Plan,
    context: &'a Context,
    records: &'a Records,
    /// For each step, those that come after it.
    next: Vec<Vec<usize>>,
    progress: Mutex<Progress>,
    seed: u64,
}

struct Progress {
    /// For each step, how many it still waits for.
    missing: Vec<usize>,
    ready: VecDeque<usize>,
    workers: usize,
    picks: u64,
}

fn run(plan: &Plan, context: &Context, records: &Records) {
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
    let progress = Mutex::new(Progress {
        missing,
        ready,
        workers: 1,
        picks: 0,
    });
    let run = Run {
        plan,
        context,
        records,
        next,
        progress,
        seed: settings::get().seed,
    };
    std::thread::scope(|scope| run.work(scope));
}

impl<'a> Run<'a> {
    /// Executes steps as they become ready; calls helpers while there is more than one.
    fn work<'scope>(&'scope self, scope: &'scope std::thread::Scope<'scope, 'a>) {
        loop {
            let number = {
                let mut progress = lock(&self.progress);
                while progress.ready.len() > 1 && progress.workers < BRANCHES {
                    progress.workers += 1;
                    let index = self.pick(&mut progress);
                    let number = progress.ready.remove(index);
                    scope.spawn(move || {
                        number.into_iter().for_each(|number| self.step(number));
                        self.work(scope);
                    });
                }
                let index = self.pick(&mut progress);
                match progress.ready.remove(index) {
                    Some(number) => number,
                    None => {
                        progress.workers -= 1;
                        return;
                    }
                }
            };
            self.step(number);
        }
    }

    /// Which of the ready steps comes next: nothing orders them, so the seed may.
    fn pick(&self, progress: &mut Progress) -> usize {
        if self.seed == 0 || progress.ready.is_empty() {
            return 0;
        }
        progress.picks += 1;
        let mixed = (self.seed ^ progress.picks).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> 32) as usize) % progress.ready.len()
    }

    fn step(&self, number: usize) {
        let step = &self.plan.nodes[number];
        if step.enabled && self.context.check().is_ok() {
            self.act(step);
        }
        let mut progress = lock(&self.progress);
        for &after in &self.next[number] {
            progress.missing[after] -= 1;
            if progress.missing[after] == 0 {
                progress.ready.push_back(after);
            }
        }
    }

    fn act(&self, step: &Step) {
        match &step.action {
            Action::Do(Operation::EventRecord(_)) => {
                self.records
                    .points
                    .get(&step.origin)
                    .into_iter()
                    .for_each(fulfil);
            }
            Action::Do(Operation::EventWait(event)) => {
                let recording = self.records.before.get(&event.handle).cloned();
                if let Recording::Real(mark, _) = recording.unwrap_or_else(|| event.recording()) {
                    mark.wait();
                }
            }
            Action::Do(operation) => {
                let _ = operation.execute(self.context);
            }
            Action::Child(plan) => run(plan, self.context, self.records),
            Action::Conditional {
                handle,
                kind,
                bodies,
            } => self.decide(*handle, *kind, bodies),
        }
    }

    fn decide(&self, handle: u64, kind: ConditionalKind, bodies: &[Arc<Plan>]) {
        let value = || {
            conditional::value(handle).or_else(|| {
                report::fault(&format!("conditional handle {handle:#x} was tested before anybody set it; it has no default value"));
                self.context.spoil(code::LAUNCH_FAILED);
                None
            })
        };
        let chosen = match (kind, value()) {
            (_, None) => return,
            (ConditionalKind::If, Some(value)) => usize::from(value == 0),
            (ConditionalKind::Switch, Some(value)) => value as usize,
            (ConditionalKind::While, Some(_)) => return self.repeat(bodies, value),
        };
        if let Some(body) = bodies.get(chosen) {
            run(body, self.context, self.records);
        }
    }

    fn repeat(&self, bodies: &[Arc<Plan>], value: impl Fn() -> Option<u32>) {
        let most = settings::get().iterations;
        let mut passes = 0;
        while value().is_some_and(|value| value != 0) && self.context.check().is_ok() {
            if passes == most || self.context.is_cancelled() {
                report::fault(&format!(
                    "a conditional while node did not end within {most} passes: nobody sets its value to 0"
                ));
                self.context.spoil(code::LAUNCH_TIMEOUT);
                return;
            }
            bodies
                .iter()
                .for_each(|body| run(body, self.context, self.records));
            passes += 1;
        }
    }
}

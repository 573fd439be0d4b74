//! A stream: a lane, what it belongs to, and whether it is capturing.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Instant;

use super::{Event, Lane, Mark, Operation, Recording};
use crate::abi::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUstream, CUstream_flags};
use crate::graph::{self, StreamCapture};
use crate::settings;
use crate::state::{Context, Result, code, current, lock, registries};

/// A stream.
pub(crate) struct Stream {
    pub(crate) handle: usize,
    context: Weak<Context>,
    pub(crate) context_id: u64,
    pub(crate) lane: Arc<Lane>,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    pub(crate) is_legacy: bool,
    /// The capture that this stream takes part in, and where it stands in the graph.
    pub(crate) capture: Mutex<Option<StreamCapture>>,
}

impl Stream {
    pub(crate) fn new(handle: usize, context: &Arc<Context>, flags: u32, priority: i32) -> Self {
        let lane = Lane::new();
        let stream = Self {
            handle,
            context: Arc::downgrade(context),
            context_id: context.id(),
            lane: Arc::clone(&lane),
            flags,
            priority,
            is_legacy: handle == CU_STREAM_LEGACY as usize,
            capture: Mutex::new(None),
        };
        let mut lanes = lock(&context.lanes);
        // Lanes that nobody else holds belong to destroyed streams.
        lanes.retain(|(lane, _)| Arc::strong_count(lane) > 1 || !lane.is_idle());
        lanes.push((lane, stream.is_blocking() && !stream.is_legacy));
        drop(lanes);
        stream
    }

    pub(crate) fn context(&self) -> Result<Arc<Context>> {
        let context = self.context.upgrade().ok_or(code::CONTEXT_IS_DESTROYED)?;
        context.check()?;
        Ok(context)
    }

    /// Whether the stream and the legacy default stream wait for each other.
    pub(crate) fn is_blocking(&self) -> bool {
        self.flags & CUstream_flags::CU_STREAM_NON_BLOCKING.0 == 0
    }

    /// Executes an operation in the stream's order, or appends it to the graph that the stream captures. `None` in the latter case.
    pub(crate) fn perform(self: &Arc<Self>, operation: Operation) -> Result<Option<Mark>> {
        let context = self.context()?;
        if graph::append_if_capturing(self, &operation)? {
            return Ok(None);
        }
        graph::refuse_implicit(self, &context)?;
        let kernel = matches!(operation, Operation::Kernel(_));
        let mark = self.issue(&context, operation);
        if kernel && settings::get().launch_blocking {
            mark.wait();
            context.check()?;
        }
        Ok(Some(mark))
    }

    /// Executes an operation in the stream's order and waits for it.
    pub(crate) fn perform_now(self: &Arc<Self>, operation: Operation) -> Result {
        let context = self.context()?;
        graph::refuse_synchronous(self, &context)?;
        let _order = lock(&context.order);
        let after = self.predecessors(&context);
        let worker = Arc::clone(&context);
        drop(_order);
        self.lane
            .run(after, Box::new(move || execute(&worker, &operation)));
        context.check()
    }

    /// Puts an operation into the lane.
    pub(crate) fn issue(&self, context: &Arc<Context>, operation: Operation) -> Mark {
        let worker = Arc::clone(context);
        self.issue_with(
            context,
            Vec::new(),
            Box::new(move || execute(&worker, &operation)),
        )
    }

    /// Puts any work into the lane, after further marks. The work sees to a spoilt context itself.
    pub(crate) fn issue_with(
        &self,
        context: &Arc<Context>,
        mut after: Vec<Mark>,
        work: Box<dyn FnOnce() + Send>,
    ) -> Mark {
        let _order = lock(&context.order);
        after.extend(self.predecessors(context));
        self.lane.submit(after, work)
    }

    /// Records an event here. The time is taken even in a spoilt context, so that waits end.
    pub(crate) fn record(self: &Arc<Self>, event: &Event) -> Result {
        let context = self.context()?;
        let time: Arc<OnceLock<Instant>> = Arc::default();
        let clock = Arc::clone(&time);
        let mark = self.issue_with(
            &context,
            Vec::new(),
            Box::new(move || _ = clock.set(Instant::now())),
        );
        event.record(Recording::Real(mark, time));
        Ok(())
    }

    /// Lets later work wait for a mark.
    pub(crate) fn wait_for(&self, mark: Mark) -> Result {
        let context = self.context()?;
        self.issue_with(&context, vec![mark], Box::new(|| ()));
        Ok(())
    }

    /// The mark after everything issued so far; for the legacy stream that includes all blocking streams.
    pub(crate) fn marks(&self, context: &Context) -> Vec<Mark> {
        let _order = lock(&context.order);
        let mut marks = self.predecessors(context);
        marks.push(self.lane.mark());
        marks
    }

    pub(crate) fn synchronize(&self) -> Result {
        let context = self.context()?;
        for mark in self.marks(&context) {
            mark.wait();
        }
        context.drain_output();
        crate::pool::after_synchronisation(context.device);
        context.check()
    }

    pub(crate) fn query(&self) -> Result<bool> {
        let context = self.context()?;
        Ok(self.marks(&context).iter().all(Mark::done))
    }

    /// What the next item waits for by the rules of the default streams.
    fn predecessors(&self, context: &Context) -> Vec<Mark> {
        let lanes = lock(&context.lanes);
        if self.is_legacy {
            return lanes
                .iter()
                .filter(|(_, blocking)| *blocking)
                .map(|(lane, _)| lane.mark())
                .filter(|m| !m.done())
                .collect();
        }
        if !self.is_blocking() {
            return Vec::new();
        }
        let legacy = lock(&context.legacy)
            .as_ref()
            .map(|legacy| legacy.lane.mark());
        legacy.filter(|mark| !mark.done()).into_iter().collect()
    }
}

fn execute(context: &Context, operation: &Operation) {
    if context.check().is_ok() {
        let _ = operation.execute(context);
    }
}

thread_local! {
    static PER_THREAD: Cell<u32> = const { Cell::new(0) };
    /// This thread's own default streams, by context.
    static DEFAULTS: RefCell<HashMap<(u64, u64), Arc<Stream>>> = RefCell::default();
}

/// While one lives, the null stream means the calling thread's own default stream.
pub(crate) struct PerThreadDefault(());

impl PerThreadDefault {
    pub(crate) fn enter() -> Self {
        PER_THREAD.set(PER_THREAD.get() + 1);
        Self(())
    }
}

impl Drop for PerThreadDefault {
    fn drop(&mut self) {
        PER_THREAD.set(PER_THREAD.get() - 1);
    }
}

/// The stream of a handle; null and the two special handles mean default streams of the current context.
pub(crate) fn find(handle: CUstream) -> Result<Arc<Stream>> {
    if handle == CU_STREAM_LEGACY || (handle.is_null() && PER_THREAD.get() == 0) {
        return legacy(&current()?);
    }
    if handle == CU_STREAM_PER_THREAD || handle.is_null() {
        return per_thread(&current()?);
    }
    let stream = registries().streams.get(handle)?;
    stream.context()?;
    Ok(stream)
}

/// The legacy default stream of a context.
pub(crate) fn legacy(context: &Arc<Context>) -> Result<Arc<Stream>> {
    if let Some(stream) = lock(&context.legacy).as_ref() {
        return Ok(Arc::clone(stream));
    }
    let stream = Arc::new(Stream::new(CU_STREAM_LEGACY as usize, context, 0, 0));
    Ok(Arc::clone(lock(&context.legacy).get_or_insert(stream)))
}

fn per_thread(context: &Arc<Context>) -> Result<Arc<Stream>> {
    let key = (context.id(), context.epoch());
    DEFAULTS.with_borrow_mut(|streams| {
        streams.retain(|_, stream| stream.context.strong_count() > 0);
        let make = || Arc::new(Stream::new(CU_STREAM_PER_THREAD as usize, context, 0, 0));
        Ok(Arc::clone(streams.entry(key).or_insert_with(make)))
    })
}

/// The lanes of a context that may still have work.
pub(crate) fn lanes_of(context: &Context) -> Vec<Arc<Lane>> {
    lock(&context.lanes)
        .iter()
        .map(|(lane, _)| Arc::clone(lane))
        .collect()
}

/// Waits for all work of a context.
pub(crate) fn settle(context: &Context) {
    for lane in lanes_of(context) {
        lane.mark().wait();
    }
}

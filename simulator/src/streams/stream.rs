//! A stream: a queue, the context it belongs to, and its part in captures.

use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Instant;

use super::attributes::{Attribute, StreamAttributes};
use super::capture::CaptureSlot;
use super::event::{Event, EventPoint, Recording};
use super::launch::Launch;
use super::operation::Operation;
use super::programmatic::{Early, GridPoints, OpenGrid, Signals};
use super::semaphore;
use crate::check::stream_order::{Class, Clock, Touched};
use crate::context::Context;
use crate::error::{Result, code};
use crate::memory::graph_memory::StreamIdentity;
use crate::memory::pool::{self, Pool};
use crate::order_check;
use crate::registry::{ContextBound, Registry};
use crate::settings;
use crate::sync::lock;
use crate::work::{self, CompletionPoint, QueueRole, Room, Work, WorkQueue};
use warpsmith_abi::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUstream_flags};

/// All streams that the program has created.
pub(crate) static STREAMS: Registry<Stream> = Registry::new();

/// A stream.
pub(crate) struct Stream {
    pub(crate) handle: usize,
    context: Weak<Context>,
    pub(crate) context_id: u64,
    queue: Arc<WorkQueue>,
    role: QueueRole,
    pub(crate) flags: u32,
    attributes: Mutex<StreamAttributes>,
    /// The last item of the queue, if it is a grid that others may begin before the end of.
    last_grid: Mutex<Option<OpenGrid>>,
    /// Its part in captures.
    pub(crate) capture: Arc<CaptureSlot>,
}

impl ContextBound for Stream {
    fn context(&self) -> u64 {
        self.context_id
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // The legacy queue is the context's.
        if !self.is_legacy() {
            self.queue.retire();
        }
    }
}

impl Stream {
    /// A stream with a queue of its own, or the legacy default stream with the context's legacy queue.
    pub(crate) fn new(handle: usize, context: &Arc<Context>, flags: u32, priority: i32) -> Self {
        let role = if handle == CU_STREAM_LEGACY as usize {
            QueueRole::Legacy
        } else if flags & CUstream_flags::CU_STREAM_NON_BLOCKING.0 == 0 {
            QueueRole::Blocking
        } else {
            QueueRole::NonBlocking
        };
        let is_blocking = role != QueueRole::NonBlocking;
        let queue = context.queues.add(role);
        queue.set_label(|| {
            if role == QueueRole::Legacy {
                "the legacy default stream".into()
            } else if handle == CU_STREAM_PER_THREAD as usize {
                "a thread's default stream".into()
            } else {
                format!("stream {handle:#x}").into()
            }
        });
        Self {
            handle,
            context: Arc::downgrade(context),
            context_id: context.id(),
            queue,
            role,
            flags,
            attributes: Mutex::new(StreamAttributes::new(priority)),
            last_grid: Mutex::default(),
            capture: CaptureSlot::new(context.id(), role == QueueRole::Legacy, is_blocking),
        }
    }

    /// The stream's context, if it is fit for use.
    pub(crate) fn context(&self) -> Result<Arc<Context>> {
        let context = self.context.upgrade().ok_or(code::CONTEXT_IS_DESTROYED)?;
        context.check()?;
        Ok(context)
    }

    /// What tells it from other streams, for the physical memory of graphs.
    pub(crate) fn identity(&self) -> StreamIdentity {
        (self.context_id, self.handle)
    }

    /// Whether the context still exists.
    pub(super) fn has_context(&self) -> bool {
        self.context.strong_count() > 0
    }

    pub(crate) fn attributes(&self) -> StreamAttributes {
        *lock(&self.attributes)
    }

    /// Sets an attribute for the launches that follow.
    pub(crate) fn set_attribute(&self, attribute: Attribute) -> Result {
        let device = self.context()?.device;
        lock(&self.attributes).set(attribute, device)
    }

    /// Takes all attributes over from another stream.
    pub(crate) fn copy_attributes(&self, from: &Stream) {
        let attributes = from.attributes();
        *lock(&self.attributes) = attributes;
    }

    /// Whether this is the legacy default stream.
    pub(crate) fn is_legacy(&self) -> bool {
        self.role == QueueRole::Legacy
    }

    /// Executes an operation in the stream's order; `context` is the stream's. Where the stream may be captured, `graph::perform` is to be called instead.
    pub(crate) fn enqueue(
        &self,
        context: &Arc<Context>,
        operation: Operation,
    ) -> Result<CompletionPoint> {
        self.capture.refuse_implicit_dependency()?;
        let room = self.room();
        let operation = operation.issued();
        let signals = matches!(operation, Operation::SemaphoreSignal(_));
        let after = match &operation {
            Operation::SemaphoreWait(_) => vec![CompletionPoint::reached(semaphore::signalled())],
            _ => Vec::new(),
        };
        let worker = Arc::clone(context);
        let work = Box::new(move || worker.execute(|| operation.execute(&worker)));
        let point = self.submit(context, room, after, work);
        if signals {
            semaphore::note_signal(&point);
        }
        Ok(point)
    }

    /// Executes an operation in the stream's order, after all that was submitted to these contexts, and before what is submitted to them
    /// later.
    pub(crate) fn enqueue_among(
        &self,
        others: &[Option<Arc<Context>>],
        operation: Operation,
    ) -> Result<CompletionPoint> {
        let context = self.context()?;
        let room = self.room();
        let others: Vec<_> = others.iter().flatten().chain([&context]).collect();
        let after = others.iter().flat_map(|other| other.queues.all_ends());
        let after = after.collect();
        let worker = Arc::clone(&context);
        let work = Box::new(move || worker.execute(|| operation.execute(&worker)));
        let point = self.submit(&context, room, after, work);
        others
            .iter()
            .for_each(|other| other.queues.hold_back(&point));
        Ok(point)
    }

    /// Launches a kernel in the stream's order, or, where it may and can, as soon as the grid before it allows; `context` is the stream's.
    pub(crate) fn launch(
        &self,
        context: &Arc<Context>,
        launch: Launch,
        signals: &Signals,
    ) -> Result {
        self.capture.refuse_implicit_dependency()?;
        let room = self.room();
        let mut last = lock(&self.last_grid);
        let before = last
            .take()
            // Where the legacy stream is waited for, it is simpler to wait for everything.
            .filter(|_| signals.early && self.role == QueueRole::NonBlocking);
        let points = GridPoints::new(&launch, signals);
        let (point, own) = match before {
            Some(before) => self.launch_early(context, launch, &points, &before, room),
            None => self.launch_in_order(context, launch, &points, room),
        };
        points.promise(&point.place(own));
        *last = points.open_grid(&point, own);
        drop(last);
        signals.record(&points, &point);
        if settings::get().launch_blocking {
            point.wait();
            context.check()?;
        }
        Ok(())
    }

    fn launch_in_order(
        &self,
        context: &Arc<Context>,
        launch: Launch,
        points: &GridPoints,
        room: Room,
    ) -> (CompletionPoint, u64) {
        let work = launch.into_work(context, points, None);
        let point = self.submit(context, room, Vec::new(), work);
        let own = point.item() - 1;
        (point, own)
    }

    /// Lets a grid begin when all blocks of the one before have signalled. Only the grid before is overtaken, and only if nothing else
    /// was submitted since.
    fn launch_early(
        &self,
        context: &Arc<Context>,
        launch: Launch,
        points: &GridPoints,
        before: &OpenGrid,
        room: Room,
    ) -> (CompletionPoint, u64) {
        let done = CompletionPoint::pending();
        // The queue's item stands for the grid, which runs on a thread of its own.
        let item: Work = Box::new(|| ());
        let after = vec![done.clone()];
        let Some(point) = self.queue.submit_directly_after(&before.end, after, item) else {
            return self.launch_in_order(context, launch, points, room);
        };
        let early = Early {
            prerequisite: before.end.clone(),
            place: point.place(before.own),
        };
        let work = launch.into_work(context, points, Some(early));
        let place = point.place(point.item() - 1);
        let signalled = before.signalled.clone();
        let run = move || {
            signalled.block();
            work::at_place(Some(place), work);
            done.complete();
        };
        std::thread::Builder::new()
            .name("warpsmith early grid".to_owned())
            .spawn(run)
            .expect("the system refuses a thread for a grid");
        (point, before.own)
    }

    /// Executes an operation in the stream's order and waits for it.
    pub(crate) fn execute_and_wait(&self, operation: Operation) -> Result {
        let context = self.context()?;
        self.capture.refuse_synchronisation()?;
        let worker = Arc::clone(&context);
        let work = Box::new(move || worker.execute(|| operation.execute(&worker)));
        context.queues.run(&self.queue, self.role, work);
        context.check()
    }

    /// Waits until the stream's queue has room. To be called with nothing locked: see [`crate::work::WorkQueue`].
    pub(crate) fn room(&self) -> Room {
        self.queue.room()
    }

    /// Puts any work into the stream's queue, after further points. The work itself looks at the context's sticky error.
    pub(crate) fn submit(
        &self,
        context: &Context,
        room: Room,
        after: Vec<CompletionPoint>,
        work: Work,
    ) -> CompletionPoint {
        context
            .queues
            .submit(&self.queue, self.role, room, after, work)
    }

    /// Records an event here. The time is taken even in a context with a sticky error, so that waits end.
    pub(crate) fn record(&self, event: &Event) -> Result {
        let context = self.context()?;
        let time: Arc<OnceLock<Instant>> = Arc::default();
        let clock = Arc::clone(&time);
        let room = self.room();
        let shared = event.begin_shared();
        let work = Box::new(move || {
            let _ = clock.set(Instant::now());
            drop(shared);
        });
        let point = self.submit(&context, room, Vec::new(), work);
        event.record(Recording::Recorded(EventPoint::reached_at(point, time)));
        Ok(())
    }

    /// The point after all that was submitted here.
    pub(crate) fn end(&self) -> CompletionPoint {
        self.queue.end()
    }

    /// Memory was allocated in the stream's order: a piece of work for those who look at that order, and for other processes that see the
    /// pool.
    pub(crate) fn note_allocation(&self, pool: &Pool, address: usize, bytes: usize) -> Result {
        if !order_check::is_on() && !pool.is_shared() {
            return Ok(());
        }
        let pool = pool.is_shared().then_some(pool.handle as u64);
        let context = self.context()?;
        let worker = Arc::clone(&context);
        let work = Box::new(move || {
            if let Some(pool) = pool.and_then(pool::of_allocation) {
                pool.make(address);
            }
            if let Some(piece) = order_check::begin(&worker, || "cuMemAllocAsync".to_owned()) {
                piece.end(Touched::range(
                    Class::Allocate,
                    address as u64,
                    bytes as u64,
                ));
            }
        });
        self.submit(&context, self.room(), Vec::new(), work);
        Ok(())
    }

    /// What reports call it.
    pub(crate) fn label(&self) -> Arc<str> {
        self.queue.label()
    }

    /// Lets later work wait for a point.
    pub(crate) fn wait_for(&self, point: CompletionPoint) -> Result {
        let context = self.context()?;
        self.submit(&context, self.room(), vec![point], Box::new(|| ()));
        Ok(())
    }

    /// Lets later work wait for what an event was last recorded as.
    pub(crate) fn wait_for_recording(&self, recording: Recording) -> Result {
        match recording.clone() {
            Recording::Recorded(recorded) => self.wait_for(recorded.point),
            Recording::Shared(point) => {
                let context = self.context()?;
                let waiter = Arc::clone(&context);
                let mut known = Clock::new();
                recording.enter(&mut known);
                let work = Box::new(move || point.wait(|| waiter.is_ending()));
                self.submit(
                    &context,
                    self.room(),
                    vec![CompletionPoint::reached(known)],
                    work,
                );
                Ok(())
            }
            Recording::Never | Recording::Captured(_) => Ok(()),
        }
    }

    /// Waits for everything submitted so far; for the legacy stream that includes all blocking streams.
    pub(crate) fn synchronize(&self) -> Result {
        let context = self.context()?;
        for point in context.queues.ends(&self.queue, self.role) {
            point.wait();
        }
        context.after_synchronisation()
    }

    /// Whether everything submitted so far is completed.
    pub(crate) fn query(&self) -> Result<bool> {
        let context = self.context()?;
        let ends = context.queues.ends(&self.queue, self.role);
        Ok(ends.iter().all(CompletionPoint::is_seen_reached))
    }
}

//! A stream: a queue, the context it belongs to, and its part in captures.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use super::capture::CaptureSlot;
use super::event::{Event, EventPoint, Recording};
use super::operation::Operation;
use crate::context::Context;
use crate::error::{Result, code};
use crate::memory::graph_memory::StreamIdentity;
use crate::registry::{ContextBound, Registry};
use crate::settings;
use crate::work::{CompletionPoint, QueueRole, Room, Work, WorkQueue};
use warpsmith_abi::{CU_STREAM_LEGACY, CUstream_flags};

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
    pub(crate) priority: i32,
    /// Its part in captures.
    pub(crate) capture: Arc<CaptureSlot>,
}

impl ContextBound for Stream {
    fn context(&self) -> u64 {
        self.context_id
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
        Self {
            handle,
            context: Arc::downgrade(context),
            context_id: context.id(),
            queue: context.queues.add(role),
            role,
            flags,
            priority,
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
        let kernel = matches!(operation, Operation::Kernel(_));
        let worker = Arc::clone(context);
        let work = Box::new(move || worker.execute(|| operation.execute(&worker)));
        let point = self.submit(context, self.room(), Vec::new(), work);
        if kernel && settings::get().launch_blocking {
            point.wait();
            context.check()?;
        }
        Ok(point)
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
        let work = Box::new(move || _ = clock.set(Instant::now()));
        let point = self.submit(&context, self.room(), Vec::new(), work);
        event.record(Recording::Recorded(EventPoint { point, time }));
        Ok(())
    }

    /// The point after all that was submitted here.
    pub(crate) fn end(&self) -> CompletionPoint {
        self.queue.end()
    }

    /// Lets later work wait for a point.
    pub(crate) fn wait_for(&self, point: CompletionPoint) -> Result {
        let context = self.context()?;
        self.submit(&context, self.room(), vec![point], Box::new(|| ()));
        Ok(())
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
        Ok(ends.iter().all(CompletionPoint::is_reached))
    }
}

//! Capture: what is enqueued in a stream becomes a graph instead of being run.
//!
//! The stream is borrowed exclusively for the capture, and so is every stream that takes part, so no other thread can enqueue
//! something by mistake. Uses of memory are recorded apart from those of work that runs: uses in different streams of the capture
//! get edges, and the graph keeps the memory.
//!
//! The driver's mode is "relaxed": what the other modes refuse (allocating elsewhere, asking events) is harmless here, since all calls
//! that could break a capture are refused before they reach the driver.

use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

use bytemuck::Pod;
use warpsmith_driver::raw;

use super::builder::GraphBuilder;
use super::capture_state::CaptureState;
use super::contents::{EventAction, RecordedHost, next_number};
use super::description::Graph;
use super::new_node::last_captured_node;
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Node, Result};
use crate::gpu::open_device::{check_same_device, put_in_one_order};
use crate::memory::DeviceBuffer;
use crate::order::access::Access;
use crate::order::capture::CaptureRecorder;
use crate::order::history::OrderedMemory;
use crate::stream::Stream;
use crate::stream::event::Event;
use crate::stream::host_function::run_repeated;
use crate::sync::lock;

/// A capture in progress. It dereferences to its stream: what is enqueued there becomes part of the graph.
pub struct Capture<'scope, 'env: 'scope> {
    origin: &'scope Stream,
    pub(super) state: Arc<CaptureState>,
    /// Invariant in both, as the scopes of `std::thread`.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl Stream {
    /// Records what the closure enqueues as a graph; nothing runs. The closure may hand the stream to code that knows nothing of
    /// captures. Buffers that are used are kept by the graph. What has to wait is refused and does no harm.
    ///
    /// - Memory that the captured streams allocate ([`zeroed`](Self::zeroed), [`upload`](Self::upload) and the rest) is the graph's, and each launch has it
    ///   anew: as for [`GraphBuilder::zeroed`]. It is for the rest of the capture and the nodes that are added to the graph later. It is freed where
    ///   [`Capture::free`] says so, else after its last use, and not when the buffer is dropped.
    /// - What is uploaded is copied now, and the graph keeps the copy.
    /// - A launch of an executable graph becomes a child graph ([`GraphExec::launch`](crate::GraphExec::launch)).
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let (mut stream, mut side) = (gpu.stream()?, gpu.stream()?);
    /// let (mut a, mut b) = (stream.zeroed::<u32>(4)?, stream.zeroed::<u32>(4)?);
    /// let graph = stream.capture(|capture| {
    ///     let side = capture.fork(&mut side)?;   // from here on beside each other
    ///     capture.fill(&mut a, 1)?;
    ///     side.fill(&mut b, 2)?;
    ///     capture.join(side)
    /// })?;
    /// assert_eq!(stream.download(&a)?, [0; 4]);  // nothing has run
    /// graph.instantiate()?.launch(&stream)?;
    /// assert_eq!(stream.download(&a)?, [1; 4]);
    /// assert_eq!(stream.download(&b)?, [2; 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The closure's; the driver's if the capture was broken. In either case the streams are usable again. The legacy default stream cannot be
    /// captured, nor a blocking stream as long as the legacy one is in use.
    // covers: GRAPH-24, GRAPH-29, GRAPH-30, GRAPH-31, GRAPH-38, GRAPH-X02, GRAPH-X03
    pub fn capture<'env, F>(&'env mut self, record: F) -> Result<Graph>
    where
        F: for<'scope> FnOnce(&'scope Capture<'scope, 'env>) -> Result<()>,
    {
        self.try_capture(record)
    }

    /// As [`capture`](Self::capture), of a closure with an error of the program's own. Where nothing else says which, the closure does:
    ///
    /// ```
    /// use std::error::Error;
    ///
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<(), Box<dyn Error>> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let mut stream = gpu.stream()?;
    /// let mut words = stream.zeroed::<u32>(4)?;
    /// let graph = stream.try_capture(|capture| -> Result<(), Box<dyn Error>> {
    ///     capture.fill(&mut words, "7".parse()?)?;   // the parser's error or the device's
    ///     Ok(())
    /// })?;
    /// # let _ = graph;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`capture`](Self::capture).
    pub fn try_capture<'env, F, E>(&'env mut self, record: F) -> Result<Graph, E>
    where
        F: for<'scope> FnOnce(&'scope Capture<'scope, 'env>) -> Result<(), E>,
        E: From<Error>,
    {
        let gpu = &self.gpu;
        gpu.bind()?;
        // A legacy default stream that was dropped and is idle counts no more.
        gpu.order().destroy_idle_streams();
        let state = Arc::new(CaptureState {
            gpu: gpu.clone(),
            number: next_number(),
            recorded: Mutex::default(),
        });
        {
            let guard = gpu.lock_order();
            gpu.order()
                .check_capture(&guard, "Stream::capture", &self.handle)?;
            self.handle.enter_capture(&guard, state.number)?;
            // SAFETY: `self` owns the stream, which is destroyed with it alone.
            let begun = unsafe {
                call!(cuStreamBeginCapture_v2(
                    self.handle.raw(),
                    raw::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
                ))
            };
            if begun.is_err() {
                self.handle.leave_capture(&guard);
                begun?;
            }
            gpu.order().add_capture(&guard, state.clone());
        }
        let result = {
            let capture = Capture {
                origin: self,
                state: state.clone(),
                scope: PhantomData,
                env: PhantomData,
            };
            catch_unwind(AssertUnwindSafe(|| record(&capture)))
        };
        let ended = self.end_capture(&state);
        match result {
            Err(panic) => {
                drop(ended);
                resume_unwind(panic)
            }
            Ok(Err(error)) => {
                drop(ended);
                Err(error)
            }
            Ok(Ok(())) => Ok(ended?),
        }
    }

    fn end_capture(&self, state: &Arc<CaptureState>) -> Result<Graph> {
        let gpu = &self.gpu;
        // Whatever fails from here on: the streams leave the capture.
        let bound = gpu.bind();
        let recorded = std::mem::take(&mut *lock(&state.recorded));
        let mut handle = std::ptr::null_mut();
        let ended = {
            let guard = gpu.lock_order();
            // What was forked and not joined is joined here: the graph is complete when all of it is.
            let joined = bound.and_then(|()| {
                recorded
                    .forks
                    .iter()
                    .try_for_each(|fork| self.handle.follow_captured(&guard, fork))
            });
            // SAFETY: the driver writes one handle to `handle`, which outlives the call; `self` owns the stream.
            let ended = unsafe { call!(cuStreamEndCapture(self.handle.raw(), &mut handle)) };
            for stream in recorded.forks.iter().chain([&self.handle]) {
                stream.leave_capture(&guard);
            }
            for gpu in recorded.contents.devices_besides(gpu).chain([gpu]) {
                gpu.order().remove_capture(&guard, state.number);
            }
            ended.and(joined)
        };
        if handle.is_null() {
            ended?;
            return Err(driver_call::failed(
                "cuStreamEndCapture",
                Code::STREAM_CAPTURE_INVALIDATED,
            ));
        }
        let mut graph = Graph::own(GraphBuilder::numbered(gpu, handle, state.number));
        ended?;
        graph.broken = recorded.broken;
        graph.follow_captured_nodes(recorded.contents)?;
        Ok(graph)
    }
}

impl<'scope, 'env: 'scope> Capture<'scope, 'env> {
    /// The stream that is captured.
    pub fn stream(&self) -> &Stream {
        self.origin
    }

    /// Brings another stream into the capture: what is enqueued there from here on becomes part of the graph, after what the captured
    /// stream holds now and beside what it gets later. It stays in the capture until the end.
    ///
    /// It may be a stream of another device, on which what it is given runs. The graph is of the device on which the capture began.
    ///
    /// # Errors
    ///
    /// The stream is part of a capture already, or one that cannot be captured (see [`Stream::capture`]).
    pub fn fork(&'scope self, stream: &'scope mut Stream) -> Result<&'scope Stream> {
        let gpu = &stream.gpu;
        stream.handle.refuse_capture(
            "Capture::fork",
            "it is part of a capture already",
            "use it as it is, if it is this capture; else fork another stream",
        )?;
        let is_elsewhere = !Arc::ptr_eq(gpu, &self.origin.gpu);
        if is_elsewhere {
            put_in_one_order(gpu, &self.origin.gpu);
            // As for the first stream.
            gpu.order().destroy_idle_streams();
        }
        gpu.bind()?;
        let guard = gpu.lock_order();
        gpu.order()
            .check_capture(&guard, "Capture::fork", &stream.handle)?;
        stream.handle.enter_capture(&guard, self.state.number)?;
        {
            let recorded = &mut *lock(&self.state.recorded);
            recorded.forks.push(stream.handle.clone());
            if is_elsewhere {
                recorded.contents.add_device(gpu);
            }
            if gpu.order().capture_of(&guard, &stream.handle).is_none() {
                gpu.order().add_capture(&guard, self.state.clone());
            }
        }
        stream.handle.follow_captured(&guard, &self.origin.handle)?;
        Ok(stream)
    }

    /// Lets the captured stream wait for what the forked one holds now. What is never joined is joined at the end.
    ///
    /// # Errors
    ///
    /// The stream is not part of this capture.
    pub fn join(&self, stream: &Stream) -> Result<()> {
        self.check_member("Capture::join", stream)?;
        let gpu = &self.origin.gpu;
        gpu.bind()?;
        let guard = gpu.lock_order();
        self.origin.handle.follow_captured(&guard, &stream.handle)
    }

    /// Adds a call of a function on the host, at each launch of the graph, to a stream of the capture: [`GraphBuilder::host`].
    ///
    /// # Errors
    ///
    /// The stream is not part of this capture.
    // covers: GRAPH-05, GRAPH-37
    pub fn host(&self, stream: &Stream, function: impl Fn() + Send + Sync + 'static) -> Result<()> {
        self.check_member("Capture::host", stream)?;
        let gpu = &self.origin.gpu;
        gpu.bind()?;
        let _guard = gpu.lock_order();
        // SAFETY: `stream` is captured, so nothing is called: the node gets the pointer that `run_repeated` asks for when the graph is made ready.
        unsafe {
            call!(cuLaunchHostFunc(
                stream.handle.raw(),
                Some(run_repeated),
                std::ptr::null_mut()
            ))
        }?;
        let node = last_captured_node(stream.handle.stream_ref())?;
        lock(&self.state.recorded)
            .contents
            .host_functions
            .push(RecordedHost {
                node: Node::new(node, self.state.number),
                function: Arc::new(function),
            });
        Ok(())
    }

    /// Adds a node that records an event at each launch of the graph to a stream of the capture: [`GraphBuilder::record`]. After what
    /// [`Stream::record`] records, an event stands for a node, and only streams of the capture can wait for it; here it stands for work.
    ///
    /// # Errors
    ///
    /// The stream is not part of this capture, or the event is of another device than the stream.
    // covers: GRAPH-09, GRAPH-36
    pub fn record_external(&self, stream: &Stream, event: &Event) -> Result<()> {
        const CALL: &str = "cuEventRecordWithFlags";
        /// `CU_EVENT_RECORD_EXTERNAL`
        const EXTERNAL: u32 = 1;
        self.check_member(CALL, stream)?;
        let gpu = &stream.gpu;
        check_same_device(CALL, ("the event", event.gpu()), ("the stream", gpu))?;
        gpu.bind()?;
        let _guard = gpu.lock_order();
        // SAFETY: `stream` owns the stream, which is captured; the contents keep the event.
        unsafe {
            call!(cuEventRecordWithFlags(
                event.raw(),
                stream.handle.raw(),
                EXTERNAL
            ))
        }?;
        lock(&self.state.recorded)
            .contents
            .add_event(event, EventAction::Record);
        Ok(())
    }

    /// Adds a node that waits for an event at each launch of the graph to a stream of the capture: [`GraphBuilder::wait`].
    ///
    /// # Errors
    ///
    /// The stream is not part of this capture, or the event stands for a node of a capture.
    // covers: GRAPH-09, GRAPH-36
    pub fn wait_external(&self, stream: &Stream, event: &Event) -> Result<()> {
        const CALL: &str = "cuStreamWaitEvent";
        /// `CU_EVENT_WAIT_EXTERNAL`
        const EXTERNAL: u32 = 1;
        self.check_member(CALL, stream)?;
        let gpu = &stream.gpu;
        if !Arc::ptr_eq(&self.origin.gpu, event.gpu()) {
            put_in_one_order(&self.origin.gpu, event.gpu());
        }
        gpu.bind()?;
        let _guard = gpu.lock_order();
        event.refuse_captured(CALL)?;
        // SAFETY: `stream` owns the stream, which is captured; the contents keep the event.
        unsafe {
            call!(cuStreamWaitEvent(
                stream.handle.raw(),
                event.raw(),
                EXTERNAL
            ))
        }?;
        lock(&self.state.recorded)
            .contents
            .add_event(event, EventAction::Wait);
        Ok(())
    }

    /// Frees memory that the capture has allocated, in the order of a stream of the capture and after all that uses it so far, so that later allocations may
    /// have its place. What is never freed is freed at the end of each launch. An empty buffer has no memory: nothing happens.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let mut stream = gpu.stream()?;
    /// let mut result = stream.zeroed::<u32>(4)?;
    /// let graph = stream.capture(|capture| {
    ///     let scratch = capture.upload(&[1, 2, 3, 4])?;
    ///     capture.copy(&scratch, &mut result)?;
    ///     capture.free(capture.stream(), scratch)
    /// })?;
    /// graph.instantiate()?.launch(&stream)?;
    /// assert_eq!(stream.download(&result)?, [1, 2, 3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The stream is not part of this capture, or the buffer is not memory of it.
    // covers: GMEM-06, GMEM-17
    pub fn free<T: Pod>(&self, stream: &Stream, buffer: DeviceBuffer<T>) -> Result<()> {
        const CALL: &str = "cuMemFreeAsync";
        self.check_member("Capture::free", stream)?;
        let Some(allocation) = buffer.into_allocation() else {
            return Ok(());
        };
        let Some(memory) = allocation.graph_memory() else {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "the memory is not the capture's: it was allocated outside",
                "drop the buffer: the graph keeps the memory as long as it needs it",
            ));
        };
        let gpu = &self.origin.gpu;
        gpu.bind()?;
        let guard = gpu.lock_order();
        memory.check_node_of(self.state.number)?;
        self.state.order_use(
            &guard,
            allocation.clone(),
            &stream.handle,
            Access::EVERYTHING,
        )?;
        // SAFETY: the address is that of an allocation of this capture, which nothing has freed yet; what uses it comes before, by the line above.
        unsafe { call!(cuMemFreeAsync(memory.address, stream.handle.raw())) }?;
        memory.set_freed();
        Ok(())
    }

    /// # Errors
    ///
    /// The stream is not part of this capture.
    pub(super) fn check_member(&self, call: &'static str, stream: &Stream) -> Result<()> {
        if stream.handle.capture_number() != Some(self.state.number) {
            return Err(Error::misuse(
                call,
                Code::STREAM_CAPTURE_UNMATCHED,
                "the stream is not part of this capture",
                "bring it in by `fork` first",
            ));
        }
        Ok(())
    }
}

impl Deref for Capture<'_, '_> {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        self.origin
    }
}

//! Capture: what is enqueued in a stream becomes a graph instead of being run.
//!
//! The stream is borrowed exclusively for the capture, and so is every stream that takes part, so no other thread can enqueue
//! something by chance. Memory is followed in a book of its own, because nothing runs: uses in different streams of the capture get
//! edges, and the graph keeps the memory.
//!
//! The driver's mode is "relaxed": what the other modes refuse (allocating elsewhere, asking events) is harmless here, since all calls
//! that could break a capture are refused before they reach the driver.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use super::builder::GraphBuilder;
use super::{Contents, Graph, next_number};
use crate::context::{GpuInner, lock};
use crate::driver_call::{self, call};
use crate::error::{Code, Error, Result};
use crate::launch::Grid;
use crate::launch::kernel::KernelInner;
use crate::memory::allocation::Allocation;
use crate::order::uses::{Access, Entries};
use crate::stream::{Stream, StreamInner};
use warpsmith_driver::raw;

/// A capture under way. It is also its stream: what is enqueued goes into the graph.
pub struct Capture<'scope, 'env: 'scope> {
    origin: &'scope Stream,
    state: Arc<CaptureState>,
    /// Invariant in both, as the scopes of `std::thread`.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// What all streams of a capture share.
pub(crate) struct CaptureState {
    pub(crate) number: u64,
    recorded: Mutex<Recorded>,
}

#[derive(Default)]
struct Recorded {
    /// By the allocation's address; the contents keep the allocations, so no address is used twice.
    uses: HashMap<u64, Entries<Arc<StreamInner>>>,
    contents: Contents,
    /// The streams besides the first.
    forks: Vec<Arc<StreamInner>>,
}

impl CaptureState {
    /// Puts a use in order within the capture. The caller holds the order lock.
    pub(crate) fn order(
        &self,
        allocation: &Arc<Allocation>,
        stream: &Arc<StreamInner>,
        access: Access,
    ) -> Result<()> {
        let mut recorded = lock(&self.recorded);
        let entries = recorded.uses.entry(allocation.base).or_default();
        for other in entries.before(stream, &access) {
            stream.follow_captured(&other)?;
        }
        entries.add(stream, access);
        recorded.contents.uses(allocation, access);
        allocation.join_graph();
        Ok(())
    }

    /// Keeps a kernel for the graph.
    pub(crate) fn keep(&self, kernel: &Arc<KernelInner>, grid: Grid) {
        lock(&self.recorded)
            .contents
            .kernels
            .push((kernel.clone(), grid));
    }
}

impl Stream {
    /// Records what the closure enqueues as a graph; nothing runs. The closure may hand the stream to code that knows nothing of
    /// captures. Buffers that are used are kept by the graph. What has to wait or to allocate is refused and does no harm.
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
    /// The closure's; the driver's if the capture was broken. In either case the streams are usable again.
    // covers: GRAPH-24, GRAPH-29, GRAPH-30, GRAPH-31, GRAPH-38, GRAPH-X02, GRAPH-X03
    pub fn capture<'env, F>(&'env mut self, record: F) -> Result<Graph>
    where
        F: for<'scope> FnOnce(&'scope Capture<'scope, 'env>) -> Result<()>,
    {
        let gpu = &self.inner.gpu;
        gpu.bind()?;
        let state = Arc::new(CaptureState {
            number: next_number(),
            recorded: Mutex::default(),
        });
        {
            let _order = gpu.order();
            self.inner.enter_capture(&state)?;
            // SAFETY: the stream is alive.
            let begun = unsafe {
                call!(cuStreamBeginCapture_v2(
                    self.inner.raw,
                    raw::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
                ))
            };
            if begun.is_err() {
                self.inner.leave_capture();
                begun?;
            }
            gpu.captures.fetch_add(1, Ordering::AcqRel);
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
            Ok(Ok(())) => ended,
        }
    }

    fn end_capture(&self, state: &Arc<CaptureState>) -> Result<Graph> {
        let gpu: &Arc<GpuInner> = &self.inner.gpu;
        gpu.bind()?;
        let recorded = std::mem::take(&mut *lock(&state.recorded));
        let mut handle = std::ptr::null_mut();
        let ended = {
            let _order = gpu.order();
            // What was forked and not joined is joined here: the graph is complete when all of it is.
            let joined: Result<()> = recorded
                .forks
                .iter()
                .try_for_each(|fork| self.inner.follow_captured(fork));
            // SAFETY: the result outlives the call; the stream is alive.
            let ended = unsafe { call!(cuStreamEndCapture(self.inner.raw, &mut handle)) };
            for stream in recorded.forks.iter().chain([&self.inner]) {
                stream.leave_capture();
            }
            gpu.captures.fetch_sub(1, Ordering::AcqRel);
            ended.and(joined)
        };
        if handle.is_null() {
            ended?;
            return Err(driver_call::failed(
                "cuStreamEndCapture",
                Code::STREAM_CAPTURE_INVALIDATED,
            ));
        }
        let mut graph = Graph::own(GraphBuilder::new(gpu, handle));
        ended?;
        graph.follow_captured_nodes(recorded.contents)?;
        Ok(graph)
    }
}

impl<'scope, 'env: 'scope> Capture<'scope, 'env> {
    /// The stream that is captured.
    pub fn stream(&self) -> &Stream {
        self.origin
    }

    /// Brings another stream into the capture: what is enqueued there from here on goes into the graph, after what the captured
    /// stream holds now and beside what it gets later. It stays in the capture until the end.
    ///
    /// # Errors
    ///
    /// The stream is part of a capture already, or of another device.
    pub fn fork(&'scope self, stream: &'scope mut Stream) -> Result<&'scope Stream> {
        let gpu = &self.origin.inner.gpu;
        super::check_same("cuStreamWaitEvent", gpu, &stream.inner.gpu)?;
        stream.inner.refuse_capture("Capture::fork")?;
        gpu.bind()?;
        let _order = gpu.order();
        stream.inner.enter_capture(&self.state)?;
        lock(&self.state.recorded).forks.push(stream.inner.clone());
        stream.inner.follow_captured(&self.origin.inner)?;
        Ok(stream)
    }

    /// Lets the captured stream wait for what the forked one holds now. What is never joined is joined at the end.
    ///
    /// # Errors
    ///
    /// The stream is not part of this capture.
    pub fn join(&self, stream: &Stream) -> Result<()> {
        let mine = stream
            .inner
            .capture()
            .is_some_and(|capture| Arc::ptr_eq(&capture, &self.state));
        if !mine {
            return Err(Error::misuse(
                "Capture::join",
                Code::STREAM_CAPTURE_UNMATCHED,
                "the stream is not part of this capture",
                "bring it in by `fork` first",
            ));
        }
        let gpu = &self.origin.inner.gpu;
        gpu.bind()?;
        let _order = gpu.order();
        self.origin.inner.follow_captured(&stream.inner)
    }
}

impl Deref for Capture<'_, '_> {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        self.origin
    }
}

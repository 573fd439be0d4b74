//! The completion of a stream or of an event as a future, for any executor.
//!
//! The driver calls back when the stream gets there, on a thread of its own, and that wakes the task: nothing polls. Other than a host
//! function, a callback is called after a fault, too, so every future ends. There are none for events: a stream waits for the event, and calls back.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use warpsmith_driver::raw;

use super::Stream;
use super::event::Event;
use crate::driver_call::callback::{Running, drop_payload};
use crate::driver_call::{self, call};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::gpu::open_device::OpenDevice;
use crate::order::stream_handle::StreamHandle;
use crate::panics::timeline::Reach;
use crate::sync::lock;

/// The moment when everything that a stream held, or what an event was recorded after, is done: see [`Stream::completion`] and
/// [`Event::completion`].
///
/// Dropping it waits for nothing and takes nothing back.
#[must_use = "a future does nothing until it is awaited"]
pub struct Completion<'a> {
    gpu: Arc<OpenDevice>,
    stream: Arc<StreamHandle>,
    signal: Arc<Signal>,
    reach: Reach,
    of: PhantomData<&'a Stream>,
}

/// What the driver's callback and the future share.
#[derive(Default)]
struct Signal(Mutex<State>);

#[derive(Default)]
struct State {
    /// What the driver said when the stream got there.
    status: Option<raw::CUresult>,
    waker: Option<Waker>,
}

impl Stream {
    /// A future that is ready when everything that is in this stream now is done. The task sleeps meanwhile, on any executor; what the
    /// stream gets later is not waited for.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// async fn sum(stream: &Stream, words: &[u32]) -> Result<u64> {
    ///     let buffer = stream.upload(words)?;
    ///     let mut doubled = stream.zeroed::<u32>(words.len())?;
    ///     stream.copy(&buffer, &mut doubled)?;
    ///     stream.completion()?.await?;                    // other tasks run meanwhile
    ///     let words = stream.download(&doubled)?;         // no wait is left
    ///     Ok(words.into_iter().map(u64::from).sum())
    /// }
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// # let stream = gpu.stream()?;
    /// # let mut future = std::pin::pin!(sum(&stream, &[1, 2, 3]));
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # let answer = loop {
    /// #     if let std::task::Poll::Ready(answer) = future.as_mut().poll(&mut context) { break answer; }
    /// #     std::thread::yield_now();
    /// # };
    /// # assert_eq!(answer?, 6);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The future's error is what [`synchronize`](Self::synchronize) would answer.
    ///
    /// A driver may call back for all streams on one thread, on which it also calls functions of the host ([`host_fn`](Self::host_fn)): one that waits
    /// for something holds the future up.
    ///
    /// # Errors
    ///
    /// The stream is being captured, or something went wrong on the device before.
    pub fn completion(&self) -> Result<Completion<'_>> {
        self.completion_of_now()
    }

    /// As [`completion`](Self::completion). What the future needs of the stream, it has a share of.
    fn completion_of_now(&self) -> Result<Completion<'static>> {
        self.handle.refuse_capture(
            "cuStreamAddCallback",
            "nothing runs that could be awaited",
            "await the stream after launching the graph in it",
        )?;
        self.gpu.bind()?;
        let signal = Arc::<Signal>::default();
        let reach = self.handle.timeline().end();
        let data = Arc::into_raw(signal.clone());
        // SAFETY: `self` owns the stream; `data` is what `arrived` asks for, and the driver calls it at most once.
        let added = unsafe {
            call!(cuStreamAddCallback(
                self.handle.raw(),
                Some(arrived),
                data.cast_mut().cast(),
                0
            ))
        };
        if let Err(error) = added {
            // SAFETY: `data` comes from `Arc::into_raw` above; the driver refused the callback and never calls it.
            drop(unsafe { Arc::from_raw(data) });
            return Err(error);
        }
        Ok(Completion {
            gpu: self.gpu.clone(),
            stream: self.handle.clone(),
            signal,
            reach,
            of: PhantomData,
        })
    }
}

impl Event {
    /// A future that is ready when everything before the recorded position is done, at once for an event that was never recorded. What the
    /// stream gets after the recording is not waited for, nor is a later recording.
    ///
    /// The driver tells of streams alone, so this makes a stream that waits for the event, for as long as that takes;
    /// [`Stream::completion`] costs less where the event would be recorded for the future only.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// async fn first_half(stream: &Stream, words: &mut DeviceBuffer<u32>) -> Result<()> {
    ///     let middle = words.len() / 2;
    ///     stream.fill(&mut words.slice_mut(..middle), 1)?;
    ///     let done = stream.record_event()?;
    ///     stream.fill(&mut words.slice_mut(middle..), 2)?;
    ///     done.completion()?.await                         // the second fill may still run
    /// }
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// # let stream = gpu.stream()?;
    /// # let mut words = stream.zeroed(8)?;
    /// # let mut future = std::pin::pin!(first_half(&stream, &mut words));
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # loop {
    /// #     if let std::task::Poll::Ready(answer) = future.as_mut().poll(&mut context) { return answer; }
    /// #     std::thread::yield_now();
    /// # }
    /// # }
    /// ```
    ///
    /// The future's error is what [`synchronize`](Self::synchronize) would answer.
    ///
    /// # Errors
    ///
    /// The event was recorded in a stream that was being captured, or something went wrong on the device before.
    pub fn completion(&self) -> Result<Completion<'static>> {
        self.refuse_captured("Event::completion")?;
        let waiting = Gpu::from(self.gpu()).stream()?;
        waiting.wait(self)?;
        waiting.completion_of_now()
    }
}

/// # Safety
///
/// `data` comes from `Arc::into_raw` of a [`Signal`], and this takes that share over.
unsafe extern "C" fn arrived(
    _stream: raw::CUstream,
    status: raw::CUresult,
    data: *mut core::ffi::c_void,
) {
    // SAFETY: the argument is what this function was registered with: its condition.
    let signal = unsafe { Arc::from_raw(data.cast_const().cast::<Signal>()) };
    let waker = {
        let mut state = lock(&signal.0);
        state.status = Some(status);
        state.waker.take()
    };
    // An executor's code, on a thread that may not call the driver: what it drops is freed later, and its panics stay here.
    let running = Running::enter();
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.map(Waker::wake))) {
        drop_payload(payload);
    }
    drop(running);
}

impl Future for Completion<'_> {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let status = {
            let mut state = lock(&self.signal.0);
            match state.status {
                Some(status) => status,
                None => {
                    let known = state.waker.as_ref();
                    if known.is_none_or(|waker| !waker.will_wake(context.waker())) {
                        state.waker = Some(context.waker().clone());
                    }
                    return Poll::Pending;
                }
            }
        };
        const CALL: &str = "cuStreamAddCallback";
        let bound = self.gpu.bind();
        let done = bound.and_then(|()| driver_call::check(CALL, status));
        Poll::Ready(self.gpu.after_wait(CALL, &self.reach, done))
    }
}

impl std::fmt::Debug for Completion<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let done = lock(&self.signal.0).status.is_some();
        write!(f, "Completion({:?}, done: {done})", self.stream)
    }
}

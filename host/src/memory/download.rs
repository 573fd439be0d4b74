//! Downloads that a task awaits.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytemuck::Pod;

use super::pinned::PinnedBuffer;
use super::pinned_slice::PinnedWrite;
use super::view::{DeviceRead, RawView};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::stream::Stream;
use crate::stream::completion::Completion;

const CALL: &str = "cuMemcpyDtoHAsync";

/// The contents of device memory, when they are on the host: see [`Stream::download_async`].
///
/// Dropping it waits for nothing; the copy is done all the same, to memory that is given back afterwards.
#[must_use = "a future does nothing until it is awaited"]
pub struct Download<'a, T: Pod> {
    from: RawView<'a>,
    /// Where the copy goes, which the host cannot reach before it is done.
    arrived: PinnedBuffer<T>,
    completion: Completion<'a>,
}

impl Stream {
    /// As [`download`](Self::download), as a future: the copy is enqueued now, and the task sleeps until it is done, on any executor. What the
    /// stream gets later is not waited for.
    ///
    /// The copy goes to page-locked memory, as one to other memory would block the calling thread, and from there to the `Vec`. That memory is
    /// allocated, unless some of the same length was given back before. Where this or the second copy matters,
    /// [`download_into_async`](Self::download_into_async) does without.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// async fn sum(stream: &Stream, words: &[u32]) -> Result<u64> {
    ///     let buffer = stream.upload(words)?;
    ///     let words = stream.download_async(&buffer)?.await?;  // other tasks run meanwhile
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
    /// The future's error is that of [`download`](Self::download).
    ///
    /// # Errors
    ///
    /// The stream is being captured, or there is no page-locked memory left.
    pub fn download_async<'a, S>(&'a self, from: &'a S) -> Result<Download<'a, S::Item>>
    where
        S: DeviceRead + ?Sized,
    {
        self.refuse_captured_download()?;
        let from_view = from.raw_view();
        let mut arrived = Gpu::from(&self.gpu).pinned(from_view.len)?;
        Ok(Download {
            completion: self.download_into_async(from, &mut arrived)?,
            from: from_view,
            arrived,
        })
    }

    /// As [`copy_to_host`](Self::copy_to_host), with a future that is ready when the data has arrived and the host gets at it again.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// async fn sum(stream: &Stream, buffer: &DeviceBuffer<u32>, here: &mut PinnedBuffer<u32>) -> Result<u32> {
    ///     stream.download_into_async(buffer, here)?.await?;
    ///     Ok(here.host()?.iter().sum())
    /// }
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// # let stream = gpu.stream()?;
    /// # let (buffer, mut here) = (stream.upload(&[1, 2, 3])?, gpu.pinned(3)?);
    /// # let mut future = std::pin::pin!(sum(&stream, &buffer, &mut here));
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
    /// # Errors
    ///
    /// The stream is being captured, or the lengths differ.
    pub fn download_into_async<S, D>(&self, from: &S, to: &mut D) -> Result<Completion<'_>>
    where
        S: DeviceRead + ?Sized,
        D: PinnedWrite<Item = S::Item> + ?Sized,
    {
        self.refuse_captured_download()?;
        self.copy_to_host(from, to)?;
        self.completion()
    }

    fn refuse_captured_download(&self) -> Result<()> {
        self.handle.refuse_capture(
            CALL,
            "nothing runs that could be awaited",
            "copy to page-locked memory (`copy_to_host`), which each launch writes, and await the stream after launching the graph",
        )
    }
}

impl<T: Pod> Future for Download<'_, T> {
    type Output = Result<Vec<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Vec<T>>> {
        let done = ready!(Pin::new(&mut self.completion).poll(context));
        // After the wait, which may have ended because the work was given up that wrote what was copied.
        let finished = done.and_then(|()| self.from.check_finished(CALL));
        Poll::Ready(finished.and_then(|()| Ok(self.arrived.host()?.to_vec())))
    }
}

impl<T: Pod> std::fmt::Debug for Download<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Download")
            .field("arrived", &self.arrived)
            .field("completion", &self.completion)
            .finish()
    }
}

//! Work that another library enqueues in streams of this crate, put in order with all other uses of the memory it touches.

use std::any::Any;
use std::sync::Arc;

use bytemuck::Pod;
use smallvec::SmallVec;

use super::foreign_outcome::{ForeignOutcome, Noted, Revocable};
use super::foreign_trace::{begin_trace, end_trace};
use super::view::{DevicePointer, DeviceRead, DeviceWrite, RawView, ViewUse};
use crate::error::{Code, Error, Result};
use crate::gpu::open_device::OpenDevice;
use crate::order::access::AccessKind;
use crate::order::device_order::DeviceOrder;
use crate::order::order_lock::OrderGuard;
use crate::panics::write_mark::WriteMark;
use crate::stream::Stream;
use crate::trace::listeners;

/// Work of another library on one stream or several, also of several devices: what it reads and writes, and what it needs to be kept.
///
/// The work is enqueued by a closure, in front of which the streams are made to wait for all that conflicts with it, and behind which
/// whoever uses the memory waits for it. The borrows last until then, so safe code can name no memory twice where it is written.
///
/// Work in one stream, whose memory no other stream has used, costs what a launch costs beside the driver's call: some comparisons, and no
/// lock.
///
/// ```
/// use std::ffi::c_void;
/// use warpsmith_driver::raw;
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::ForeignWork;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let (one, two) = (gpu.stream()?, gpu.stream()?);
/// let mut numbers = one.upload(&[1_u8, 2, 3, 4])?;
/// let mut work = ForeignWork::new("a library's fill");
/// let memory = work.writes(&two, &mut numbers)?;
/// // SAFETY: the fill is enqueued in `two`, and writes the four bytes of `numbers` alone.
/// unsafe {
///     work.enqueue(|| {
///         let code = raw::cuMemsetD8Async(memory.pointer().address(), 7, memory.len(), two.as_raw().cast());
///         assert_eq!(code.0, 0);
///         Ok::<(), warpsmith_host::Error>(())
///     })
/// }?;
/// assert_eq!(one.download(&numbers)?, [7; 4]);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is put in order before `enqueue`"]
pub struct ForeignWork<'a> {
    call: &'static str,
    // Most work is a call with two buffers in one stream, which takes no memory of the heap.
    parts: SmallVec<[(&'a Stream, ViewUse<'a>); 2]>,
    /// Streams that work is enqueued in, with or without memory; no two neighbours are the same.
    streams: SmallVec<[&'a Stream; 1]>,
    kept: SmallVec<[&'a (dyn Shared + Sync); 1]>,
    /// The library makes the device current that it needs.
    sets_device: bool,
}

/// What a graph can be given a share of.
trait Shared {
    fn share(&self) -> Arc<dyn Any + Send + Sync>;
}

impl<T: Any + Send + Sync> Shared for Arc<T> {
    fn share(&self) -> Arc<dyn Any + Send + Sync> {
        self.clone()
    }
}

/// Where memory is that [`ForeignWork`] uses.
pub struct ForeignMemory<T> {
    pointer: DevicePointer<T>,
    len: usize,
}

impl<T> ForeignMemory<T> {
    #[inline(always)]
    pub(super) fn of(view: &RawView<'_>) -> ForeignMemory<T> {
        ForeignMemory {
            pointer: DevicePointer::from_address(view.address),
            len: view.len,
        }
    }

    /// The address on the device; 0 where there is no memory.
    #[inline]
    pub fn pointer(&self) -> DevicePointer<T> {
        self.pointer
    }

    /// Elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<'a> ForeignWork<'a> {
    /// No work yet; errors name it by `call`.
    #[inline]
    pub fn new(call: &'static str) -> ForeignWork<'a> {
        ForeignWork {
            call,
            parts: SmallVec::new(),
            streams: SmallVec::new(),
            kept: SmallVec::new(),
            sets_device: false,
        }
    }

    /// The work uses this stream, even if it touches no memory there.
    #[inline(always)]
    pub fn uses(&mut self, stream: &'a Stream) {
        let is_last = |&last: &&Stream| std::ptr::eq(last, stream);
        if !self.streams.last().is_some_and(is_last) {
            self.streams.push(stream);
        }
    }

    /// The work reads `memory` in `stream`.
    ///
    /// # Errors
    ///
    /// The memory is of another device than the stream, or only copies reach it.
    #[inline(always)]
    pub fn reads<M: DeviceRead + ?Sized>(
        &mut self,
        stream: &'a Stream,
        memory: &'a M,
    ) -> Result<ForeignMemory<M::Item>> {
        self.add(stream, memory.raw_view(), AccessKind::Read)
    }

    /// The work writes `memory` in `stream`, and may read it.
    ///
    /// # Errors
    ///
    /// As for [`reads`](Self::reads).
    #[inline(always)]
    pub fn writes<M: DeviceWrite + ?Sized>(
        &mut self,
        stream: &'a Stream,
        memory: &'a mut M,
    ) -> Result<ForeignMemory<M::Item>> {
        let memory: &'a M = memory;
        self.add(stream, memory.raw_view(), AccessKind::Write)
    }

    /// The work needs `object`: a graph that it becomes part of keeps it for as long as it may be launched. Work that is not captured does
    /// not: a library waits for such work itself before it gives up what the work needs.
    #[inline(always)]
    pub fn keeps<T: Any + Send + Sync>(&mut self, object: &'a Arc<T>) {
        self.kept.push(object);
    }

    /// The library makes the device current itself that it needs, and afterwards the one again that was: which one is current when it is called is
    /// then not asked each time. It is one that this crate has made current on this thread, or what somebody else has since.
    #[inline(always)]
    pub fn sets_device(&mut self) {
        self.sets_device = true;
    }

    /// A part of each piece of work: that it is inlined, as all on the way to the library's call, leaves the lists where they are, of lengths
    /// that the compiler knows.
    #[inline(always)]
    fn add<T: Pod>(
        &mut self,
        stream: &'a Stream,
        view: RawView<'a>,
        kind: AccessKind,
    ) -> Result<ForeignMemory<T>> {
        let used = view.used_for(kind);
        self.add_use(stream, used)?;
        Ok(ForeignMemory::of(&view))
    }

    /// Adds a use of memory.
    ///
    /// # Errors
    ///
    /// As for [`reads`](Self::reads).
    #[inline(always)]
    pub(super) fn add_use(&mut self, stream: &'a Stream, used: ViewUse<'a>) -> Result<()> {
        if let Some(used) = used.of_memory() {
            used.check_stream(self.call, stream)?;
            if used.allocation.is_for_copies_only() {
                return Err(self.for_copies_only());
            }
        }
        self.uses(stream);
        self.parts.push((stream, used));
        Ok(())
    }

    #[cold]
    fn for_copies_only(&self) -> Error {
        Error::misuse(
            self.call,
            Code::INVALID_VALUE,
            "the memory is the host's, and only copies reach it",
            "use a `DeviceBuffer`, or a `MappedBuffer` for memory of the host",
        )
    }

    /// Puts the work in order and enqueues it. The device of the stream that was named last is current on this thread while `enqueue`
    /// runs, but for what [`sets_device`](Self::sets_device) says. Meanwhile other threads that put work on these devices may wait: it should not wait for them.
    ///
    /// # Errors
    ///
    /// What `enqueue` answers; or the memory may not be used in its stream, or the host has unified memory open that a device cannot share
    /// with it: then `enqueue` is not called.
    ///
    /// # Safety
    ///
    /// All that `enqueue` enqueues is in the streams that were named, or comes after what they hold and before what they get later. It
    /// touches, in each stream, no memory of this crate but what was named there, and writes only what was named for writing. What is
    /// kept by [`keeps`](Self::keeps), with the memory, is all that it needs as part of a graph.
    #[inline(always)]
    pub unsafe fn enqueue<R, E: From<Error>>(
        mut self,
        enqueue: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        // SAFETY: the caller promises what is asked for.
        unsafe { self.enqueue_by_ref(enqueue) }
    }

    /// As [`enqueue`](Self::enqueue), for work that is enqueued several times, or is not to be moved: the borrows last.
    ///
    /// ```
    /// use warpsmith_driver::raw;
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::ForeignWork;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let mut numbers = stream.upload(&[1_u8, 2, 3, 4])?;
    /// {
    ///     let mut work = ForeignWork::new("a library's fill");
    ///     let memory = work.writes(&stream, &mut numbers)?;
    ///     for (first, value) in [(0, 7), (2, 8)] {
    ///         // SAFETY: the fill is enqueued in `stream`, and writes the bytes of `numbers` from `first` on.
    ///         unsafe {
    ///             work.enqueue_by_ref(|| {
    ///                 let from = memory.pointer().address() + first;
    ///                 let code = raw::cuMemsetD8Async(from, value, memory.len() - first as usize, stream.as_raw().cast());
    ///                 assert_eq!(code.0, 0);
    ///                 Ok::<(), warpsmith_host::Error>(())
    ///             })
    ///         }?;
    ///     }
    /// }
    /// assert_eq!(stream.download(&numbers)?, [7, 7, 8, 8]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`enqueue`](Self::enqueue).
    ///
    /// # Safety
    ///
    /// As for [`enqueue`](Self::enqueue), each time.
    #[inline(always)]
    pub unsafe fn enqueue_by_ref<R, E: From<Error>>(
        &mut self,
        enqueue: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        // SAFETY: the caller promises what is asked for.
        unsafe { self.enqueue_revocable(&mut [], enqueue) }
    }

    /// As [`enqueue_by_ref`](Self::enqueue_by_ref), for work that the library may give up before it is done: it says so to the [`ForeignOutcome`] of the
    /// stream, and the error of who reads what was being written calls the work by its name. Of work that becomes part of a graph nothing is noted: each
    /// launch of that would be work of its own.
    ///
    /// # Errors
    ///
    /// As for [`enqueue`](Self::enqueue).
    ///
    /// # Safety
    ///
    /// As for [`enqueue`](Self::enqueue), each time.
    #[inline(always)]
    pub unsafe fn enqueue_revocable<R, E: From<Error>>(
        &mut self,
        revocable: &mut [Revocable<'_>],
        enqueue: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        let Some(stream) = self.in_owning_stream() else {
            return self.enqueue_in_order(revocable, enqueue);
        };
        match self.sets_device {
            true => stream.gpu.bind_once()?,
            false => stream.gpu.bind()?,
        }
        let is_written = |(_, used): &(&Stream, ViewUse<'_>)| used.kind == AccessKind::Write;
        let mut noted = None;
        if self.parts.iter().any(is_written) {
            let note = self.note(stream, revocable);
            self.mark_written(note.mark);
            noted = Some(note);
        }
        let done = enqueue();
        if let (Some(Noted { launch: None, .. }), [only]) = (&noted, revocable)
            && let Some(mark) = only.outcome.renew(stream, only.name)
        {
            self.mark_written(mark);
        }
        done
    }

    /// Notes work in the stream that owns all its memory.
    #[inline(always)]
    fn note<'s>(&self, stream: &'s Stream, revocable: &mut [Revocable<'_>]) -> Noted<'s> {
        match revocable {
            [] => Noted {
                mark: WriteMark::of(stream.handle.timeline().after_last()),
                launch: None,
            },
            [only] if only.stream.handle == stream.handle => only.outcome.note(stream, only.name),
            several => ForeignOutcome::note_in(several, stream),
        }
    }

    /// Notes which work writes what is written, in the stream that owns it.
    #[inline(always)]
    fn mark_written(&self, mark: WriteMark) {
        for (_, used) in &self.parts {
            if used.kind == AccessKind::Write
                && let Some(allocation) = used.view.allocation
            {
                allocation.note_write(mark);
            }
        }
    }

    /// The only stream, if it owns all the memory, is not captured, and neither its device nor anybody else has a reason to look at what is
    /// enqueued: as a launch on its fast path the work needs no order but the stream's.
    #[inline(always)]
    fn in_owning_stream(&self) -> Option<&'a Stream> {
        let [stream] = self.streams[..] else {
            return None;
        };
        let number = stream.handle.current_number();
        let is_owned = |(_, used): &(&Stream, ViewUse<'_>)| {
            let used = used.of_memory();
            used.is_none_or(|used| used.is_owned_by(number, &stream.gpu))
        };
        (!stream.handle.is_captured()
            && stream.gpu.order().launch_gate.state().is_open()
            && !listeners::are_there()
            && self.parts.iter().all(is_owned))
        .then_some(stream)
    }

    /// As [`enqueue`](Self::enqueue), where the work has to be put in order, or told of.
    #[cold]
    fn enqueue_in_order<R, E: From<Error>>(
        &self,
        revocable: &mut [Revocable<'_>],
        enqueue: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        self.in_order(revocable, None, |_| {
            for stream in &self.streams {
                stream
                    .gpu
                    .refuse_beside_host_accesses(self.call, &stream.handle)?;
            }
            enqueue()
        })
    }

    /// As [`enqueue`](Self::enqueue), with the devices' order locks. What is safe about it is left to what `enqueue` does. `bytes` is how many each
    /// stream's part is of, where that is not all of its memory.
    pub(super) fn in_order<R, E: From<Error>>(
        &self,
        revocable: &mut [Revocable<'_>],
        bytes: Option<usize>,
        enqueue: impl FnOnce(&OrderGuard<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut gpus: SmallVec<[&Arc<OpenDevice>; 1]> =
            self.streams.iter().map(|s| &s.gpu).collect();
        // All threads take several locks in the same order.
        gpus.sort_by_key(|gpu| Arc::as_ptr(gpu).addr());
        gpus.dedup_by_key(|gpu| Arc::as_ptr(gpu).addr());
        let guard = &DeviceOrder::lock_all(gpus.iter().map(|gpu| gpu.order()));
        let bind = |stream: &Stream| match gpus[..] {
            [_] => Ok(()),
            _ => stream.gpu.bind(),
        };
        if let [only] = gpus[..] {
            only.bind()?;
        }
        let mut launches: SmallVec<[_; 2]> = SmallVec::new();
        for (stream, used) in &self.parts {
            bind(stream)?;
            let Some(used) = used.of_memory() else {
                continue;
            };
            let launch = stream.handle.timeline().next();
            used.order(self.call, guard, stream, &launch)?;
            if used.kind == AccessKind::Write && !stream.handle.is_captured() {
                let mut is_noted = false;
                for of_stream in &mut *revocable {
                    if of_stream.stream.handle == stream.handle {
                        let mark = WriteMark::of(launch.number);
                        of_stream.outcome.note_as(stream, mark, of_stream.name);
                        is_noted = true;
                    }
                }
                // What is written later has another number.
                if is_noted {
                    launches.push(stream.handle.timeline().next());
                }
            }
            // Until it is enqueued.
            launches.push(launch);
        }
        for stream in &self.streams {
            if let Some(capture) = stream.gpu.order().capture_of(guard, &stream.handle) {
                for object in &self.kept {
                    capture.keep(guard, object.share());
                }
            }
        }
        let bytes_of = |stream: &Stream| {
            let parts = self.parts.iter();
            let of_stream = parts.filter(|(of, _)| of.handle == stream.handle);
            bytes.unwrap_or_else(|| of_stream.map(|(_, used)| used.view.bytes).sum())
        };
        let traced = begin_trace(self.call, &self.streams, bytes_of);
        if let Some(stream) = self.streams.last() {
            bind(stream)?;
        }
        let enqueued = enqueue(guard)?;
        end_trace(traced);
        Ok(enqueued)
    }
}

//! Unified memory whose contents are given up: the driver need not move or keep them.
//!
//! What is read there is indeterminate until something writes it, and may be another value each time. So memory is discarded in a form that
//! nothing reads ([`UnifiedUninit`]), and comes back from it by being written as a whole.

use bytemuck::Pod;

use super::batch::{Ranges, is_missing};
use super::hints::Location;
use super::prefetch_batch::Places;
use super::unified::UnifiedBuffer;
use super::view::{DeviceRead, RawView};
use crate::context::attribute::Attribute;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::order::access::AccessKind;
use crate::order::history::OrderedMemory;
use crate::order::stream_handle::StreamRole;
use crate::stream::Stream;

const DISCARD: &str = "cuMemDiscardBatchAsync";

/// Unified memory that nothing reads: a [`UnifiedBuffer`] without contents ([`UnifiedBuffer::into_uninit`]). A stream may discard it
/// ([`Stream::discard`]), and makes it a buffer again by writing all of it.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let scratch = gpu.unified_from(&[1_u32; 1024])?;
/// // ... kernels use it ... then what it holds is needed no more:
/// let mut scratch = scratch.into_uninit();
/// stream.discard(&mut scratch)?;
/// let scratch = stream.fill_uninit(scratch, 7)?;
/// stream.synchronize()?;
/// assert_eq!(*scratch.host()?, [7; 1024]);
/// # Ok(())
/// # }
/// ```
pub struct UnifiedUninit<T: Pod> {
    /// Nothing here reads it.
    buffer: UnifiedBuffer<T>,
    /// A discard was asked for whose pages no prefetch of the same call has brought back.
    is_discarded: bool,
}

impl<T: Pod> UnifiedBuffer<T> {
    /// Gives up what the memory holds, for [`Stream::discard`]. This alone calls nothing.
    pub fn into_uninit(self) -> UnifiedUninit<T> {
        UnifiedUninit {
            buffer: self,
            is_discarded: false,
        }
    }
}

impl<T: Pod> UnifiedUninit<T> {
    /// Elements.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The memory as a buffer, for a kernel that writes it.
    ///
    /// # Safety
    ///
    /// Nothing reads an element before something has written it since the last [`Stream::discard`]: no kernel, no copy, no guard of the host. If
    /// it was not discarded since it was a buffer, it holds what it held then. If it was, prefetch it ([`Stream::prefetch`]) before the kernel
    /// writes it: a driver may lose what is written to pages that are still mapped when they are discarded.
    pub unsafe fn assume_init(self) -> UnifiedBuffer<T> {
        self.buffer
    }
}

impl<T: Pod> std::fmt::Debug for UnifiedUninit<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = std::any::type_name::<T>();
        write!(f, "UnifiedUninit<{of}>[{}]", self.len())
    }
}

/// Discards that are enqueued together ([`Stream::discard_batch`]).
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::DiscardBatch;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut one = gpu.unified::<u32>(1024)?.into_uninit();
/// let mut two = gpu.unified::<f64>(1024)?.into_uninit();
/// let mut batch = DiscardBatch::new();
/// batch.discard(&mut one);
/// // It is written on the device next, and takes its room there without moving there.
/// batch.discard_and_prefetch(&mut two, Location::Device);
/// stream.discard_batch(batch)?;
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[must_use = "nothing is discarded before `Stream::discard_batch`"]
pub struct DiscardBatch<'a> {
    ranges: Vec<RawView<'a>>,
    moving: Vec<(RawView<'a>, Location)>,
}

impl<'a> DiscardBatch<'a> {
    /// No discards.
    pub fn new() -> DiscardBatch<'a> {
        DiscardBatch::default()
    }

    /// How many discards there are. Those of no elements do not count.
    pub fn len(&self) -> usize {
        self.ranges.len() + self.moving.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a discard.
    pub fn discard<T: Pod>(&mut self, memory: &'a mut UnifiedUninit<T>) {
        memory.is_discarded = true;
        let view = memory.buffer.raw_view();
        if view.bytes > 0 {
            self.ranges.push(view);
        }
    }

    /// Adds a discard of memory that is written there next: it gets its room there, and nothing moves.
    pub fn discard_and_prefetch<T: Pod>(&mut self, memory: &'a mut UnifiedUninit<T>, to: Location) {
        let view = memory.buffer.raw_view();
        if view.bytes > 0 {
            self.moving.push((view, to));
        }
    }
}

impl std::fmt::Debug for DiscardBatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DiscardBatch[{}]", self.len())
    }
}

impl Gpu {
    /// Whether unified memory can be discarded ([`Stream::discard`]): the driver is of CUDA 13.0 or newer, and all of its devices share unified
    /// memory with the host while they work.
    ///
    /// # Errors
    ///
    /// The driver does not count its devices.
    pub fn can_discard(&self) -> Result<bool> {
        let mut count = 0;
        // SAFETY: the driver writes one number to `count`, which outlives the call.
        unsafe { call!(cuDeviceGetCount(&mut count)) }?;
        let concurrent = Attribute::CONCURRENT_MANAGED_ACCESS;
        let has = |device| concurrent.of(device).is_ok_and(|value| value != 0);
        Ok(self.driver_version().major >= 13 && (0..count).all(has))
    }
}

impl Stream {
    /// Gives up what the memory holds, after this stream's earlier work and before its later: when its pages move or make room, nothing is
    /// copied.
    ///
    /// # Errors
    ///
    /// The driver cannot ([`Gpu::can_discard`]); the memory is of another device, or a graph was made with it; the stream is the legacy default stream, or
    /// is being captured.
    pub fn discard<T: Pod>(&self, memory: &mut UnifiedUninit<T>) -> Result<()> {
        let mut batch = DiscardBatch::new();
        batch.discard(memory);
        self.discard_batch(batch)
    }

    /// As [`discard`](Self::discard), of all that the batch has, in no order among each other.
    ///
    /// # Errors
    ///
    /// Those of [`discard`](Self::discard); or there is no such NUMA node.
    pub fn discard_batch(&self, batch: DiscardBatch<'_>) -> Result<()> {
        self.handle.refuse_capture(
            DISCARD,
            "no node of a graph discards memory",
            "discard in the stream that launches the graph, before or after the launch",
        )?;
        if batch.is_empty() {
            return Ok(());
        }
        if self.handle.role == StreamRole::Legacy {
            return Err(Error::misuse(
                DISCARD,
                Code::INVALID_VALUE,
                "the driver discards nothing in the legacy default stream",
                "use a stream of `gpu.stream()`",
            ));
        }
        let DiscardBatch { ranges, moving } = batch;
        let all = || ranges.iter().chain(moving.iter().map(|(view, _)| view));
        if all().any(is_in_graph) {
            return Err(Error::misuse(
                DISCARD,
                Code::INVALID_VALUE,
                "a graph was made with the memory, and would read what it does not hold any more",
                "discard memory that no graph was made with",
            ));
        }
        let places = self.places(moving.iter().map(|(_, to)| *to))?;
        let uses: Vec<_> = all().map(|view| view.used_for(AccessKind::Write)).collect();
        let bytes = all().map(|view| view.bytes).sum();
        let done = self.in_order(DISCARD, bytes, &uses, || {
            let moving = moving.iter().map(|(view, _)| view);
            // SAFETY: the ranges are of unified memory that nobody else may use (`DiscardBatch` borrows it) and that nothing reads before it is
            // written (`UnifiedUninit`), and no two overlap; `in_order` keeps them until their last use.
            unsafe {
                self.enqueue_discards(Ranges::of(ranges.iter()), None)?;
                self.enqueue_discards(Ranges::of(moving), Some(places))
            }
        });
        if is_missing(&done) {
            return Err(Error::unsupported(
                "discarding unified memory",
                "a driver of CUDA 13.0 or newer, and concurrent managed access on all of its devices (`Gpu::can_discard`)",
            ));
        }
        done
    }

    /// Enqueues discards, with places of discards and prefetches.
    ///
    /// # Safety
    ///
    /// The ranges are of managed memory, do not overlap, and live until the stream has done this, as which they are put in order; nothing reads
    /// them before they are written. The places are theirs.
    unsafe fn enqueue_discards(&self, ranges: Ranges, places: Option<Places>) -> Result<()> {
        let Ranges {
            mut addresses,
            mut sizes,
        } = ranges;
        let (first, size, count) = (addresses.as_mut_ptr(), sizes.as_mut_ptr(), sizes.len());
        let stream = self.handle.raw();
        match places {
            _ if count == 0 => Ok(()),
            // SAFETY: the arrays have a value for each range and outlive the call; the memory is as the caller says.
            None => unsafe { call!(cuMemDiscardBatchAsync(first, size, count, 0, stream)) },
            // SAFETY: the arrays have a value for each range and for each place, and outlive the call; the memory is as the caller says.
            Some(mut places) => unsafe {
                call!(cuMemDiscardAndPrefetchBatchAsync(
                    first,
                    size,
                    count,
                    places.locations.as_mut_ptr(),
                    places.firsts.as_mut_ptr(),
                    places.locations.len(),
                    0,
                    stream
                ))
            },
        }
    }

    /// Sets every element of memory without contents, and gives it as a buffer.
    ///
    /// # Errors
    ///
    /// Those of [`fill`](Self::fill), when the memory is freed; or the stream is being captured.
    pub fn fill_uninit<T: Pod>(
        &self,
        memory: UnifiedUninit<T>,
        value: T,
    ) -> Result<UnifiedBuffer<T>> {
        let mut buffer = self.to_be_written(memory)?;
        self.fill(&mut buffer, value)?;
        Ok(buffer)
    }

    /// Copies device memory to memory without contents, and gives that as a buffer.
    ///
    /// # Errors
    ///
    /// Those of [`copy`](Self::copy), when the memory is freed; or the stream is being captured.
    pub fn copy_uninit<T: Pod, S: DeviceRead<Item = T> + ?Sized>(
        &self,
        from: &S,
        memory: UnifiedUninit<T>,
    ) -> Result<UnifiedBuffer<T>> {
        let mut buffer = self.to_be_written(memory)?;
        self.copy(from, &mut buffer)?;
        Ok(buffer)
    }

    /// Copies `data` to memory without contents, and gives that as a buffer. Waits until it has been read.
    ///
    /// # Errors
    ///
    /// Those of [`upload_into`](Self::upload_into), when the memory is freed.
    pub fn upload_uninit<T: Pod>(
        &self,
        data: &[T],
        memory: UnifiedUninit<T>,
    ) -> Result<UnifiedBuffer<T>> {
        let mut buffer = self.to_be_written(memory)?;
        self.upload_into(data, &mut buffer)?;
        Ok(buffer)
    }

    /// What is captured is not enqueued, and what is not enqueued writes nothing.
    ///
    /// A write alone should undo a discard, by the manual as a prefetch does. But a device that still has the pages mapped writes them without
    /// telling the driver, which then takes them for discarded: on an H100 (driver 580.159.04) the host read old contents behind the first
    /// 64 KiB of what `cuMemsetD32Async` had filled. So the discard is undone by a prefetch.
    fn to_be_written<T: Pod>(&self, memory: UnifiedUninit<T>) -> Result<UnifiedBuffer<T>> {
        self.handle.refuse_capture(
            "UnifiedUninit",
            "what is recorded has not written the discarded memory yet, which could be read before the graph is launched",
            "write it in a stream that is not captured, and capture what uses the buffer",
        )?;
        if memory.is_discarded {
            self.prefetch(&memory.buffer, Location::Device)?;
        }
        Ok(memory.buffer)
    }
}

/// Whether a graph may use the memory at any time.
fn is_in_graph(view: &RawView<'_>) -> bool {
    let allocation = view.allocation;
    allocation.is_some_and(|allocation| allocation.history().is_in_graphs())
}

//! Many prefetches of unified memory in one call, in no order among each other.

use warpsmith_driver::raw;

use super::batch::{Ranges, is_missing};
use super::hints::{Location, driver_location, moves};
use super::view::{DeviceRead, RawView};
use crate::driver_call::call;
use crate::error::Result;
use crate::order::access::AccessKind;
use crate::stream::Stream;

const CALL: &str = "cuMemPrefetchBatchAsync";

/// Prefetches that are enqueued together ([`Stream::prefetch_batch`]), each with its place: those of many buffers cost the host less so.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{HintedLocation, PrefetchBatch};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let (weights, results) = (gpu.unified::<f32>(1 << 20)?, gpu.unified::<f32>(1 << 10)?);
/// let first = weights.slice(..1 << 19);
/// let mut batch = PrefetchBatch::new();
/// batch.add(&first, Location::Device)?;
/// batch.add(&results, Location::Host)?;
/// stream.prefetch_batch(batch)?;
/// assert_eq!(results.hints(..)?.last_prefetch, Some(HintedLocation::Host));
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[must_use = "nothing moves before `Stream::prefetch_batch`"]
pub struct PrefetchBatch<'a> {
    ranges: Vec<(RawView<'a>, Location)>,
}

impl<'a> PrefetchBatch<'a> {
    /// No prefetches.
    pub fn new() -> PrefetchBatch<'a> {
        PrefetchBatch::default()
    }

    /// How many prefetches there are. Those of no elements do not count.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds a prefetch of unified memory, a buffer or a part of one, as [`Stream::prefetch`] does it.
    ///
    /// # Errors
    ///
    /// It is other memory, which does not move.
    pub fn add<M: DeviceRead + ?Sized>(&mut self, memory: &'a M, to: Location) -> Result<()> {
        let view = memory.raw_view();
        if moves(CALL, view)? {
            self.ranges.push((view, to));
        }
        Ok(())
    }
}

impl std::fmt::Debug for PrefetchBatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrefetchBatch[{}]", self.len())
    }
}

/// Places for ranges that follow each other, as the driver's batches take them: of each, which range is the first that goes there.
#[derive(Default)]
pub(super) struct Places {
    pub(super) locations: Vec<raw::CUmemLocation>,
    pub(super) firsts: Vec<usize>,
}

impl Stream {
    /// Starts all prefetches of the batch, after this stream's earlier work and before its later, and returns. A driver older than CUDA 13.0 gets
    /// them one by one, as do the default streams, and those of devices of which one has no concurrent managed access.
    ///
    /// # Errors
    ///
    /// Memory is of another device than the stream; there is no such NUMA node; or the stream is being captured.
    // covers: UM-21
    pub fn prefetch_batch(&self, batch: PrefetchBatch<'_>) -> Result<()> {
        self.handle.refuse_capture(
            CALL,
            "no node of a graph moves unified memory",
            "prefetch in the stream that launches the graph, before the launch",
        )?;
        let ranges = batch.ranges;
        if ranges.is_empty() {
            return Ok(());
        }
        let places = self.places(ranges.iter().map(|(_, to)| *to))?;
        let views = ranges.iter().map(|(view, _)| view);
        let uses: Vec<_> = views.map(|view| view.used_for(AccessKind::Read)).collect();
        let bytes = ranges.iter().map(|(view, _)| view.bytes).sum();
        self.in_order(CALL, bytes, &uses, || {
            // SAFETY: the ranges are of managed memory (`PrefetchBatch::add`), which `in_order` keeps until its last use.
            unsafe { self.enqueue_prefetches(&ranges, places) }
        })
    }

    /// # Errors
    ///
    /// There is no such NUMA node.
    pub(super) fn places(&self, each: impl Iterator<Item = Location>) -> Result<Places> {
        let mut places = Places::default();
        let mut last = None;
        for (index, to) in each.enumerate() {
            if last != Some(to) {
                places.locations.push(driver_location(to, &self.gpu)?);
                places.firsts.push(index);
                last = Some(to);
            }
        }
        Ok(places)
    }

    /// # Safety
    ///
    /// The ranges are of managed memory, which lives until the stream has done this, as which it is put in order; the places are theirs.
    unsafe fn enqueue_prefetches(
        &self,
        ranges: &[(RawView<'_>, Location)],
        mut places: Places,
    ) -> Result<()> {
        if self.takes_batches() && self.gpu.limits().concurrent_managed {
            let Ranges {
                mut addresses,
                mut sizes,
            } = Ranges::of(ranges.iter().map(|(view, _)| view));
            // SAFETY: the arrays have a value for each range and for each place, and outlive the call; the memory is as the caller says, and
            // moving it changes no contents.
            let done = unsafe {
                call!(cuMemPrefetchBatchAsync(
                    addresses.as_mut_ptr(),
                    sizes.as_mut_ptr(),
                    sizes.len(),
                    places.locations.as_mut_ptr(),
                    places.firsts.as_mut_ptr(),
                    places.locations.len(),
                    0,
                    self.handle.raw()
                ))
            };
            if !is_missing(&done) {
                return done;
            }
        }
        for (view, to) in ranges {
            // SAFETY: the range is of managed memory, which lives until the stream has done this, in order (the caller).
            unsafe { self.enqueue_prefetch(*view, *to) }?;
        }
        Ok(())
    }
}

//! Batches of prefetches and of discards of managed memory (CUDA 13.0).
//!
//! A batch is one item of work of its stream; what it is made of has no order. The header leaves it undefined what happens to a range that is
//! discarded while something else of the batch does something to it: such batches are refused, with the reason.

use std::ops::Range;
use std::sync::Arc;

use super::entry::*;
use super::managed::place_at;
use super::parts::parts;
use crate::device;
use crate::graph;
use crate::memory::discarded::Discard;
use crate::memory::hints::{ManagedRange, Place};
use crate::report;
use crate::streams::{self, Operation, Stream};

driver_calls! {
    Ready fn cuMemPrefetchBatchAsync(
        dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize,
        numPrefetchLocs: usize, flags: c_ulonglong, hStream: CUstream,
    ) {
        let (stream, ranges) = batch((dptrs, sizes, count), flags, hStream)?;
        let places = places((prefetchLocs, prefetchLocIdxs, numPrefetchLocs), count)?;
        prefetch(&ranges, &places);
        graph::perform(&stream, Operation::Empty)?;
    }

    Ready fn cuMemDiscardBatchAsync(
        dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: c_ulonglong, hStream: CUstream,
    ) {
        let (stream, ranges) = batch((dptrs, sizes, count), flags, hStream)?;
        discard("cuMemDiscardBatchAsync", &stream, &ranges)?;
    }

    Ready fn cuMemDiscardAndPrefetchBatchAsync(
        dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize,
        numPrefetchLocs: usize, flags: c_ulonglong, hStream: CUstream,
    ) {
        let (stream, ranges) = batch((dptrs, sizes, count), flags, hStream)?;
        let places = places((prefetchLocs, prefetchLocIdxs, numPrefetchLocs), count)?;
        discard("cuMemDiscardAndPrefetchBatchAsync", &stream, &ranges)?;
        prefetch(&ranges, &places);
    }
}

/// The stream and the ranges of a batch, if they may be one.
///
/// # Errors
///
/// Not supported where a device cannot share managed memory; in a capture; invalid value for the rest.
///
/// # Safety
///
/// The arrays are null or valid for `count` values each.
unsafe fn batch(
    (addresses, sizes, count): (*const CUdeviceptr, *const usize, usize),
    flags: c_ulonglong,
    stream: CUstream,
) -> Result<(Arc<Stream>, Vec<ManagedRange>)> {
    let stream = streams::find(stream)?;
    if stream.capture.is_capturing() {
        return Err(code::STREAM_CAPTURE_UNSUPPORTED);
    }
    let concurrent = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    if (0..device::count()).any(|device| device::profile(device).limit(concurrent) == 0) {
        return Err(code::NOT_SUPPORTED);
    }
    if stream.is_legacy() || addresses.is_null() || sizes.is_null() || count == 0 || flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    let range = |index| {
        // SAFETY: the arrays are not null, so valid for `count` values by the caller's contract.
        let (address, bytes) = unsafe { (*addresses.add(index), *sizes.add(index)) };
        ManagedRange::of(address as usize, bytes)
    };
    let ranges = (0..count).map(range).collect::<Result<_>>()?;
    Ok((stream, ranges))
}

/// Where the ranges of a batch go: of each place, the ranges.
///
/// # Safety
///
/// The arrays are null or valid for `number` values each.
unsafe fn places(
    (locations, firsts, number): (*const CUmemLocation, *const usize, usize),
    count: usize,
) -> Result<Vec<(Range<usize>, Place)>> {
    // SAFETY: null or valid by the caller's contract.
    let parts = unsafe { parts(firsts, number, count) }?;
    if locations.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let place = |(index, part)| {
        // SAFETY: the array is not null, so valid for `number` values, as many as there are parts.
        let location = unsafe { *locations.add(index) };
        // As measured, other than for one prefetch.
        let place = place_at(location).map_err(|_| code::INVALID_VALUE)?;
        Ok((part, place))
    };
    parts.into_iter().enumerate().map(place).collect()
}

fn prefetch(ranges: &[ManagedRange], places: &[(Range<usize>, Place)]) {
    for (part, place) in places {
        for range in &ranges[part.clone()] {
            range.prefetch(*place);
        }
    }
}

fn discard(call: &str, stream: &Stream, ranges: &[ManagedRange]) -> Result {
    let parts = ranges.iter().map(ManagedRange::part);
    let ranges: Vec<_> = parts.filter(|&(_, bytes)| bytes > 0).collect();
    let mut sorted = ranges.clone();
    sorted.sort_unstable();
    let overlap = sorted
        .windows(2)
        .find(|pair| pair[0].0 + pair[0].1 > pair[1].0);
    if let Some(pair) = overlap {
        report::remark(&format!(
            "{call} is refused: two of its ranges overlap at {:#x}, and what else happens to a range while it is discarded is undefined",
            pair[1].0
        ));
        return Err(code::INVALID_VALUE);
    }
    graph::perform(stream, Operation::Discard(Discard::new(ranges).into())).map(drop)
}

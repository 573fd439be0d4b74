//! Many copies in one call, in no order among each other.

use std::collections::HashMap;
use std::sync::Arc;

use warpsmith_driver::raw;

use super::allocation::Allocation;
use super::batch::by_newest;
use super::box_copy::BoxCopy;
use super::pinned_slice::{PinnedRead, PinnedWrite};
use super::size::length_mismatch;
use super::view::{DeviceRead, DeviceWrite, RawView, ViewUse};
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::order::access::{Access, AccessKind};
use crate::stream::Stream;

const CALL: &str = "cuMemcpyBatchAsync";

/// Copies that are enqueued together ([`Stream::copy_batch`]): small ones cost the host and the device less so. Each has memory of its own to
/// write, which the borrows see to; in which order they happen, or whether at the same time, is the device's choice.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::CopyBatch;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut input = gpu.pinned::<u32>(4)?;
/// input.host_mut()?.copy_from_slice(&[1, 2, 3, 4]);
/// let (mut one, mut two) = (stream.zeroed::<u32>(2)?, stream.zeroed::<u32>(1)?);
/// let (first, last) = (input.slice(..2), input.slice(3..));
/// let mut batch = CopyBatch::new();
/// batch.copy_from_host(&first, &mut one)?;
/// batch.copy_from_host(&last, &mut two)?;
/// stream.copy_batch(batch)?;
/// assert_eq!(stream.download(&one)?, [1, 2]);
/// assert_eq!(stream.download(&two)?, [4]);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[must_use = "nothing is copied before `Stream::copy_batch`"]
pub struct CopyBatch<'a> {
    copies: Vec<OneCopy<'a>>,
}

struct OneCopy<'a> {
    from: RawView<'a>,
    to: RawView<'a>,
    bytes: usize,
    what: Copied,
}

/// What is copied, by the addresses that the driver is told: the host's, of its memory.
enum Copied {
    /// Bytes in a row.
    Row {
        source: u64,
        target: u64,
    },
    Box(BoxCopy),
}

impl<'a> CopyBatch<'a> {
    /// No copies.
    pub fn new() -> CopyBatch<'a> {
        CopyBatch::default()
    }

    /// How many copies there are. Those of no elements do not count.
    pub fn len(&self) -> usize {
        self.copies.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// Adds a copy from device memory to device memory.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy<S, D>(&mut self, from: &'a S, to: &'a mut D) -> Result<()>
    where
        S: DeviceRead + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        let to: &'a D = to;
        let (from, to) = (from.raw_view(), to.raw_view());
        self.add(from, to, from.address, to.address)
    }

    /// Adds a copy from page-locked memory. Until it is done the memory cannot be had for writing.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_from_host<S, D>(&mut self, from: &'a S, to: &'a mut D) -> Result<()>
    where
        S: PinnedRead + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        let to: &'a D = to;
        let (from, to) = (from.pinned_view(), to.raw_view());
        self.add(from.view, to, from.host_address(), to.address)
    }

    /// Adds a copy to page-locked memory. Until it is done the memory is closed to the host.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_to_host<S, D>(&mut self, from: &'a S, to: &'a mut D) -> Result<()>
    where
        S: DeviceRead + ?Sized,
        D: PinnedWrite<Item = S::Item> + ?Sized,
    {
        let to: &'a D = to;
        let (from, to) = (from.raw_view(), to.pinned_view());
        self.add(from, to.view, from.address, to.host_address())
    }

    /// The views are of the same type, the one to be written is borrowed exclusively, and the addresses are theirs.
    fn add(&mut self, from: RawView<'a>, to: RawView<'a>, source: u64, target: u64) -> Result<()> {
        if from.len != to.len {
            return Err(length_mismatch(CALL, from.len, to.len));
        }
        if to.bytes > 0 {
            self.copies.push(OneCopy {
                from,
                to,
                bytes: to.bytes,
                what: Copied::Row { source, target },
            });
        }
        Ok(())
    }

    /// Both sides of the box lie in the views, of which the one to be written is borrowed exclusively.
    pub(super) fn add_box(&mut self, from: RawView<'a>, to: RawView<'a>, copy: BoxCopy) {
        let bytes = copy.bytes();
        if bytes > 0 {
            let what = Copied::Box(copy);
            self.copies.push(OneCopy {
                from,
                to,
                bytes,
                what,
            });
        }
    }
}

impl std::fmt::Debug for CopyBatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CopyBatch[{}]", self.len())
    }
}

impl Stream {
    /// Starts all copies of the batch, after this stream's earlier work and before its later, and returns. A driver older than CUDA 12.8 gets them
    /// one by one, as do the default streams and captures, which take no batches. Those of elements in a row are one call of the driver, those of
    /// rectangles and boxes another.
    ///
    /// # Errors
    ///
    /// Memory is of another device than the stream, two copies use one level of a mipmapped array that one of them writes, or something went
    /// wrong on the device before.
    pub fn copy_batch(&self, batch: CopyBatch<'_>) -> Result<()> {
        let copies = batch.copies;
        if copies.is_empty() {
            return Ok(());
        }
        for copy in &copies {
            copy.from.check_finished(CALL)?;
        }
        let uses: Vec<_> = copies
            .iter()
            .flat_map(|copy| {
                [
                    copy.from.used_for(AccessKind::Read),
                    copy.to.used_for(AccessKind::Write),
                ]
            })
            .collect();
        check_apart(&uses)?;
        let bytes = copies.iter().map(|copy| copy.bytes).sum();
        let (mut rows, mut boxes) = (Vec::new(), Vec::new());
        for copy in copies {
            match copy.what {
                Copied::Row { source, target } => rows.push((source, target, copy.bytes)),
                Copied::Box(copy) => boxes.push(copy),
            }
        }
        self.in_order(CALL, bytes, &uses, || {
            // SAFETY: the two sides of each copy have as many bytes (`CopyBatch::add`), or the box (`add_box`), `in_order` keeps them until
            // their last use, and `check_host_access` keeps the host from its memory meanwhile.
            unsafe {
                self.enqueue_rows(&rows)?;
                self.enqueue_boxes(&boxes)
            }
        })
    }

    /// Whether the driver takes batches in this stream: not in the default ones, and not in captures.
    pub(super) fn takes_batches(&self) -> bool {
        let stream = self.handle.raw();
        let is_default = stream.is_null()
            || stream == raw::CU_STREAM_LEGACY
            || stream == raw::CU_STREAM_PER_THREAD;
        !is_default && !self.handle.is_captured()
    }

    /// # Safety
    ///
    /// Both sides of each copy, its source, its destination and its bytes, are there until it is done, and put in order.
    unsafe fn enqueue_rows(&self, copies: &[(u64, u64, usize)]) -> Result<()> {
        let stream = self.handle.raw();
        if self.takes_batches() && !copies.is_empty() {
            let mut targets: Vec<u64> = copies.iter().map(|copy| copy.1).collect();
            let mut sources: Vec<u64> = copies.iter().map(|copy| copy.0).collect();
            let mut sizes: Vec<usize> = copies.iter().map(|copy| copy.2).collect();
            let mut attributes = raw::CUmemcpyAttributes {
                srcAccessOrder: raw::CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
                ..Default::default()
            };
            // The attributes count from the first copy on.
            let mut first = 0;
            let (targets, sources) = (targets.as_mut_ptr(), sources.as_mut_ptr());
            let (sizes, count) = (sizes.as_mut_ptr(), copies.len());
            let (attributes, first) = (&raw mut attributes, &raw mut first);
            let done = by_newest(
                // SAFETY: the arrays have a copy's values each and outlive the call, as do the attributes; the copies are as the caller says.
                || unsafe {
                    call!(cuMemcpyBatchAsync_v2(
                        targets, sources, sizes, count, attributes, first, 1, stream
                    ))
                },
                // SAFETY: the arrays have a copy's values each and outlive the call, as do the attributes and the number; the copies are as the
                // caller says.
                |failed| unsafe {
                    call!(cuMemcpyBatchAsync(
                        targets, sources, sizes, count, attributes, first, 1, failed, stream
                    ))
                },
            );
            if let Some(done) = done {
                return done;
            }
        }
        for &(source, target, bytes) in copies {
            // SAFETY: both sides have the bytes until the copy is done, in order (the caller); the driver finds out which memory an address is of.
            unsafe { call!(cuMemcpyAsync(target, source, bytes, stream)) }?;
        }
        Ok(())
    }
}

/// Refuses copies of arrays that are in no order: two handles may be of one level of a mipmapped array. Buffers are kept apart by their borrows.
fn check_apart(uses: &[ViewUse<'_>]) -> Result<()> {
    let mut of_arrays: HashMap<*const Allocation, Vec<Access>> = HashMap::new();
    for used in uses.iter().filter_map(ViewUse::of_memory) {
        if !used.allocation.is_array() {
            continue;
        }
        let known = of_arrays.entry(Arc::as_ptr(used.allocation)).or_default();
        let access = used.access();
        if known.iter().any(|other| other.conflicts(&access)) {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "two copies of the batch use one level of an array, and one of them writes it: the copies of a batch are in no order",
                "give them to two batches",
            ));
        }
        known.push(access);
    }
    Ok(())
}

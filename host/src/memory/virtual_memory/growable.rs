//! A buffer that grows in place.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;

use super::access::MappingAccess;
use super::physical::{PhysicalMemory, PhysicalOptions};
use crate::driver_call::call;
use crate::error::{Busy, Code, Error, LimitError, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::check_same_device;
use crate::memory::allocation::Allocation;
use crate::memory::peer_access::PeerAccess;
use crate::memory::size::bytes_of;
use crate::memory::whole_buffer::whole_buffer;
use crate::order::access::{Access, AccessKind};
use crate::stream::Stream;

/// Device memory that grows without being copied and without changing its address: what `Vec` is for the host, but that pointers into
/// it stay good.
///
/// Addresses for `capacity` elements are reserved at once, which takes no memory; memory is mapped as the buffer grows, in pieces of the
/// device's granularity (2 MiB) and of at least an eighth of what there is. The old and the new part are never in memory twice.
/// Work that uses the buffer may be running while it grows.
///
/// It is used like a [`DeviceBuffer`](crate::DeviceBuffer): in launches, copies and graphs, in order.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut log = gpu.growable::<u64>(1 << 30)?;
/// let address = log.as_device_ptr().address();
/// stream.extend(&mut log, &[1, 2, 3])?;
/// stream.grow_zeroed(&mut log, 1_000_000)?;
/// assert_eq!((log.len(), log.as_device_ptr().address()), (1_000_000, address));
/// assert_eq!(stream.download(&log.slice(1..5))?, [2, 3, 0, 0]);
///
/// log.truncate(2);
/// log.shrink_to_fit()?;
/// assert_eq!(stream.download(&log)?, [1, 2]);
/// # Ok(())
/// # }
/// ```
// covers: VMM-12, VMM-13
pub struct GrowableBuffer<T: Pod> {
    /// None for elements without a size.
    allocation: Option<Arc<Allocation>>,
    gpu: Gpu,
    len: usize,
    capacity: usize,
    granularity: usize,
    of: PhantomData<T>,
}

/// Beyond what is asked for at least this part of what is mapped already, so that many small steps cost few mappings.
const GROWTH: usize = 8;

impl Gpu {
    /// An empty buffer that can grow to `capacity` elements. That takes addresses and no memory: it may be more than the device has.
    ///
    /// # Errors
    ///
    /// The device has no virtual memory management, or there are not so many addresses left.
    // covers: VMM-05
    pub fn growable<T: Pod>(&self, capacity: usize) -> Result<GrowableBuffer<T>> {
        let bytes = bytes_of::<T>("cuMemAddressReserve", capacity)?;
        self.inner.limits().require_virtual_memory()?;
        self.inner.bind()?;
        let granularity = PhysicalOptions::default().granularity(&self.inner)?;
        let allocation = match bytes {
            0 => None,
            _ => {
                let rounded = bytes.next_multiple_of(granularity);
                let reserved = Allocation::reserved(&self.inner, rounded)
                    .map_err(|error| error.with_hint(|| too_many_addresses::<T>(capacity)));
                Some(reserved?)
            }
        };
        Ok(GrowableBuffer {
            allocation,
            gpu: self.clone(),
            len: 0,
            capacity,
            granularity,
            of: PhantomData,
        })
    }
}

/// What to do where a capacity cannot be reserved.
fn too_many_addresses<T>(capacity: usize) -> String {
    format!(
        "a capacity of {capacity} elements of {} bytes is more than there are addresses left: give the most that there may ever be; \
         `gpu.total_memory()` says how many bytes the device has",
        size_of::<T>()
    )
}

impl<T: Pod> GrowableBuffer<T> {
    /// To how many elements it can grow.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Bytes of device memory that it has at present.
    ///
    /// # Errors
    ///
    /// None that a program can cause.
    pub fn mapped_bytes(&self) -> Result<usize> {
        self.allocation.as_ref().map_or(Ok(0), |allocation| {
            Ok(allocation.range("GrowableBuffer::mapped_bytes")?.mapped())
        })
    }

    /// Maps memory for `len` elements in all, uninitialised.
    ///
    /// # Errors
    ///
    /// More than the capacity, or than the device has; the buffer is as before.
    fn map_for(&self, call: &'static str, len: usize) -> Result<()> {
        if len > self.capacity {
            return Err(Error::Limit(Box::new(LimitError {
                call,
                code: Code::OUT_OF_MEMORY,
                subject: format!("a growable buffer of {}", std::any::type_name::<T>()),
                what: "the number of elements",
                value: len as u64,
                limit: self.capacity as u64,
                hint: "make it with a larger capacity, which costs addresses and no memory: `gpu.growable(capacity)`".into(),
            })));
        }
        let Some(allocation) = &self.allocation else {
            return Ok(());
        };
        let range = allocation.range(call)?;
        let mapped = range.mapped();
        // No more than the capacity's bytes, which were counted when the buffer was made.
        let wanted = len * size_of::<T>();
        if wanted <= mapped {
            return Ok(());
        }
        let liked = (wanted - mapped).max(mapped / GROWTH);
        let bytes = liked
            .next_multiple_of(self.granularity)
            .min(range.bytes - mapped);
        let options = PhysicalOptions::default();
        let memory = PhysicalMemory::create(&self.gpu.inner, bytes, options)?;
        range.append(
            &self.gpu.inner,
            memory.handle(),
            memory.bytes(),
            MappingAccess::ReadWrite,
        )
        // The mapping keeps the memory.
    }

    /// Lets another device use the buffer, as it is and as it grows: kernels, copies and fills in streams of `peer` take it by
    /// [`PeerAccess::view`] and [`PeerAccess::view_mut`].
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let mut log = one.growable::<u32>(1 << 20)?;
    /// let access = log.allow_peer(&other)?;
    /// one.stream()?.extend(&mut log, &[1, 2, 3])?;
    /// other.stream()?.fill(&mut access.view_mut(&mut log)?, 7)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `peer` is the buffer's own device, or the devices cannot reach each other.
    pub fn allow_peer(&self, peer: &Gpu) -> Result<PeerAccess> {
        PeerAccess::to_mapping(&self.gpu.inner, &peer.inner, self.allocation.as_ref())
    }

    /// Forgets the elements from `len` on. Their memory stays until [`shrink_to_fit`](Self::shrink_to_fit).
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Gives the memory behind the last element back to the device, in the pieces in which it was mapped.
    ///
    /// # Errors
    ///
    /// The device may still be using the buffer, or a graph has it: nothing has changed.
    pub fn shrink_to_fit(&mut self) -> Result<()> {
        const CALL: &str = "GrowableBuffer::shrink_to_fit";
        let Some(allocation) = &mut self.allocation else {
            return Ok(());
        };
        // Graphs and captures hold the allocation, too, and may use it at any time.
        if Arc::get_mut(allocation).is_none() {
            return Err(Error::Busy(Box::new(Busy {
                call: CALL,
                reason: "a graph holds this memory".into(),
                hint: "drop the graph first",
            })));
        }
        let guard = self.gpu.inner.lock_order();
        allocation.check_host_access(&guard, CALL, &Access::EVERYTHING)?;
        allocation
            .range(CALL)?
            .unmap_from(&self.gpu.inner, self.len * size_of::<T>())
    }
}

whole_buffer!(
    GrowableBuffer,
    "let mut buffer = gpu.growable::<u32>(1 << 20)?;\nstream.grow_zeroed(&mut buffer, 8)?;"
);

impl<T: Pod> std::fmt::Debug for GrowableBuffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "GrowableBuffer<{}>[{} of {}] at {:?}",
            std::any::type_name::<T>(),
            self.len,
            self.capacity,
            self.as_device_ptr()
        )
    }
}

impl Stream {
    /// Lets a buffer grow to `len` elements, the new ones zero. Where it has as many already, nothing happens.
    ///
    /// # Errors
    ///
    /// More than the buffer's capacity, or than the device has memory for: the buffer is as before. The stream is being captured.
    pub fn grow_zeroed<T: Pod>(&self, buffer: &mut GrowableBuffer<T>, len: usize) -> Result<()> {
        const CALL: &str = "cuMemsetD8Async";
        if len <= buffer.len {
            return Ok(());
        }
        refuse_to_grow(self, CALL)?;
        check_same_device(
            CALL,
            ("the buffer", &buffer.gpu.inner),
            ("the stream", &self.gpu),
        )?;
        buffer.map_for(CALL, len)?;
        let old = std::mem::replace(&mut buffer.len, len);
        let new = buffer.slice_mut(old..);
        let view = new.view();
        let zeroed = match view.bytes {
            0 => Ok(()),
            _ => self.in_order(
                CALL,
                view.bytes,
                &[view.used_for(AccessKind::Write)],
                || {
                    // SAFETY: the range is mapped (`map_for`) and the buffer's; `in_order` keeps it until its last use.
                    unsafe {
                        call!(cuMemsetD8Async(
                            view.address,
                            0,
                            view.bytes,
                            self.handle.raw()
                        ))
                    }
                },
            ),
        };
        if zeroed.is_err() {
            buffer.len = old;
        }
        zeroed
    }

    /// Appends a copy of `data` to a buffer. The data is read before this returns.
    ///
    /// # Errors
    ///
    /// More than the buffer's capacity, or than the device has memory for: the buffer is as before. The stream is being captured; or
    /// something went wrong on the device before.
    pub fn extend<T: Pod>(&self, buffer: &mut GrowableBuffer<T>, data: &[T]) -> Result<()> {
        const CALL: &str = "cuMemcpyHtoDAsync";
        refuse_to_grow(self, CALL)?;
        check_same_device(
            CALL,
            ("the buffer", &buffer.gpu.inner),
            ("the stream", &self.gpu),
        )?;
        // A length beyond the address space is beyond the capacity, too.
        let len = buffer.len.saturating_add(data.len());
        buffer.map_for(CALL, len)?;
        let old = std::mem::replace(&mut buffer.len, len);
        let copied = self.upload_into(data, &mut buffer.slice_mut(old..));
        if copied.is_err() {
            buffer.len = old;
        }
        copied
    }
}

/// # Errors
///
/// The stream is being captured.
fn refuse_to_grow(stream: &Stream, call: &'static str) -> Result<()> {
    stream.handle.refuse_capture(
        call,
        "the buffer grows at once, and its new elements would have no contents before the graph is launched",
        "let it grow before the capture; inside, write the elements that are there",
    )
}

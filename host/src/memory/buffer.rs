//! Device memory that its owner allocates, uses and frees in the order of streams.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;

use super::allocation::Allocation;
use super::pool::handle::PoolHandle;
use super::size::bytes_of;
use super::slice::describe;
use super::view::DeviceRead;
use super::whole_buffer::whole_buffer;
use crate::error::Result;
use crate::stream::Stream;

/// A slice of plain values in device memory, from the device's default pool.
///
/// It is made in a stream ([`Stream::upload`], [`Stream::zeroed`]) and may be used in any: uses in different streams that conflict
/// are put in order, by events that the streams wait for and the host does not. Dropping it frees the memory in the order of the
/// streams that used it, without waiting. An empty one has no memory and is fine everywhere. One that a graph allocates
/// ([`GraphBuilder::zeroed`](crate::GraphBuilder::zeroed), and any that is made in a stream while it is captured) is for nodes of that graph: streams
/// refuse it.
///
/// There is no safe way to read uninitialised memory. The elements are plain values, whose bytes mean the same everywhere:
///
/// ```compile_fail,E0277
/// # use warpsmith_host::prelude::*;
/// # fn strings(stream: &Stream) -> Result<()> {
/// stream.upload(&[String::from("no")])?;
/// # Ok(())
/// # }
/// ```
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let (one, two) = (gpu.stream()?, gpu.stream()?);
/// let mut numbers = one.upload(&[1_u32, 2, 3, 4])?;
/// // Another stream: it waits for the upload by itself.
/// two.fill(&mut numbers.slice_mut(1..3), 7)?;
/// assert_eq!(two.download(&numbers)?, [1, 7, 7, 4]);
/// # Ok(())
/// # }
/// ```
// covers: MEM-01, POOL-05, POOL-09
pub struct DeviceBuffer<T: Pod> {
    pub(super) allocation: Option<Arc<Allocation>>,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Pod> DeviceBuffer<T> {
    /// Uninitialised.
    pub(crate) fn raw(stream: &Stream, len: usize) -> Result<DeviceBuffer<T>> {
        Self::raw_from(stream, None, len)
    }

    /// Uninitialised, from a pool of the stream's device or from its current one.
    #[inline(always)]
    pub(super) fn raw_from(
        stream: &Stream,
        pool: Option<&Arc<PoolHandle>>,
        len: usize,
    ) -> Result<DeviceBuffer<T>> {
        let bytes = bytes_of::<T>("cuMemAllocAsync", len)?;
        let allocation = match bytes {
            0 => None,
            _ if stream.handle.is_captured() => Some(Allocation::in_capture(
                stream,
                pool.map(|pool| pool.handle()),
                bytes,
            )?),
            _ => Some(Allocation::in_stream(stream, pool, bytes)?),
        };
        Ok(DeviceBuffer {
            allocation,
            len,
            of: PhantomData,
        })
    }

    /// A buffer of `len` elements that take no bytes together.
    pub(crate) fn without_memory(len: usize) -> DeviceBuffer<T> {
        DeviceBuffer {
            allocation: None,
            len,
            of: PhantomData,
        }
    }

    /// What the buffer is, if it has memory.
    pub(crate) fn into_allocation(mut self) -> Option<Arc<Allocation>> {
        self.allocation.take()
    }

    /// A buffer of `len` elements at the start of an allocation that is large enough.
    pub(crate) fn of_allocation(allocation: Arc<Allocation>, len: usize) -> DeviceBuffer<T> {
        DeviceBuffer {
            allocation: Some(allocation),
            len,
            of: PhantomData,
        }
    }
}

impl<T: Pod> Drop for DeviceBuffer<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(allocation) = self.allocation.take() {
            allocation.release();
        }
    }
}

whole_buffer!(DeviceBuffer, "let mut buffer = stream.zeroed::<u32>(8)?;");

impl<T: Pod> std::fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        describe::<T>("DeviceBuffer", &self.raw_view(), f)
    }
}

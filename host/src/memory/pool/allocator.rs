//! Buffers from a pool, in a stream.

use bytemuck::Pod;

use super::MemoryPool;
use crate::error::Result;
use crate::gpu::open_device::check_same_device;
use crate::memory::buffer::DeviceBuffer;
use crate::stream::Stream;

/// A stream that allocates from a pool: see [`Stream::alloc_from`].
#[derive(Clone, Copy, Debug)]
pub struct PoolAllocator<'a> {
    stream: &'a Stream,
    pool: &'a MemoryPool,
}

impl Stream {
    /// Allocates from this pool instead of the device's current one.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::PoolOptions;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let pool = gpu.pool(PoolOptions::default())?;
    /// let from_pool = stream.alloc_from(&pool)?;
    /// let (a, b) = (from_pool.upload(&[1, 2, 3])?, from_pool.zeroed::<f32>(100)?);
    /// # assert_eq!((a.len(), b.len()), (3, 100));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The pool is another device's.
    // covers: POOL-13
    pub fn alloc_from<'a>(&'a self, pool: &'a MemoryPool) -> Result<PoolAllocator<'a>> {
        check_same_device("cuMemAllocFromPoolAsync", &self.gpu, &pool.gpu)?;
        Ok(PoolAllocator { stream: self, pool })
    }
}

impl PoolAllocator<'_> {
    /// As [`Stream::zeroed`].
    ///
    /// # Errors
    ///
    /// The pool's limit or the device's memory is exhausted.
    pub fn zeroed<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        let buffer = self.raw(len)?;
        self.stream.zero(&buffer)?;
        Ok(buffer)
    }

    /// As [`Stream::filled`].
    ///
    /// # Errors
    ///
    /// The pool's limit or the device's memory is exhausted.
    pub fn filled<T: Pod>(&self, len: usize, value: T) -> Result<DeviceBuffer<T>> {
        let mut buffer = self.raw(len)?;
        self.stream.fill(&mut buffer, value)?;
        Ok(buffer)
    }

    /// As [`Stream::upload`].
    ///
    /// # Errors
    ///
    /// The pool's limit or the device's memory is exhausted; or something went wrong on the device before.
    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<DeviceBuffer<T>> {
        let mut buffer = self.raw(data.len())?;
        self.stream.upload_into(data, &mut buffer)?;
        Ok(buffer)
    }

    /// As [`Stream::uninit`].
    ///
    /// # Errors
    ///
    /// The pool's limit or the device's memory is exhausted.
    ///
    /// # Safety
    ///
    /// Nothing may read an element before something has written it: no download, no copy, no kernel.
    pub unsafe fn uninit<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        self.raw(len)
    }

    fn raw<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        DeviceBuffer::raw_from(self.stream, Some(self.pool.raw), len)
    }
}

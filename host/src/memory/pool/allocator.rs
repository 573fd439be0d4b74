//! How buffers are made: in a stream, from a pool.

use bytemuck::Pod;

use super::MemoryPool;
use warpsmith_driver::raw;

use crate::driver_call::check;
use crate::error::{Code, Error, Result};
use crate::gpu::open_device::check_same_device;
use crate::memory::buffer::DeviceBuffer;
use crate::memory::view::DeviceRead;
use crate::stream::Stream;
use crate::trace::track::Track;
use crate::trace::work::Work;

/// A stream that allocates from a pool: see [`Stream::alloc_from`].
#[derive(Clone, Copy, Debug)]
pub struct PoolAllocator<'a> {
    stream: &'a Stream,
    /// `None`: the current one of the device.
    pool: Option<&'a MemoryPool>,
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
        check_same_device(
            "cuMemAllocFromPoolAsync",
            ("the pool", &pool.gpu),
            ("the stream", &self.gpu),
        )?;
        Ok(PoolAllocator {
            stream: self,
            pool: Some(pool),
        })
    }

    fn alloc_from_current(&self) -> PoolAllocator<'_> {
        PoolAllocator {
            stream: self,
            pool: None,
        }
    }

    /// A buffer of zeros.
    ///
    /// In a stream that is being captured it is memory of the graph, as [`GraphBuilder::zeroed`](crate::GraphBuilder::zeroed) makes it, for the rest of the
    /// capture and the nodes of that graph: see [`Stream::capture`].
    ///
    /// # Errors
    ///
    /// The device's memory is exhausted.
    pub fn zeroed<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        self.alloc_from_current().zeroed(len)
    }

    /// A buffer of `len` times `value`.
    ///
    /// # Errors
    ///
    /// The device's memory is exhausted.
    pub fn filled<T: Pod>(&self, len: usize, value: T) -> Result<DeviceBuffer<T>> {
        self.alloc_from_current().filled(len, value)
    }

    /// A buffer with a copy of `data`. The data is read before this returns.
    ///
    /// # Errors
    ///
    /// The device's memory is exhausted, or something went wrong on the device before.
    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<DeviceBuffer<T>> {
        self.alloc_from_current().upload(data)
    }

    /// A buffer of uninitialised memory.
    ///
    /// # Errors
    ///
    /// The device's memory is exhausted.
    ///
    /// # Safety
    ///
    /// Nothing may read an element before something has written it: no download, no copy, no kernel. In a stream that is being captured, so at each
    /// launch of the graph.
    // covers: POOL-02
    #[inline]
    pub unsafe fn uninit<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        // SAFETY: the caller promises what is asked for.
        unsafe { self.alloc_from_current().uninit(len) }
    }
}

impl PoolAllocator<'_> {
    /// As [`Stream::zeroed`].
    ///
    /// # Errors
    ///
    /// The pool's limit or the device's memory is exhausted.
    pub fn zeroed<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        let mut buffer = self.raw(len)?;
        if self.stream.handle.is_captured() {
            self.stream.fill(&mut buffer, T::zeroed())?;
            return Ok(buffer);
        }
        let view = buffer.raw_view();
        if view.bytes > 0 {
            self.stream.gpu.traced(
                || Track::of(&self.stream.handle),
                || Work::call("cuMemsetD8Async", view.bytes),
                || {
                    let stream = self.stream.handle.raw();
                    // SAFETY: the range is the buffer's, and it was allocated in this stream, which `self.stream` owns; nobody else knows
                    // the buffer.
                    let code = self.stream.gpu.context().call_in_stream(stream, || unsafe {
                        raw::cuMemsetD8Async(view.address, 0, view.bytes, stream)
                    });
                    check("cuMemsetD8Async", code)
                },
            )?;
        }
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
    /// The pool's limit or the device's memory is exhausted, or something went wrong on the device before.
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
    /// Nothing may read an element before something has written it: no download, no copy, no kernel. In a stream that is being captured, so at each
    /// launch of the graph.
    #[inline]
    pub unsafe fn uninit<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        self.raw(len)
    }

    #[inline]
    fn raw<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        if let Some(pool) = self.pool.filter(|pool| pool.is_of_host()) {
            self.stream.handle.refuse_capture(
                "cuMemAllocFromPoolAsync",
                &format!("a graph has no memory at {:?}", pool.location()),
                "allocate before the capture, or from a pool of the device",
            )?;
        }
        match DeviceBuffer::raw_from(self.stream, self.pool.map(|pool| &pool.handle), len) {
            Ok(buffer) => Ok(buffer),
            Err(error) => Err(self.explain(error)),
        }
    }

    /// Says in an error for want of memory which limit the pool has.
    #[cold]
    fn explain(&self, error: Error) -> Error {
        match self.pool.and_then(|pool| pool.max_bytes) {
            Some(max_bytes) if error.code() == Some(Code::OUT_OF_MEMORY) => {
                error
                    .and_doing(|| format!("of a pool with `max_bytes` {max_bytes}"))
                    .with_hint(|| "free buffers of the pool, or make it with larger `max_bytes`; `pool.usage()` says what is in use".into())
            }
            _ => error,
        }
    }
}

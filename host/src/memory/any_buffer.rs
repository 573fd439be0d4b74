//! Memory for kernels where the device may have too little: what can be had, in the order of how fast kernels reach it.

use bytemuck::Pod;

use super::buffer::DeviceBuffer;
use super::facts::facts;
use super::pinned::MappedBuffer;
use super::unified::UnifiedBuffer;
use super::view::{DevicePointer, DeviceRead, DeviceWrite, RawView, sealed};
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::stream::Stream;

/// Memory that kernels reach, wherever it could be had ([`Stream::zeroed_anywhere`]). Kernels and copies take it like any buffer; the
/// variant says how the host gets at it, and what it costs.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::AnyBuffer;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut scratch = stream.zeroed_anywhere::<u32>(1000)?;
/// stream.fill(&mut scratch, 3)?;
/// assert_eq!(stream.download(&scratch)?, [3; 1000]);
/// assert!(matches!(scratch, AnyBuffer::Device(_)), "there was enough");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub enum AnyBuffer<T: Pod> {
    /// Device memory.
    Device(DeviceBuffer<T>),
    /// Managed memory, of which more can be had than the device has; what is used moves to it page by page.
    Unified(UnifiedBuffer<T>),
    /// Page-locked host memory, which kernels reach over the bus at each access.
    Mapped(MappedBuffer<T>),
}

impl Stream {
    /// Memory for `len` zeros: on the device; if it has too little, managed; if there is none of that either, mapped host memory
    /// (CUDA C++ Programming Guide, "Device Memory" and "Maximize Memory Throughput": a failed allocation is no failure of the context,
    /// and other kinds of memory may be had).
    ///
    /// # Errors
    ///
    /// None of the three can be had: the error is that of the device's memory and names the bytes that were asked for. Or something else
    /// failed than an allocation.
    pub fn zeroed_anywhere<T: Pod>(&self, len: usize) -> Result<AnyBuffer<T>> {
        let lacks_memory = |error: &Error| {
            matches!(
                error.code(),
                Some(Code::OUT_OF_MEMORY | Code::NOT_SUPPORTED)
            )
        };
        let on_device = match self.zeroed(len) {
            Err(error) if error.code() == Some(Code::OUT_OF_MEMORY) => error,
            other => return other.map(AnyBuffer::Device),
        };
        let gpu = Gpu::from(&self.gpu);
        match gpu.unified(len) {
            Err(error) if lacks_memory(&error) => {}
            other => return other.map(AnyBuffer::Unified),
        }
        match gpu.mapped(len) {
            Err(error) if lacks_memory(&error) => Err(on_device),
            other => other.map(AnyBuffer::Mapped),
        }
    }
}

impl<T: Pod> AnyBuffer<T> {
    /// Elements.
    pub fn len(&self) -> usize {
        self.raw_view().len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The address on the device, for unsafe kernels and foreign libraries; 0 where it is empty.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        DevicePointer::from_address(self.raw_view().address)
    }
}

facts!(
    AnyBuffer,
    "let buffer = stream.zeroed_anywhere::<u32>(8)?;",
    "buffer",
    this => this.raw_view()
);

impl<T: Pod> sealed::Sealed for AnyBuffer<T> {}

impl<T: Pod> DeviceRead for AnyBuffer<T> {
    type Item = T;

    fn raw_view(&self) -> RawView<'_> {
        match self {
            AnyBuffer::Device(buffer) => buffer.raw_view(),
            AnyBuffer::Unified(buffer) => buffer.raw_view(),
            AnyBuffer::Mapped(buffer) => buffer.raw_view(),
        }
    }
}

impl<T: Pod> DeviceWrite for AnyBuffer<T> {}

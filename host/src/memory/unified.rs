//! Unified (managed) memory: one address for host and device, which moves to where it is used.

use bytemuck::Pod;

use super::allocation::{Allocation, Attachment};
use super::host_memory::{HostMemory, HostRead, HostWrite};
use super::pinned::{device_side, host_side};
use super::size::bytes_of;
use super::view::{DeviceRead, DeviceWrite, RawView, sealed};
use crate::driver_call::call;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::order::access::Access;
use crate::stream::Stream;
use warpsmith_driver::raw;

/// Memory with one address for host and device. It starts zeroed.
///
/// Kernels take it like a [`DeviceBuffer`](crate::DeviceBuffer); the host accesses it through guards, and is refused while the device may
/// be using it. Where the device cannot share (see `Attribute::CONCURRENT_MANAGED_ACCESS`) any running kernel keeps the host out,
/// and an open guard keeps kernels from being launched.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut numbers = gpu.unified::<u32>(4)?;
/// numbers.host_mut()?[0] = 9;
/// stream.prefetch(&numbers, Location::Device)?;
/// stream.fill(&mut numbers, 3)?;
/// stream.synchronize()?;
/// assert_eq!(*numbers.host()?, [3; 4]);
/// # Ok(())
/// # }
/// ```
// covers: UM-05, UM-06
pub struct UnifiedBuffer<T: Pod> {
    pub(crate) memory: HostMemory<T>,
}

/// Which work on the device may use unified memory, for devices on which the host must stay out otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attach {
    /// Any stream (the start).
    Global,
    /// None: the host's alone.
    Host,
    /// This stream only.
    Single,
}

impl Gpu {
    /// Unified memory for `len` elements, zeroed.
    ///
    /// # Errors
    ///
    /// The device has no unified memory, or there is not enough.
    pub fn unified<T: Pod>(&self, len: usize) -> Result<UnifiedBuffer<T>> {
        let bytes = bytes_of::<T>("cuMemAllocManaged", len)?;
        let memory = if bytes == 0 {
            None
        } else {
            Some(Allocation::managed(self, bytes)?)
        };
        Ok(UnifiedBuffer {
            memory: HostMemory::new(memory, len),
        })
    }

    /// Unified memory with a copy of `values`, which the host writes: its pages are touched there first, and move to the device when that uses
    /// them. [`unified`](Self::unified) has the device write the zeros, so that the pages are there first.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let numbers = gpu.unified_from(&[1, 2, 3])?;
    /// assert_eq!(*numbers.host()?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The device has no unified memory, or there is not enough; or the device cannot share it with the host while a kernel runs, and one may
    /// ([`Error::Busy`](crate::Error::Busy)).
    pub fn unified_from<T: Pod>(&self, values: &[T]) -> Result<UnifiedBuffer<T>> {
        let len = values.len();
        let bytes = bytes_of::<T>("cuMemAllocManaged", len)?;
        if bytes == 0 || !self.inner.limits().concurrent_managed {
            let mut buffer = self.unified(len)?;
            buffer.host_mut()?.copy_from_slice(values);
            return Ok(buffer);
        }
        let memory = Allocation::managed_uninit(self, bytes)?;
        // SAFETY: the memory was allocated with `bytes` bytes, those of `values`, at a multiple of 256, to which `bytes_of` holds the alignment
        // of `T`; nobody else knows it, and this device lets the host touch managed memory at any time.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), memory.pointer.cast(), len) };
        Ok(UnifiedBuffer {
            memory: HostMemory::new(Some(memory), len),
        })
    }
}

host_side!(UnifiedBuffer, "UnifiedBuffer");
device_side!(UnifiedBuffer, "let mut buffer = gpu.unified::<u32>(8)?;");

impl<T: Pod> UnifiedBuffer<T> {
    /// Says which work on the device may use the memory from here on in `stream`. The stream is waited for, because that is when it
    /// takes effect. On a device that cannot share memory with the host ([`Attribute::CONCURRENT_MANAGED_ACCESS`](crate::Attribute) is
    /// 0) memory that is attached to a stream keeps that stream, since the end of the stream would end the attachment, and the host is
    /// kept out of memory that is attached to none while any kernel runs (CUDA C++ Programming Guide, "Coherency and Concurrency").
    ///
    /// # Errors
    ///
    /// The memory is in use.
    pub fn attach(&mut self, stream: &Stream, attach: Attach) -> Result<()> {
        let Some(allocation) = &self.memory.allocation else {
            return Ok(());
        };
        allocation.check_gpu("cuStreamAttachMemAsync", stream)?;
        stream.handle.refuse_capture(
            "cuStreamAttachMemAsync",
            "no node of a graph attaches memory",
            "attach it before the capture",
        )?;
        allocation.gpu.bind()?;
        let flags = match attach {
            Attach::Global => raw::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL,
            Attach::Host => raw::CUmemAttach_flags::CU_MEM_ATTACH_HOST,
            Attach::Single => raw::CUmemAttach_flags::CU_MEM_ATTACH_SINGLE,
        };
        {
            let guard = allocation.gpu.lock_order();
            allocation.check_host_access(&guard, "UnifiedBuffer::attach", &Access::EVERYTHING)?;
            // SAFETY: the base is the allocation's, which `self` keeps alive; a length of 0 means all of it. The check above found it idle.
            unsafe {
                call!(cuStreamAttachMemAsync(
                    stream.handle.raw(),
                    allocation.base(),
                    0,
                    flags.0
                ))
            }?;
            if !allocation.gpu.limits().concurrent_managed {
                let attachment = match attach {
                    Attach::Global => Attachment::Everywhere,
                    Attach::Host => Attachment::HostOnly,
                    Attach::Single => Attachment::OneStream(stream.handle.clone()),
                };
                allocation.attach(&guard, attachment);
            }
        }
        stream.synchronize()
    }
}

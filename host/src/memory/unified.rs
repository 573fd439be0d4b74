//! Unified (managed) memory: one address for host and device, which moves to where it is used.

use bytemuck::Pod;

use super::allocation::{Allocation, Attachment};
use super::host_memory::{HostMemory, HostRead, HostWrite};
use super::pinned::{device_side, host_side};
use super::size::bytes_of;
use super::view::{DevicePointer, DeviceRead, DeviceWrite, RawView, sealed};
use crate::driver_call::call;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::order::access::{AccessKind, ViewScope};
use crate::stream::Stream;
use crate::trace::track::Track;
use crate::trace::work::Work;
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

/// Where memory should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    /// In the device's memory.
    Device,
    /// In the host's memory.
    Host,
}

/// How memory will be used. Advice never changes results.
// covers: UM-22
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advice {
    /// Mostly read, so copies on each side are worth it.
    ReadMostly,
    /// Takes [`ReadMostly`](Self::ReadMostly) back.
    NotReadMostly,
    /// Should stay here.
    Prefer(Location),
    /// Takes [`Prefer`](Self::Prefer) back.
    PreferNothing,
    /// Will be reached from here, so it should be mapped.
    AccessedBy(Location),
    /// Takes [`AccessedBy`](Self::AccessedBy) back.
    NotAccessedBy(Location),
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
}

host_side!(UnifiedBuffer, "UnifiedBuffer");
device_side!(UnifiedBuffer);

impl<T: Pod> UnifiedBuffer<T> {
    /// Tells the driver how the memory will be used.
    pub fn advise(&self, advice: Advice) -> Result<()> {
        let Some(allocation) = &self.memory.allocation else {
            return Ok(());
        };
        let gpu = &allocation.gpu;
        let device_of = |location| match location {
            Location::Device => gpu.context().device,
            Location::Host => raw::CU_DEVICE_CPU,
        };
        let (advice, device) = match advice {
            Advice::ReadMostly => (
                raw::CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY,
                gpu.context().device,
            ),
            Advice::NotReadMostly => (
                raw::CUmem_advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY,
                gpu.context().device,
            ),
            Advice::Prefer(location) => (
                raw::CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                device_of(location),
            ),
            Advice::PreferNothing => (
                raw::CUmem_advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
                gpu.context().device,
            ),
            Advice::AccessedBy(location) => (
                raw::CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY,
                device_of(location),
            ),
            Advice::NotAccessedBy(location) => (
                raw::CUmem_advise::CU_MEM_ADVISE_UNSET_ACCESSED_BY,
                device_of(location),
            ),
        };
        gpu.bind()?;
        // SAFETY: the range is the allocation's, which `self` keeps alive; advice changes no contents.
        unsafe {
            call!(cuMemAdvise(
                allocation.base(),
                allocation.bytes(),
                advice,
                device
            ))
        }
    }

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
        stream.handle.refuse_capture("cuStreamAttachMemAsync")?;
        allocation.gpu.bind()?;
        let flags = match attach {
            Attach::Global => raw::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL,
            Attach::Host => raw::CUmemAttach_flags::CU_MEM_ATTACH_HOST,
            Attach::Single => raw::CUmemAttach_flags::CU_MEM_ATTACH_SINGLE,
        };
        {
            let guard = allocation.gpu.lock_order();
            allocation.check_host_access(&guard, "UnifiedBuffer::attach", AccessKind::Write)?;
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

impl Stream {
    /// Moves unified memory to where it will be used next, after the earlier work of this stream and before the later.
    // covers: UM-21
    pub fn prefetch<T: Pod>(&self, buffer: &UnifiedBuffer<T>, to: Location) -> Result<()> {
        let Some(allocation) = &buffer.memory.allocation else {
            return Ok(());
        };
        allocation.check_gpu("cuMemPrefetchAsync", self)?;
        self.handle.refuse_capture("cuMemPrefetchAsync")?;
        allocation.gpu.bind()?;
        let device = match to {
            Location::Device => allocation.gpu.context().device,
            Location::Host => raw::CU_DEVICE_CPU,
        };
        let guard = allocation.gpu.lock_order();
        let launch = self.handle.timeline().next();
        let access = buffer.raw_view().access(AccessKind::Read);
        allocation.order_use_or_capture(
            &guard,
            &self.handle,
            &launch,
            access,
            ViewScope::Shared,
        )?;
        allocation.gpu.traced(
            Track::of(&self.handle),
            || Work::call("cuMemPrefetchAsync", allocation.bytes()),
            // SAFETY: the range is the allocation's, which the order of its uses keeps alive until the stream has done this; moving it
            // changes no contents.
            || unsafe {
                call!(cuMemPrefetchAsync(
                    allocation.base(),
                    allocation.bytes(),
                    device,
                    self.handle.raw()
                ))
            },
        )
    }
}

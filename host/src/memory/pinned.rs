//! Page-locked host memory: for copies that overlap kernels, and mapped for kernels themselves.

use bytemuck::Pod;

use super::allocation::Allocation;
use super::facts::facts;
use super::host_block::HostMapping;
use super::host_memory::{HostMemory, HostRead, HostWrite};
use super::pinned_slice::page_locked;
use super::size::bytes_of;
use super::view::{DeviceRead, DeviceWrite, RawView, sealed};
use crate::error::Result;
use crate::gpu::Gpu;

/// Page-locked host memory, the host's side of copies that overlap kernels
/// ([`Stream::copy_from_host`](crate::Stream::copy_from_host), [`Stream::copy_to_host`](crate::Stream::copy_to_host)).
/// It starts zeroed.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut numbers = gpu.pinned::<u32>(3)?;
/// numbers.host_mut()?.copy_from_slice(&[1, 2, 3]);
/// let mut buffer = stream.zeroed::<u32>(3)?;
/// stream.copy_from_host(&numbers, &mut buffer)?;   // returns at once
/// stream.copy_to_host(&buffer, &mut numbers)?;
/// stream.synchronize()?;                           // until here the host is kept out
/// assert_eq!(*numbers.host()?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
// covers: PINNED-01
pub struct PinnedBuffer<T: Pod> {
    pub(crate) memory: HostMemory<T>,
}

/// Page-locked host memory that kernels reach over the bus ("zero copy"). It starts zeroed.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut flags = gpu.mapped::<u32>(4)?;
/// stream.fill(&mut flags, 5)?;      // a kernel would take `&mut flags` just so
/// stream.synchronize()?;
/// assert_eq!(*flags.host()?, [5; 4]);
/// # Ok(())
/// # }
/// ```
// covers: PINNED-05, PINNED-06
pub struct MappedBuffer<T: Pod> {
    pub(crate) memory: HostMemory<T>,
}

impl Gpu {
    /// Page-locked host memory for `len` elements, zeroed.
    pub fn pinned<T: Pod>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        let memory = page_locked_memory(self, "cuMemAllocHost", len, HostMapping::CopiesOnly)?;
        Ok(PinnedBuffer { memory })
    }

    /// Page-locked host memory with a copy of `values`.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// # let stream = gpu.stream()?;
    /// let input = gpu.pinned_from(&[1.5_f32, 2.5])?;
    /// let mut numbers = stream.zeroed::<f32>(2)?;
    /// stream.copy_from_host(&input, &mut numbers)?;
    /// assert_eq!(stream.download(&numbers)?, [1.5, 2.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// There is not enough memory, or the system locks no more of it.
    pub fn pinned_from<T: Pod>(&self, values: &[T]) -> Result<PinnedBuffer<T>> {
        let mut copy = self.pinned(values.len())?;
        copy.host_mut()?.copy_from_slice(values);
        Ok(copy)
    }

    /// Page-locked host memory for `len` elements that kernels can reach, zeroed.
    pub fn mapped<T: Pod>(&self, len: usize) -> Result<MappedBuffer<T>> {
        let memory = page_locked_memory(self, "cuMemHostAlloc", len, HostMapping::Mapped)?;
        Ok(MappedBuffer { memory })
    }

    /// Page-locked host memory with a copy of `values` that kernels can reach.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// assert_eq!(*gpu.mapped_from(&[7_u32; 4])?.host()?, [7; 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// There is not enough memory, or the system locks no more of it.
    pub fn mapped_from<T: Pod>(&self, values: &[T]) -> Result<MappedBuffer<T>> {
        let mut copy = self.mapped(values.len())?;
        copy.host_mut()?.copy_from_slice(values);
        Ok(copy)
    }
}

/// Page-locked memory for `len` elements, zeroed; none for none.
pub(super) fn page_locked_memory<T: Pod>(
    gpu: &Gpu,
    call: &'static str,
    len: usize,
    mapping: HostMapping,
) -> Result<HostMemory<T>> {
    let memory = match bytes_of::<T>(call, len)? {
        0 => None,
        bytes => Some(Allocation::page_locked(gpu, bytes, mapping)?),
    };
    Ok(HostMemory::new(memory, len))
}

/// How long memory of the host is, and how it shows itself.
macro_rules! host_length {
    ($name:ident, $what:literal) => {
        impl<T: Pod> $name<T> {
            /// Elements.
            pub fn len(&self) -> usize {
                self.memory.len()
            }

            /// Whether it has no elements.
            pub fn is_empty(&self) -> bool {
                self.memory.len() == 0
            }
        }

        impl<T: Pod> std::fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(
                    f,
                    "{}<{}>[{}]",
                    $what,
                    std::any::type_name::<T>(),
                    self.len()
                )
            }
        }
    };
}
pub(super) use host_length;

/// The host's side of the kinds that it reads and writes.
macro_rules! host_side {
    ($name:ident, $what:literal) => {
        $crate::memory::pinned::host_length!($name, $what);

        impl<T: Pod> $name<T> {
            /// The memory for the host to read.
            ///
            /// # Errors
            ///
            /// [`Error::Busy`](crate::Error::Busy) while the device may be writing it: wait for the stream first.
            pub fn host(&self) -> Result<HostRead<'_, T>> {
                self.memory.read(concat!($what, "::host"))
            }

            /// The memory for the host to write.
            ///
            /// # Errors
            ///
            /// [`Error::Busy`](crate::Error::Busy) while the device may be using it: wait for the stream first.
            pub fn host_mut(&mut self) -> Result<HostWrite<'_, T>> {
                self.memory.write(concat!($what, "::host_mut"))
            }
        }
    };
}
pub(super) use host_side;

/// The device's side of mapped, registered and unified memory; `$eight` is that of `parts_on_device`.
macro_rules! device_side {
    ($name:ident, $eight:literal) => {
        $crate::memory::whole_buffer::parts_on_device!($name, $eight);

        impl<T: Pod> sealed::Sealed for $name<T> {}

        impl<T: Pod> DeviceRead for $name<T> {
            type Item = T;

            fn raw_view(&self) -> RawView<'_> {
                self.memory.view()
            }
        }

        impl<T: Pod> DeviceWrite for $name<T> {}
    };
}
pub(super) use device_side;

host_side!(PinnedBuffer, "PinnedBuffer");
host_side!(MappedBuffer, "MappedBuffer");
device_side!(MappedBuffer, "let mut buffer = gpu.mapped::<u32>(8)?;");
page_locked!(MappedBuffer, pinned_slice, pinned_slice_mut);

facts!(
    PinnedBuffer,
    "let buffer = gpu.pinned::<u32>(8)?;",
    "buffer",
    this => this.memory.view()
);

impl<T: Pod> sealed::Sealed for PinnedBuffer<T> {}
page_locked!(PinnedBuffer, slice, slice_mut);

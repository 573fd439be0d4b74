//! Page-locked host memory that the processor does not cache: for data that goes to the device and is not read on the host.

use bytemuck::Pod;

use super::facts::facts;
use super::host_block::HostMapping;
use super::host_memory::{HostMemory, HostWrite};
use super::pinned::{host_length, page_locked_memory};
use super::pinned_slice::page_locked;
use super::view::{DevicePointer, DeviceRead, RawView, sealed};
use crate::error::Result;
use crate::gpu::Gpu;

/// Write-combined host memory: the host writes it, kernels and copies read it. It starts zeroed.
///
/// The processor collects writes and sends them past its caches, so that the bus need not ask the caches when the device reads: up to 40 %
/// more bandwidth (CUDA C++ Programming Guide, "Write-Combining Memory"). A read by the host is slow beyond all measure, and atomic
/// operations of the host may not be atomic there: so the host gets no slice of it, only what writes.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut frame = gpu.write_combined::<u32>(4)?;
/// frame.host_mut()?.copy_from_slice(0, &[1, 2, 3]);
/// let on_device = stream.duplicate(&frame)?;       // returns at once
/// assert_eq!(stream.download(&on_device)?, [1, 2, 3, 0]);
/// frame.host_mut()?.set(3, 4);
/// assert_eq!(frame.read_slowly()?, [1, 2, 3, 4]);
/// # Ok(())
/// # }
/// ```
// covers: PINNED-04
pub struct WriteCombinedBuffer<T: Pod> {
    memory: HostMemory<T>,
}

/// The host's access to write-combined memory: writes alone. Those to neighbouring elements, in their order, are sent together.
pub struct CombinedWrite<'a, T: Pod> {
    values: HostWrite<'a, T>,
}

impl Gpu {
    /// Write-combined host memory for `len` elements, zeroed.
    pub fn write_combined<T: Pod>(&self, len: usize) -> Result<WriteCombinedBuffer<T>> {
        let memory = page_locked_memory(self, "cuMemHostAlloc", len, HostMapping::WriteCombined)?;
        Ok(WriteCombinedBuffer { memory })
    }
}

impl<T: Pod> WriteCombinedBuffer<T> {
    /// The memory for the host to write.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`](crate::Error::Busy) while the device may be reading it: wait for the stream first.
    pub fn host_mut(&mut self) -> Result<CombinedWrite<'_, T>> {
        let values = self.memory.write("WriteCombinedBuffer::host_mut")?;
        Ok(CombinedWrite { values })
    }

    /// A copy of what it holds, for a test or a message: each read goes to memory by itself, and may take a hundred times as long as one
    /// of other memory.
    ///
    /// # Errors
    ///
    /// None now; that of [`PinnedBuffer::host`](crate::PinnedBuffer::host), if something on the device is ever to write it.
    pub fn read_slowly(&self) -> Result<Vec<T>> {
        Ok(self
            .memory
            .read("WriteCombinedBuffer::read_slowly")?
            .to_vec())
    }

    /// The address on the device, for unsafe kernels and foreign libraries; 0 where it is empty. It need not be the host's.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        DevicePointer::from_address(self.memory.view().address)
    }
}

impl<T: Pod> CombinedWrite<'_, T> {
    /// Elements.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Sets an element.
    ///
    /// # Panics
    ///
    /// There is no element `index`.
    pub fn set(&mut self, index: usize, value: T) {
        self.values[index] = value;
    }

    /// Sets the elements from `start` on.
    ///
    /// # Panics
    ///
    /// They do not fit.
    pub fn copy_from_slice(&mut self, start: usize, values: &[T]) {
        self.values[start..start + values.len()].copy_from_slice(values);
    }

    /// Sets all elements.
    pub fn fill(&mut self, value: T) {
        self.values.fill(value);
    }
}

host_length!(WriteCombinedBuffer, "WriteCombinedBuffer");
page_locked!(read WriteCombinedBuffer);
facts!(
    WriteCombinedBuffer,
    "let buffer = gpu.write_combined::<u32>(8)?;",
    "buffer",
    this => this.memory.view()
);

impl<T: Pod> sealed::Sealed for WriteCombinedBuffer<T> {}

impl<T: Pod> DeviceRead for WriteCombinedBuffer<T> {
    type Item = T;

    fn raw_view(&self) -> RawView<'_> {
        self.memory.view()
    }
}

impl<T: Pod> std::fmt::Debug for CombinedWrite<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "CombinedWrite<{}>[{}]",
            std::any::type_name::<T>(),
            self.len()
        )
    }
}

//! Device memory that other processes open by a handle.

use bytemuck::Pod;
use warpsmith_driver::raw;

use super::allocation::Allocation;
use super::buffer::DeviceBuffer;
use super::size::bytes_of;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::interprocess::MemoryHandle;

/// A driver may give small allocations one block, and exports the whole of it. Memory that fills blocks of this size shares none.
const BLOCK: usize = 2 << 20;

impl Gpu {
    /// A zeroed buffer that other processes can open ([`DeviceBuffer::export_handle`]). It takes whole blocks of 2 MiB, so that a handle shows
    /// them nothing else of this process.
    ///
    /// It comes from no pool: making it waits for its zeros, and it is freed at a later wait of this process, when the device is idle.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let mut batch = gpu.exportable::<f32>(1000)?;
    /// stream.fill(&mut batch, 1.0)?;
    /// stream.synchronize()?;
    /// let bytes = batch.export_handle()?.to_bytes();      // for another process
    /// # let _ = bytes;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The device has not so much memory.
    // covers: IPC-03
    pub fn exportable<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        const CALL: &str = "cuMemAlloc";
        let bytes = bytes_of::<T>(CALL, len)?;
        if bytes == 0 {
            return Ok(DeviceBuffer::without_memory(len));
        }
        let whole = bytes.checked_next_multiple_of(BLOCK).ok_or_else(|| {
            Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!("{bytes} bytes, rounded up to blocks of 2 MiB"),
                "the size must fit into an address space",
            )
        })?;
        let allocation = Allocation::exportable(&self.inner, whole)?;
        Ok(DeviceBuffer::of_allocation(allocation, len))
    }

    /// A buffer that another process has exported, of `len` elements. It has an address of its own here; dropping it closes it some time
    /// after its last use, and leaves it to its owner.
    ///
    /// # Errors
    ///
    /// The bytes are no handle, its owner has freed the memory or has ended, the handle is one of this very process, or the memory is
    /// smaller.
    ///
    /// # Safety
    ///
    /// - The handle comes from [`DeviceBuffer::export_handle`], and the owner keeps the buffer until the work of this process on it is done and
    ///   the buffer that this returns is dropped.
    /// - What this process does with the memory and what its owner and others do is put in order by all of them: where one of them
    ///   writes, the one's use has completed before the other's begins. Events that both have ([`Gpu::event_interprocess`]) do that, or messages
    ///   after waits. Of one handle that is opened twice in one process this holds for each of the two buffers.
    ///
    /// No `unsafe` of this process guards against what the other one does: a process that can open the memory can write it.
    // covers: IPC-01
    pub unsafe fn open_buffer<T: Pod>(
        &self,
        handle: MemoryHandle,
        len: usize,
    ) -> Result<DeviceBuffer<T>> {
        const CALL: &str = "cuIpcOpenMemHandle";
        let bytes = bytes_of::<T>(CALL, len)?;
        if bytes == 0 {
            return Ok(DeviceBuffer::without_memory(len));
        }
        let allocation = Allocation::opened(&self.inner, handle.to_driver())?;
        if bytes > allocation.bytes() {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!(
                    "{len} elements take {bytes} bytes, the memory has {}",
                    allocation.bytes()
                ),
                "open as many elements as the owner has exported",
            ));
        }
        Ok(DeviceBuffer::of_allocation(allocation, len))
    }
}

impl<T: Pod> DeviceBuffer<T> {
    /// The handle by which other processes open the buffer ([`Gpu::open_buffer`]), the same each time.
    ///
    /// # Errors
    ///
    /// The buffer is empty, or not made by [`Gpu::exportable`].
    // covers: IPC-01, UM-15
    pub fn export_handle(&self) -> Result<MemoryHandle> {
        const HINT: &str = "make it by `gpu.exportable`";
        let Some(allocation) = self
            .allocation
            .as_ref()
            .filter(|known| known.is_exportable())
        else {
            return Err(Error::misuse(
                "cuIpcGetMemHandle",
                Code::INVALID_VALUE,
                "the buffer has no memory of its own that other processes can open",
                HINT,
            ));
        };
        allocation.gpu.bind()?;
        let mut handle = raw::CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: the driver writes the handle to `handle`, which outlives the call; the address is the allocation's, which `self` keeps.
        unsafe { call!(cuIpcGetMemHandle(&mut handle, allocation.base())) }?;
        Ok(MemoryHandle::of_driver(handle))
    }
}

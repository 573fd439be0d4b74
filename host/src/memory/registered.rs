//! Host memory that was there before: page-locked and mapped where it is.

use std::alloc::Layout;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use bytemuck::Pod;

use super::allocation::Allocation;
use super::host_block::HostBlock;
use super::host_memory::{HostMemory, HostRead, HostWrite};
use super::pinned::{device_side, host_side};
use super::pinned_slice::page_locked;
use super::size::bytes_of;
use super::view::{DeviceRead, DeviceWrite, RawView, sealed};
use crate::error::{Busy, Error, Result};
use crate::gpu::Gpu;

/// A `Vec` that was page-locked where it lies and mapped for kernels (`cuMemHostRegister`). Nothing is copied; kernels reach it over the
/// bus, as they do a [`MappedBuffer`](crate::MappedBuffer).
///
/// It owns the memory, which neither moves nor ends while the device may use it, whether the buffer is dropped or forgotten.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let samples = vec![3_u32; 1000];                 // of another library, say
/// let mut samples = gpu.register(samples)?;
/// let doubled = stream.duplicate(&samples)?;       // a kernel would take `&samples` just so
/// stream.fill(&mut samples, 4)?;
/// stream.synchronize()?;
/// assert_eq!(*samples.host()?, [4; 1000]);
/// assert_eq!(stream.download(&doubled)?, [3; 1000]);
/// # Ok(())
/// # }
/// ```
// covers: PINNED-02
pub struct RegisteredBuffer<T: Pod> {
    memory: HostMemory<T>,
}

impl Gpu {
    /// Page-locks the memory of `values` and maps it for kernels. Locking goes page by page and costs more than an allocation: it is for
    /// memory that is used often, or that something else has allocated.
    ///
    /// # Errors
    ///
    /// The driver does not take it, because another part of its pages is registered already, for example. `values` is dropped then.
    pub fn register<T: Pod>(&self, values: Vec<T>) -> Result<RegisteredBuffer<T>> {
        let len = values.len();
        let bytes = bytes_of::<T>("cuMemHostRegister", len)?;
        if bytes == 0 {
            return Ok(RegisteredBuffer {
                memory: HostMemory::new(None, len),
            });
        }
        let mut values = ManuallyDrop::new(values);
        let host = values.as_mut_ptr().cast();
        let layout = Layout::array::<T>(values.capacity())
            .expect("a `Vec` has no more memory than a layout can say");
        // SAFETY: a `Vec` has its memory from Rust's allocator with this layout, of at least its length, so at least `bytes` bytes.
        let registered = unsafe { HostBlock::register(&self.inner, host, bytes, layout) };
        let block = registered.inspect_err(|_| {
            // SAFETY: the values were not dropped, nobody else owns them since they were not registered, and they are not used again.
            unsafe { ManuallyDrop::drop(&mut values) };
        })?;
        Ok(RegisteredBuffer {
            memory: HostMemory::new(Some(Allocation::of_block(&self.inner, block)), len),
        })
    }
}

impl<T: Pod> RegisteredBuffer<T> {
    /// Unregisters the memory and gives it back as the `Vec` that it was, without a copy. The buffer is empty from then on.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] while the device may be using the memory, or a graph may use it again: nothing has changed then.
    pub fn take(&mut self) -> Result<Vec<T>> {
        const CALL: &str = "RegisteredBuffer::take";
        let len = self.memory.len();
        // Given only when the device is done with it.
        drop(self.memory.write(CALL)?);
        let Some(allocation) = self.memory.allocation.take() else {
            self.memory = HostMemory::new(None, 0);
            return Ok(vec![T::zeroed(); len]);
        };
        let allocation = Arc::try_unwrap(allocation).map_err(|shared| {
            self.memory.allocation = Some(shared);
            Error::Busy(Box::new(Busy {
                call: CALL,
                reason: "a graph uses this memory".into(),
                hint: "drop the graph and what was instantiated of it first",
            }))
        })?;
        self.memory = HostMemory::new(None, 0);
        let (host, layout) = allocation.unregister()?;
        let capacity = layout.size() / size_of::<T>();
        // SAFETY: the memory was a `Vec<T>` of this capacity (`Gpu::register`), whose first `len` values are initialised: plain ones, which
        // the device may have changed to others. Neither the device nor the allocation has it any more.
        Ok(unsafe { Vec::from_raw_parts(host.cast(), len, capacity) })
    }
}

host_side!(RegisteredBuffer, "RegisteredBuffer");
device_side!(
    RegisteredBuffer,
    "let mut buffer = gpu.register(vec![0_u32; 8])?;"
);
page_locked!(RegisteredBuffer, pinned_slice, pinned_slice_mut);

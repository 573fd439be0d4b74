//! Memory that another library owns as a buffer, by its address.

use std::any::Any;

use bytemuck::Pod;
use warpsmith_driver::raw::{self, CUpointer_attribute};

use super::allocation::Allocation;
use super::buffer::DeviceBuffer;
use super::size::bytes_of;
use super::view::DevicePointer;
use crate::context::keeper::Keeper;
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::error::{Code, Error, Refused, Result};
use crate::reclaim::{FreeCost, Reclaim};
use crate::stream::Stream;

const CALL: &str = "Stream::adopt";

impl Stream {
    /// Memory of another library (`cudarc`, a library of CUDA's, raw calls of the driver) as a buffer, without a copy: usable in this stream
    /// from here on, and in others after it. When the buffer was dropped and its last use is done, `keeper` is dropped, by some later wait or
    /// allocation of this process, in any thread. So `keeper` is the memory's owner, or a share of it (an `Arc`); what must be had back
    /// is shared.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use warpsmith_driver::raw;
    /// use warpsmith_host::prelude::*;
    ///
    /// /// Memory of another library.
    /// struct Theirs(u64);
    ///
    /// impl Drop for Theirs {
    ///     fn drop(&mut self) {
    ///         // SAFETY: `cuMemAlloc` gave the memory, which nobody uses any more.
    ///         assert_eq!(unsafe { raw::cuMemFree_v2(self.0) }.0, 0);
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// gpu.make_current()?;
    /// let mut address = 0;
    /// // SAFETY: the driver writes the address of 4096 bytes to `address`.
    /// assert_eq!(unsafe { raw::cuMemAlloc_v2(&mut address, 4096) }.0, 0);
    /// let theirs = Theirs(address);
    ///
    /// // SAFETY: the memory has 1024 words, is not used by anybody else, and is freed by `theirs` alone. It is written before it is read.
    /// let mut words = unsafe { stream.adopt::<u32, _>(DevicePointer::from_address(address), 1024, theirs)? };
    /// stream.fill(&mut words, 7)?;
    /// assert_eq!(stream.download(&words)?[1023], 7);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A keeper that owns a [`Gpu`](crate::Gpu), or what was made from one, keeps the device open until it is dropped, at the next wait of
    /// another owner of the device, and leaks if there is none.
    ///
    /// # Errors
    ///
    /// The driver knows no memory at the address that the device reaches, the address is not aligned for such elements, or the stream is being
    /// captured. The keeper comes back.
    ///
    /// # Safety
    ///
    /// - The `len` elements at the address are of one piece of memory that the device of this stream reaches, and it exists until `keeper` is dropped.
    /// - No element is read before something has written it that this stream comes after: what the other library has enqueued elsewhere is waited for by
    ///   an event ([`Stream::wait_raw_event`]), or by the host.
    /// - Nobody else uses the memory as long as the buffer or its work exists, but in an order that the program sees to.
    pub unsafe fn adopt<T: Pod, K: Any + Send>(
        &self,
        memory: DevicePointer<T>,
        len: usize,
        keeper: K,
    ) -> Result<DeviceBuffer<T>, Refused<K>> {
        match self.place_of(memory, len) {
            Ok(0) => Ok(DeviceBuffer::without_memory(len)),
            Ok(bytes) => {
                let kept = KeptMemory::new(bytes, keeper);
                let allocation =
                    Allocation::foreign_in(self, memory.address(), bytes, Box::new(kept));
                Ok(DeviceBuffer::of_allocation(allocation, len))
            }
            Err(error) => Err(Refused::new(error, keeper)),
        }
    }

    /// How many bytes a buffer there has.
    fn place_of<T: Pod>(&self, memory: DevicePointer<T>, len: usize) -> Result<usize> {
        self.handle.refuse_capture(
            CALL,
            "memory is adopted once, and not at each launch of the graph",
            "adopt it before the capture, and use the buffer inside",
        )?;
        let bytes = bytes_of::<T>(CALL, len)?;
        if bytes == 0 {
            return Ok(0);
        }
        let address = memory.address();
        if !address.is_multiple_of(align_of::<T>() as u64) {
            return Err(Error::misuse(
                CALL,
                Code::MISALIGNED_ADDRESS,
                format!(
                    "{address:#x} is no place for elements that are aligned to {} bytes",
                    align_of::<T>()
                ),
                "give the address of the first element",
            ));
        }
        let on_device = device_address(self, address)?;
        if on_device != address {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!(
                    "{address:#x} is the host's address of memory that the device reaches at {on_device:#x}"
                ),
                "give the device's address (`cuMemHostGetDevicePointer`)",
            ));
        }
        Ok(bytes)
    }
}

/// Where the device reaches memory of this address.
///
/// # Errors
///
/// The driver knows no such memory, or the device does not reach it.
pub(crate) fn device_address(stream: &Stream, address: u64) -> Result<u64> {
    stream.gpu.bind()?;
    let mut on_device: raw::CUdeviceptr = 0;
    // SAFETY: for this attribute the driver writes one address to `on_device`, which outlives the call; it looks at any address.
    unsafe {
        call!(cuPointerGetAttribute(
            (&raw mut on_device).cast(),
            CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
            address
        ))
    }
    .map_err(|error| {
        error
            .while_doing(|| {
                format!("memory at {address:#x}: the driver knows of none there that the device reaches")
            })
            .with_hint_for(Code::INVALID_VALUE, || {
                "give the address of memory that is alive and that this device's driver has allocated, mapped or registered".into()
            })
    })?;
    Ok(on_device)
}

/// Memory that a buffer has of its owner, until it is not used any more.
pub(crate) struct KeptMemory {
    bytes: usize,
    keeper: Keeper,
}

impl KeptMemory {
    pub(crate) fn new(bytes: usize, keeper: impl Any + Send) -> KeptMemory {
        KeptMemory {
            bytes,
            keeper: Keeper::new(keeper),
        }
    }
}

impl Reclaim for KeptMemory {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn free_cost(&self) -> FreeCost {
        FreeCost::None
    }

    fn free(self: Box<Self>, context: &Context) -> Result<()> {
        self.keeper.give_up(context)
    }
}

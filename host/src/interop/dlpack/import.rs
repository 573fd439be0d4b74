//! Tensors of other libraries as buffers.

use super::element::{Device, Element};
use super::export::compact_strides;
use super::tensor::Tensor;
use crate::error::{Code, Error, Refused, Result};
use crate::memory::DeviceBuffer;
use crate::memory::adopted::{KeptMemory, device_address};
use crate::memory::allocation::Allocation;
use crate::stream::Stream;

const CALL: &str = "Tensor::into_buffer";

impl Tensor {
    /// The tensor as a buffer, without a copy: usable in `stream` from here on, and by others after it. Its owner is told when the buffer was
    /// dropped and its last use is done, by some later wait of this process at the latest.
    ///
    /// # Errors
    ///
    /// The elements are of another type, the memory is of another device or not in reach of the device, the rows have gaps, the address is
    /// no place for such elements, the tensor is not to be written, or the stream is being captured. The tensor comes back.
    ///
    /// # Safety
    ///
    /// - The tensor describes its memory truly, and all of its elements have been written by what `stream` comes after: its producer was given
    ///   this stream (`__dlpack__(stream=...)`), or the host has waited for the producer.
    /// - Nobody else uses the memory as long as the buffer or its work exists, but in an order that the program sees to: what other views of the
    ///   tensor its producer has kept, for example.
    pub unsafe fn into_buffer<T: Element>(
        self,
        stream: &Stream,
    ) -> Result<DeviceBuffer<T>, Refused<Tensor>> {
        match self.place::<T>(stream) {
            Ok((_, 0)) => Ok(DeviceBuffer::without_memory(0)),
            Ok((base, len)) => {
                let bytes = len * size_of::<T>();
                let kept = KeptMemory::new(bytes, self);
                let allocation = Allocation::foreign_in(stream, base, bytes, Box::new(kept));
                Ok(DeviceBuffer::of_allocation(allocation, len))
            }
            Err(error) => Err(Refused::new(error, self)),
        }
    }

    /// Where the device reaches the tensor's elements, and how many there are.
    fn place<T: Element>(&self, stream: &Stream) -> Result<(u64, usize)> {
        let refuse =
            |what: String, hint: &str| Err(Error::misuse(CALL, Code::INVALID_VALUE, what, hint));
        stream.handle.refuse_capture(
            CALL,
            "the tensor is taken over once, and not at each launch of the graph",
            "import it before the capture, and use the buffer inside",
        )?;
        if self.element != T::TYPE {
            return refuse(
                format!(
                    "the tensor's elements are {}, the buffer's would be {}",
                    self.element,
                    T::TYPE
                ),
                "ask for a buffer of the tensor's type, or have the library convert it",
            );
        }
        let choice = stream.gpu.context().choice;
        let number = choice.ordinal();
        match self.device {
            Device::CudaHost => {}
            Device::Cuda(id) | Device::CudaManaged(id) if u32::try_from(id) == Ok(number) => {}
            device => {
                return refuse(
                    format!("the tensor is in {device}, the stream is of {choice}"),
                    "give a stream of the tensor's device, or have the library copy the tensor to the stream's",
                );
            }
        }
        let count = self.shape.iter().try_fold(1_usize, |count, &extent| {
            count.checked_mul(usize::try_from(extent).ok()?)
        });
        let bytes = count.and_then(|count| count.checked_mul(size_of::<T>()));
        let (Some(len), Some(_)) = (count, bytes) else {
            return refuse(
                format!(
                    "a tensor of the shape {:?} has more elements than memory",
                    self.shape
                ),
                "the library that made it does not keep to DLPack",
            );
        };
        if len == 0 {
            return Ok((0, 0));
        }
        if let Some(strides) = &self.strides {
            let compact = compact_strides(&self.shape);
            let differs = |i: usize| self.shape[i] > 1 && strides[i] != compact[i];
            if (0..strides.len()).any(differs) {
                return refuse(
                    format!(
                        "a tensor of the shape {:?} with the strides {strides:?} has gaps or another order than {compact:?}",
                        self.shape
                    ),
                    "have the library make it contiguous (`tensor.contiguous()`)",
                );
            }
        }
        if self.is_read_only {
            return refuse(
                "the tensor is not to be written, and a buffer can be".into(),
                "have the library make a copy (`__dlpack__(copy=True)`)",
            );
        }
        let address = self.address;
        if !address.is_multiple_of(align_of::<T>() as u64) {
            return refuse(
                format!(
                    "the tensor begins at {address:#x}, and {} is aligned to {} bytes",
                    T::TYPE,
                    align_of::<T>()
                ),
                "have the library copy it",
            );
        }
        Ok((device_address(stream, address)?, len))
    }
}

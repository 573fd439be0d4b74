//! Buffers that other libraries take over.

use std::sync::Arc;

use bytemuck::Pod;

use super::consumer::{CALL, Consumer};
use super::element::{Device, Element};
use super::tensor::Tensor;
use crate::driver_call::call;
use crate::driver_call::callback::run_where_the_driver_may_be_called;
use crate::driver_call::loss::unheard;
use crate::error::{Busy, Code, Error, Refused, Result};
use crate::memory::allocation::Allocation;
use crate::memory::{DeviceBuffer, DeviceRead, MappedBuffer, PinnedBuffer, UnifiedBuffer};
use crate::order::history::OrderedMemory;

/// Memory of a buffer that was handed over, freed when this is dropped.
struct Exported {
    memory: Option<Arc<Allocation>>,
    /// Whether it is freed behind the stream that the consumer works in, whose end is the last use that is known; else, behind all work.
    is_in_order: bool,
}

/// A buffer that can be handed over.
trait Export: Sized {
    /// In the device of this number.
    fn device(number: i32) -> Device;
    fn memory(&self) -> Option<&Arc<Allocation>>;
    /// Where its elements are, by the address that its consumers expect.
    fn address(&self) -> u64;
    fn elements(&self) -> usize;
    fn into_memory(self) -> Option<Arc<Allocation>>;
}

impl<T: Element> Export for DeviceBuffer<T> {
    fn device(number: i32) -> Device {
        Device::Cuda(number)
    }

    fn memory(&self) -> Option<&Arc<Allocation>> {
        self.raw_view().allocation
    }

    fn address(&self) -> u64 {
        self.raw_view().address
    }

    fn elements(&self) -> usize {
        self.raw_view().len
    }

    fn into_memory(self) -> Option<Arc<Allocation>> {
        self.into_allocation()
    }
}

macro_rules! host_buffers {
    ($($buffer:ident: $device:expr,)*) => {
        $(
            impl<T: Element> Export for $buffer<T> {
                fn device(number: i32) -> Device {
                    $device(number)
                }

                fn memory(&self) -> Option<&Arc<Allocation>> {
                    self.memory.allocation.as_ref()
                }

                fn address(&self) -> u64 {
                    self.memory.host_address()
                }

                fn elements(&self) -> usize {
                    self.memory.len()
                }

                fn into_memory(self) -> Option<Arc<Allocation>> {
                    self.memory.allocation
                }
            }
        )*
    };
}

host_buffers! {
    UnifiedBuffer: Device::CudaManaged,
    PinnedBuffer: |_| Device::CudaHost,
    MappedBuffer: |_| Device::CudaHost,
}

macro_rules! into_dlpack {
    ($($buffer:ident)*) => {
        $(
            impl<T: Pod> $buffer<T> {
                /// Hands the buffer over as a DLPack tensor of this shape, to be used in the consumer's stream, which waits for all that was
                /// done with the buffer before; the host waits for nothing. See [`dlpack`](mod@crate::interop::dlpack).
                ///
                /// # Errors
                ///
                /// The shape has another number of elements than the buffer; a graph holds the buffer, or allocates it; the stream is of
                /// another device, or is being captured. The buffer comes back.
                pub fn into_dlpack(
                    self,
                    consumer: Consumer<'_>,
                    shape: &[usize],
                ) -> Result<Tensor, Refused<Self>>
                where
                    T: Element,
                {
                    export::<T, Self>(self, consumer, shape)
                }
            }
        )*
    };
}

into_dlpack!(DeviceBuffer UnifiedBuffer PinnedBuffer MappedBuffer);

fn export<T: Element, B: Export>(
    buffer: B,
    consumer: Consumer<'_>,
    shape: &[usize],
) -> Result<Tensor, Refused<B>> {
    let described = extents(shape, buffer.elements())
        .and_then(|extents| hand_over(&buffer, consumer).map(|()| extents));
    let extents = match described {
        Ok(extents) => extents,
        Err(error) => return Err(Refused::new(error, buffer)),
    };
    let gpu = match (buffer.memory(), consumer) {
        (Some(memory), _) => Some(&memory.gpu),
        (None, Consumer::Own(stream)) => Some(&stream.gpu),
        (None, _) => None,
    };
    // Without memory it is of any device.
    let number = gpu.map_or(0, |gpu| gpu.context().choice.ordinal());
    Ok(Tensor {
        address: buffer.address(),
        device: B::device(number as i32),
        element: T::TYPE,
        strides: Some(compact_strides(&extents)),
        shape: extents,
        is_read_only: false,
        _owner: Box::new(Exported {
            memory: buffer.into_memory(),
            is_in_order: matches!(consumer, Consumer::Own(_)),
        }),
    })
}

/// The extents as DLPack has them.
///
/// # Errors
///
/// They do not have so many elements.
fn extents(shape: &[usize], elements: usize) -> Result<Vec<i64>> {
    let count = shape
        .iter()
        .try_fold(1_usize, |count, &extent| count.checked_mul(extent));
    let extents: Option<Vec<i64>> = shape
        .iter()
        .map(|&extent| i64::try_from(extent).ok())
        .collect();
    match extents {
        Some(extents) if count == Some(elements) && i32::try_from(shape.len()).is_ok() => {
            Ok(extents)
        }
        _ => Err(Error::misuse(
            CALL,
            Code::INVALID_VALUE,
            format!(
                "a tensor of the shape {shape:?} does not have the buffer's {elements} elements"
            ),
            "the product of the extents is the number of elements; no extents are one element",
        )),
    }
}

/// The strides of rows without gaps.
pub(super) fn compact_strides(extents: &[i64]) -> Vec<i64> {
    let mut strides = vec![1_i64; extents.len()];
    for i in (1..extents.len()).rev() {
        strides[i - 1] = strides[i].wrapping_mul(extents[i].max(1));
    }
    strides
}

/// Makes the consumer wait for all uses of the buffer.
///
/// # Errors
///
/// Somebody else may go on using it, or the consumer cannot wait.
fn hand_over(buffer: &impl Export, consumer: Consumer<'_>) -> Result<()> {
    let Some(memory) = buffer.memory() else {
        return Ok(());
    };
    if let Some(graph) = memory.graph_memory() {
        return Err(graph.refuse_stream(CALL));
    }
    if Arc::strong_count(memory) > 1 {
        return Err(Error::Busy(Box::new(Busy {
            call: CALL,
            reason: "a graph uses the buffer, and may be launched while another library has it"
                .into(),
            hint: "drop the graph and what was instantiated of it first, or export a copy: `stream.duplicate(&buffer)`",
        })));
    }
    consumer.follow(&memory.gpu, memory)
}

impl Drop for Exported {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else {
            return;
        };
        if self.is_in_order {
            // Freed at the end of the stream that used it last: the consumer's.
            return drop(memory);
        }
        run_where_the_driver_may_be_called(move || unheard(|| free_behind_all_work(memory)));
    }
}

/// Frees memory that streams of other libraries may use, which nobody here knows: after a wait for all of them, which would break a capture.
fn free_behind_all_work(mut memory: Arc<Allocation>) {
    let gpu = memory.gpu.clone();
    let released = Arc::get_mut(&mut memory).and_then(Allocation::take_released);
    let released = released.expect("only a buffer without another owner is exported");
    gpu.after_captures(move |gpu| {
        let waited = gpu.bind().and_then(|()| {
            // SAFETY: the call takes no arguments; it refers to the context that `bind` made current.
            unsafe { call!(cuCtxSynchronize()) }
        });
        // An error means that the context is lost: nothing runs any more.
        gpu.report_drop(waited);
        released.free(gpu);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_have_no_gaps() {
        assert_eq!(compact_strides(&[]), [0; 0]);
        assert_eq!(compact_strides(&[7]), [1]);
        assert_eq!(compact_strides(&[2, 3, 4]), [12, 4, 1]);
        assert_eq!(compact_strides(&[2, 0, 4]), [4, 4, 1]);
    }

    #[test]
    fn a_shape_has_the_elements() {
        assert_eq!(extents(&[], 1).unwrap(), [0; 0]);
        assert_eq!(extents(&[2, 3], 6).unwrap(), [2, 3]);
        assert_eq!(extents(&[0, usize::MAX >> 1], 0).unwrap()[0], 0);
        let huge = extents(&[usize::MAX, 2], 6).unwrap_err().to_string();
        assert!(huge.contains("6 elements"), "{huge}");
        assert!(extents(&[2, 3], 7).is_err() && extents(&[], 0).is_err());
    }
}

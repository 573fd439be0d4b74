//! Tensors: memory with a shape, an element type and an owner.

use std::any::Any;
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::element::{Device, ElementType};

/// Memory with a shape, a type of elements and an owner, who is told when the tensor is dropped.
///
/// ```
/// use warpsmith_host::interop::dlpack::{Consumer, Device, Tensor};
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let numbers = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let tensor = numbers.into_dlpack(Consumer::Own(&stream), &[2, 3])?;
/// assert_eq!((tensor.device(), tensor.shape()), (Device::Cuda(0), &[2, 3][..]));
///
/// // A Python module would put this pointer into a capsule of the name `dltensor_versioned`.
/// let pointer = tensor.into_raw_versioned();
///
/// // SAFETY: the pointer is a tensor's, which nobody else has.
/// let tensor = unsafe { Tensor::from_raw_versioned(pointer)? };
/// // SAFETY: its numbers are written, in this stream.
/// let same = unsafe { tensor.into_buffer::<f32>(&stream)? };
/// assert_eq!(stream.download(&same)?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub struct Tensor {
    /// Of the first element.
    pub(super) address: u64,
    pub(super) device: Device,
    pub(super) element: ElementType,
    pub(super) shape: Vec<i64>,
    /// Where rows have no gaps, there need be none.
    pub(super) strides: Option<Vec<i64>>,
    pub(super) is_read_only: bool,
    /// Where it comes from, and goes back to when this is dropped.
    pub(super) _owner: Box<dyn Any + Send + Sync>,
}

/// The owner is dropped alone.
impl UnwindSafe for Tensor {}
impl RefUnwindSafe for Tensor {}

impl Tensor {
    /// Where the memory is.
    pub fn device(&self) -> Device {
        self.device
    }

    /// What its elements are.
    pub fn element_type(&self) -> ElementType {
        self.element
    }

    /// The extents, the slowest one first. None for a single element.
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// Elements from one index to the next, one for each dimension; `None` says that rows have no gaps.
    pub fn strides(&self) -> Option<&[i64]> {
        self.strides.as_deref()
    }

    /// Whether it is not to be written.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// The address of the first element.
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Tensor<{}>{:?} in {}",
            self.element, self.shape, self.device
        )
    }
}

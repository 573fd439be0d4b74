//! DLPack: how array libraries (PyTorch, CuPy, JAX, NumPy and others) hand arrays to each other without copies.
//!
//! A [`Tensor`] is memory with a shape, an element type and an owner. A buffer becomes one by `into_dlpack`, and one becomes a buffer by
//! [`Tensor::into_buffer`]; [`Tensor::into_raw`] and [`Tensor::from_raw`] have the C structs of a Python capsule, in the form of DLPack before
//! 1.0 (`DLManagedTensor`, the capsule `dltensor`) and since then (`DLManagedTensorVersioned`, `dltensor_versioned`).
//!
//! | memory | DLPack's device | export | import |
//! | --- | --- | --- | --- |
//! | [`DeviceBuffer`](crate::DeviceBuffer) | `kDLCUDA` | yes | as a `DeviceBuffer` |
//! | [`UnifiedBuffer`](crate::UnifiedBuffer) | `kDLCUDAManaged` | yes | as a `DeviceBuffer` |
//! | [`PinnedBuffer`](crate::PinnedBuffer), [`MappedBuffer`](crate::MappedBuffer) | `kDLCUDAHost` | yes | as a `DeviceBuffer`, where the device reaches it |
//!
//! # The order of work
//!
//! Who takes memory over says in which stream it will use it ([`Consumer`], Python's `__dlpack__(stream=...)`), and who hands it over makes
//! that stream wait for what it has enqueued. So an export makes the consumer's stream wait for all uses of the buffer, and the host waits for
//! nothing. An import is the other way round: the producer was given a stream of this crate ([`Stream::as_raw`](crate::Stream::as_raw)), the same
//! that `into_buffer` is given, and the buffer is put in order with other streams from there on.
//!
//! The owner of memory is told once that nobody uses it any more: when the tensor is dropped, or the buffer made of it after its last use on the
//! device; in any thread.

mod abi;
mod consumer;
mod element;
mod export;
mod import;
mod raw;
mod tensor;

pub use abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
};
pub use consumer::{Consumer, ForeignStream};
pub use element::{Device, Element, ElementType};
pub use tensor::Tensor;

//! Memory in all its kinds.
//!
//! | type | where | host reaches it | device reaches it |
//! | --- | --- | --- | --- |
//! | [`DeviceBuffer`] | device, from the default pool | by copies | yes |
//! | [`PinnedBuffer`] | host, page-locked | by guards | by copies, which overlap kernels |
//! | [`MappedBuffer`] | host, page-locked | by guards | yes, over the bus |
//! | [`UnifiedBuffer`] | wherever it was used last | by guards | yes |
//!
//! All of them know which streams use them: what conflicts is put in order, memory is freed after its last use, and the host is
//! kept out while the device is in. None of that depends on a destructor being run: a forgotten guard or buffer leaks.

pub(crate) mod allocation;
mod buffer;
pub(crate) mod copy;
mod host;
mod matrix;
mod pinned;
mod slice;
mod unified;
pub(crate) mod view;

pub use buffer::DeviceBuffer;
pub use host::{HostRead, HostWrite};
pub(crate) use matrix::Shape;
pub use matrix::{Matrix, MatrixMut};
pub use pinned::{MappedBuffer, PinnedBuffer};
pub use slice::{DeviceSlice, DeviceSliceMut};
pub use unified::{Advice, Attach, Location, UnifiedBuffer};
pub use view::{DevicePointer, DeviceRead, DeviceWrite};

use crate::error::{Code, Error, Result};

/// The bytes of `len` elements.
pub(crate) fn bytes_of<T>(call: &'static str, len: usize) -> Result<usize> {
    let bytes = len
        .checked_mul(size_of::<T>())
        .filter(|&bytes| bytes <= isize::MAX as usize);
    bytes.ok_or_else(|| {
        Error::misuse(
            call,
            Code::OUT_OF_MEMORY,
            format!(
                "{len} elements of {} bytes are more than an address space",
                size_of::<T>()
            ),
            "look at how the length was computed",
        )
    })
}

#[cold]
pub(crate) fn length_mismatch(call: &'static str, from: usize, to: usize) -> Error {
    Error::misuse(
        call,
        Code::INVALID_VALUE,
        format!("the source has {from} elements and the destination {to}"),
        "both must have the same length: take a slice of the longer one",
    )
}

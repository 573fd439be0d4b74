//! Lengths and sizes of memory, checked.

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

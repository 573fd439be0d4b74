//! Lengths, sizes and alignments of memory, checked.

use crate::error::{Code, Error, LimitError, Result};

/// What all allocation functions of the driver align to, for the device, the host and both ("always aligned to at least 256 bytes":
/// CUDA C++ Programming Guide, "Device Memory Accesses").
pub(crate) const ALIGNMENT: usize = 256;

/// The bytes of `len` elements, for `call` to allocate.
///
/// # Errors
///
/// More than an address space has, or elements that the memory may not be aligned for.
pub(crate) fn bytes_of<T>(call: &'static str, len: usize) -> Result<usize> {
    if align_of::<T>() > ALIGNMENT {
        return Err(Error::Limit(Box::new(LimitError {
            call,
            code: Code::INVALID_VALUE,
            subject: std::any::type_name::<T>().into(),
            what: "the type's alignment in bytes",
            value: align_of::<T>() as u64,
            limit: ALIGNMENT as u64,
            hint:
                "the driver aligns memory to no more: give the type `#[repr(align(256))]` or less"
                    .into(),
        })));
    }
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
            "look at how the length was computed: a difference below zero wraps around to such numbers",
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

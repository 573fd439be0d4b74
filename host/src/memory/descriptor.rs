//! How memory leaves the process and comes into it: as file descriptors, in the form in which the driver gives and takes them.

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use warpsmith_driver::raw;

use crate::error::Result;

/// The kind of shareable handle that is a file descriptor.
pub(super) const DESCRIPTOR: raw::CUmemAllocationHandleType =
    raw::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// As what memory may leave the process that is shareable or is not.
pub(super) fn handle_type(shareable: bool) -> raw::CUmemAllocationHandleType {
    match shareable {
        true => DESCRIPTOR,
        false => raw::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
    }
}

/// The file descriptor that `export` has the driver write to the place that it is given.
///
/// # Errors
///
/// Those of `export`.
///
/// # Safety
///
/// Where `export` returns `Ok`, it has written the number of an open descriptor, as one `int`, that nothing else owns.
pub(super) unsafe fn exported(export: impl FnOnce(*mut c_void) -> Result<()>) -> Result<OwnedFd> {
    let mut number: c_int = -1;
    export((&raw mut number).cast())?;
    // SAFETY: `export` has written the number of a descriptor that nothing else owns, which the caller has promised.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// A descriptor as the driver takes it: its number, in the pointer's place.
pub(super) fn in_place_of_pointer(descriptor: BorrowedFd<'_>) -> *mut c_void {
    std::ptr::without_provenance_mut(descriptor.as_raw_fd() as usize)
}

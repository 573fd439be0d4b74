//! What is handed over as file descriptors.

use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::fcntl_getfd;

use super::entry::*;

/// Whether memory is to be handed over as a file descriptor.
pub(super) fn is_descriptor(kind: CUmemAllocationHandleType) -> bool {
    kind == CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
}

/// A descriptor that is the driver's from here on, as on a GPU, whether what it is of can be imported or not.
///
/// # Errors
///
/// Unknown if it is not open.
///
/// # Safety
///
/// The caller hands the descriptor over, if it is open.
pub(super) unsafe fn handed_over(number: RawFd) -> Result<OwnedFd> {
    // SAFETY: not negative, and one that is not open is found out by the system.
    let is_open = number >= 0 && fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) }).is_ok();
    match is_open {
        // SAFETY: it is open, and handed over by the caller's contract.
        true => Ok(unsafe { OwnedFd::from_raw_fd(number) }),
        false => Err(code::UNKNOWN),
    }
}

/// The descriptor that a caller passes in a pointer's place.
///
/// # Errors
///
/// Unknown, as a real driver answers, if it is negative. One that is not open is found out when it is used.
///
/// # Safety
///
/// The caller keeps the descriptor open for `'a`, if it is.
pub(super) unsafe fn in_place_of_pointer<'a>(handle: *mut c_void) -> Result<BorrowedFd<'a>> {
    let number = handle.addr() as RawFd;
    if number < 0 {
        return Err(code::UNKNOWN);
    }
    // SAFETY: not -1; the caller promises to keep it open, and one that is not open is found out by the system.
    Ok(unsafe { BorrowedFd::borrow_raw(number) })
}

//! Memory's shareable handles: file descriptors.

use std::os::fd::{BorrowedFd, RawFd};

use super::entry::*;

/// Whether memory is to be handed over as a file descriptor.
pub(super) fn is_descriptor(kind: CUmemAllocationHandleType) -> bool {
    kind == CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
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

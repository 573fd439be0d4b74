//! File descriptors that the driver takes over.

use std::ffi::c_int;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use crate::error::{Code, Error, Result};

/// Hands the driver a duplicate of a descriptor, by its number, since a driver closes some of those that it refuses. Where `import` fails by a
/// code that `is_unseen` knows, the driver has not looked at it.
///
/// # Errors
///
/// Those of `import`, with what it was to make; no duplicate can be made.
pub(crate) fn hand_over(
    call: &'static str,
    descriptor: &OwnedFd,
    what: &str,
    is_unseen: impl Fn(Code) -> bool,
    import: impl FnOnce(c_int) -> Result<()>,
) -> Result<()> {
    let number = descriptor.as_raw_fd();
    let duplicate = descriptor.try_clone().map_err(|error| {
        Error::misuse(
            call,
            Code::OPERATING_SYSTEM,
            format!("file descriptor {number} cannot be duplicated: {error}"),
            "close files that are not needed, or raise the limit of open files",
        )
    })?;
    let imported = import(duplicate.as_raw_fd());
    match &imported {
        Err(error) if error.code().is_some_and(is_unseen) => drop(duplicate),
        // The driver has it, or has closed it.
        _ => drop(duplicate.into_raw_fd()),
    }
    imported.map_err(|error| error.while_doing(|| format!("file descriptor {number} as {what}")))
}

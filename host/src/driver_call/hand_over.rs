//! File descriptors that the driver takes over.

use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, getrlimit};

use crate::error::{Code, Error, Result};
use crate::sync::lock;

/// Held from the making of a duplicate until it is known whose it is: no other one gets its number meanwhile.
static TURN: Mutex<()> = Mutex::new(());

/// Duplicates get numbers from here on, or from three quarters of those that the process may have: the system gives new files the lowest number
/// that is free, so nothing gets the number of a duplicate that the driver has closed.
const HIGH: u64 = 3 << 10;

/// Hands the driver a duplicate of a descriptor, by its number. The driver owns it where `import` succeeds; what it refuses it closes or
/// leaves open, by what it is (`docs/src/decisions/index.md`), so that is looked up, and what was left is closed.
///
/// # Errors
///
/// Those of `import`, with what it was to make; no duplicate can be made.
pub(crate) fn hand_over(
    call: &'static str,
    descriptor: &OwnedFd,
    what: &str,
    import: impl FnOnce(c_int) -> Result<()>,
) -> Result<()> {
    let number = descriptor.as_raw_fd();
    let _turn = lock(&TURN);
    let high = first_high();
    // Where there are no more high ones it may be any.
    let duplicate = fcntl_dupfd_cloexec(descriptor.as_fd(), high)
        .or_else(|_| fcntl_dupfd_cloexec(descriptor.as_fd(), 0));
    let duplicate = duplicate.map_err(|error| {
        Error::misuse(
            call,
            Code::OPERATING_SYSTEM,
            format!("file descriptor {number} cannot be duplicated: {error}"),
            "close files that are not needed, or raise the limit of open files",
        )
    })?;
    let imported = import(duplicate.as_raw_fd());
    match &imported {
        Err(_) if is_left_open(number, duplicate.as_raw_fd(), high) => drop(duplicate),
        // The driver has it, or has closed it; or others may have got its number.
        _ => drop(duplicate.into_raw_fd()),
    }
    imported.map_err(|error| error.while_doing(|| format!("file descriptor {number} as {what}")))
}

/// The lowest number for duplicates.
fn first_high() -> RawFd {
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    // It is at most `HIGH`.
    (most / 4 * 3).min(HIGH) as RawFd
}

/// Whether a duplicate that an import has refused is open yet.
fn is_left_open(number: RawFd, duplicate: RawFd, high: RawFd) -> bool {
    duplicate >= high && is_same_file(number, duplicate)
}

/// Whether two numbers are open descriptors of the same file. It asks by name, as nobody may own the second one.
fn is_same_file(one: RawFd, other: RawFd) -> bool {
    let file = |number: RawFd| {
        let entry = std::fs::metadata(format!("/proc/self/fd/{number}"));
        entry.map(|file| (file.dev(), file.ino(), file.rdev()))
    };
    matches!((file(one), file(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::FromRawFd;

    use super::*;

    fn refused(import: impl FnOnce(c_int)) {
        let file = OwnedFd::from(File::open("/dev/null").expect("it is there"));
        let mut number = -1;
        let handed = hand_over("cuImport", &file, "a file", |duplicate| {
            number = duplicate;
            assert!(is_same_file(file.as_raw_fd(), duplicate));
            import(duplicate);
            Err(Error::misuse("cuImport", Code::INVALID_VALUE, "no", "no"))
        });
        assert!(handed.is_err());
        assert!(!is_same_file(file.as_raw_fd(), number), "{number} leaks");
        assert!(is_same_file(file.as_raw_fd(), file.as_raw_fd()));
    }

    #[test]
    fn what_the_driver_leaves_open_is_closed() {
        refused(|_| ());
    }

    #[test]
    fn what_the_driver_closes_stays_closed() {
        refused(|duplicate| {
            // SAFETY: the duplicate is this function's, as it is the driver's.
            drop(unsafe { OwnedFd::from_raw_fd(duplicate) });
        });
    }

    /// Another thread opens files, which get other numbers than the duplicate had.
    #[test]
    fn files_that_are_opened_meanwhile_stay_open() {
        let mut opened = Vec::new();
        refused(|duplicate| {
            // SAFETY: the duplicate is this function's, as it is the driver's.
            drop(unsafe { OwnedFd::from_raw_fd(duplicate) });
            opened = (0..8)
                .map(|_| File::open("/dev/null").expect("it is there"))
                .collect();
        });
        for file in &opened {
            assert!(file.metadata().is_ok());
        }
    }

    #[test]
    fn what_the_driver_takes_stays_open() {
        let file = OwnedFd::from(File::open("/dev/null").expect("it is there"));
        let mut taken = None;
        let handed = hand_over("cuImport", &file, "a file", |duplicate| {
            // SAFETY: the duplicate is this function's, as it is the driver's.
            taken = Some(unsafe { OwnedFd::from_raw_fd(duplicate) });
            Ok(())
        });
        assert!(handed.is_ok());
        let taken = taken.expect("it was called");
        assert!(is_same_file(file.as_raw_fd(), taken.as_raw_fd()));
    }
}

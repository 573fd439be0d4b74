//! Handles that another process opens, in whichever way it gets them.

use std::os::fd::{AsFd, AsRawFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::memory::shared_file::{Content, Numbers, SharedFile};

/// Begins every handle.
const MAGIC: u64 = u64::from_le_bytes(*b"warp-ipc");

/// A handle: it names a file of the process that exported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle {
    content: u64,
    /// The process that exported it.
    process: u64,
    /// The number of an open descriptor there.
    descriptor: u64,
    /// What tells the file from one that got the number later.
    identity: u64,
}

/// Why a handle cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unopened {
    /// The bytes are no handle of this kind.
    NoHandle,
    /// This process has exported it.
    Own,
    /// Its process does not have the file any more, or does not show it to this one.
    Gone,
}

impl Handle {
    /// The handle of a file as long as it is open; `None` if the system does not tell its identity.
    pub(super) fn of(file: &SharedFile, content: Content) -> Option<Self> {
        Some(Self {
            content: content as u64,
            process: std::process::id().into(),
            descriptor: u64::try_from(file.as_fd().as_raw_fd()).ok()?,
            identity: file.identity()?,
        })
    }

    pub(super) fn to_bytes(self) -> [u8; 64] {
        let mut bytes = [0; 64];
        let numbers = [
            MAGIC,
            self.content,
            self.process,
            self.descriptor,
            self.identity,
        ];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// From the bytes of a handle of this kind.
    pub(super) fn from_bytes(bytes: &[u8; 64], wanted: Content) -> Result<Self, Unopened> {
        let (words, _) = bytes.as_chunks();
        let [magic, content, process, descriptor, identity, ..] = words else {
            return Err(Unopened::NoHandle);
        };
        let [magic, content, process, descriptor, identity] =
            [magic, content, process, descriptor, identity].map(|word| u64::from_le_bytes(*word));
        match magic == MAGIC && content == wanted as u64 {
            true => Ok(Self {
                content,
                process,
                descriptor,
                identity,
            }),
            false => Err(Unopened::NoHandle),
        }
    }

    /// What names the file in every process of the machine.
    pub(super) fn identity(self) -> u64 {
        self.identity
    }

    /// The file, with its owner's numbers.
    pub(super) fn open(self, content: Content) -> Result<(SharedFile, Numbers), Unopened> {
        if self.process == u64::from(std::process::id()) {
            return Err(Unopened::Own);
        }
        let path = format!("/proc/{}/fd/{}", self.process, self.descriptor);
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
            // No such number can be a descriptor of it.
            Errno::INVAL | Errno::NAMETOOLONG => Unopened::NoHandle,
            _ => Unopened::Gone,
        })?;
        let opened = SharedFile::import(file.as_fd(), content).map_err(|_| Unopened::Gone)?;
        match opened.0.identity() == Some(self.identity) {
            true => Ok(opened),
            false => Err(Unopened::Gone),
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_its_bytes_and_of_one_kind() {
        let file = SharedFile::create(Content::Plain, 4096, [0; 4]).unwrap();
        let handle = Handle::of(&file, Content::Plain).unwrap();
        let bytes = handle.to_bytes();
        assert_eq!(Handle::from_bytes(&bytes, Content::Plain), Ok(handle));
        let other = Handle::from_bytes(&bytes, Content::Event);
        assert_eq!(other, Err(Unopened::NoHandle));
        let nothing = Handle::from_bytes(&[0; 64], Content::Plain);
        assert_eq!(nothing, Err(Unopened::NoHandle));
        assert_eq!(handle.open(Content::Plain).unwrap_err(), Unopened::Own);
    }

    #[test]
    fn what_another_process_does_not_have_is_gone() {
        let file = SharedFile::create(Content::Plain, 4096, [0; 4]).unwrap();
        let handle = Handle::of(&file, Content::Plain).unwrap();
        for process in [1, u64::MAX] {
            let elsewhere = Handle { process, ..handle };
            assert_eq!(elsewhere.open(Content::Plain).unwrap_err(), Unopened::Gone);
        }
    }
}

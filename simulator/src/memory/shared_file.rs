//! Files in memory, whose bytes several addresses and several processes share: physical memory, and what is exported.
//!
//! Behind its bytes a file says in one page what it is, so that a file descriptor from elsewhere is recognised or refused. It is sealed
//! in its size: no process can make it shorter, which would turn accesses of the others into signals.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec, pread, pwrite};

use crate::error::{Result, code};

const PAGE: usize = 4096;
const SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);
/// Stands at the start of the last page.
const MAGIC: [u8; 16] = *b"warpsmith-memory";
/// Numbers behind the magic: what the file is, and its owner's.
const NUMBERS: usize = 6;

/// The owner's numbers of a file.
pub(super) type Numbers = [u64; NUMBERS - 2];

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Physical memory of `cuMemCreate`.
    Physical = 1,
    /// The memory of a pool that can be exported.
    Pool = 2,
    /// Memory of `cuMemAlloc` that was exported.
    Plain = 3,
    /// The recordings of an event.
    Event = 4,
    /// The name of a multicast object.
    Multicast = 5,
}

/// A file in memory.
#[derive(Debug)]
pub(super) struct SharedFile {
    file: OwnedFd,
    bytes: usize,
}

impl SharedFile {
    /// A file of zeros; `bytes` is a multiple of the system's page. `None` if the system has no room. `numbers` are the owner's.
    pub(super) fn create(content: Content, bytes: usize, numbers: Numbers) -> Option<Self> {
        debug_assert!(bytes.is_multiple_of(PAGE), "files are made of pages");
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("warpsmith-memory", flags).ok()?;
        rustix::fs::ftruncate(&file, bytes.checked_add(PAGE)? as u64).ok()?;
        let mut page = MAGIC.to_vec();
        let head = [content as u64, bytes as u64];
        for number in head.into_iter().chain(numbers) {
            page.extend(number.to_le_bytes());
        }
        let written = pwrite(&file, &page, bytes as u64).ok()?;
        rustix::fs::fcntl_add_seals(&file, SEALS).ok()?;
        (written == page.len()).then_some(Self { file, bytes })
    }

    /// The file of an open file descriptor, which stays the caller's, with its owner's numbers.
    ///
    /// # Errors
    ///
    /// As a real driver answers: unknown if the descriptor is not open, or another file's (H100, driver 580.159.04); invalid value if it is of
    /// memory of another kind.
    pub(super) fn import(descriptor: BorrowedFd<'_>, content: Content) -> Result<(Self, Numbers)> {
        let file = fcntl_dupfd_cloexec(descriptor, 0).map_err(|error| match error {
            Errno::BADF => code::UNKNOWN,
            _ => code::INVALID_VALUE,
        })?;
        let read = || {
            let sealed = rustix::fs::fcntl_get_seals(&file).ok()?.contains(SEALS);
            let len = rustix::fs::fstat(&file).ok()?.st_size as usize;
            let bytes = len.checked_sub(PAGE).filter(|_| sealed)?;
            let mut page = [0; MAGIC.len() + NUMBERS * 8];
            let complete = pread(&file, &mut page, bytes as u64).ok()? == page.len();
            let numbers = page.strip_prefix(&MAGIC).filter(|_| complete)?;
            let mut numbers = numbers
                .as_chunks()
                .0
                .iter()
                .map(|&word| u64::from_le_bytes(word));
            let (kind, size) = (numbers.next()?, numbers.next()?);
            let own = core::array::from_fn(|_| numbers.next().unwrap_or_default());
            (size == bytes as u64).then_some((kind, bytes, own))
        };
        let (kind, bytes, numbers) = read().ok_or(code::UNKNOWN)?;
        if kind != content as u64 {
            return Err(code::INVALID_VALUE);
        }
        Ok((Self { file, bytes }, numbers))
    }

    /// Its bytes, without the page behind them.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What names the file in every process of the machine.
    pub(super) fn identity(&self) -> Option<u64> {
        Some(rustix::fs::fstat(&self.file).ok()?.st_ino)
    }

    /// Writes bytes from `offset` on, all inside; `None` if the system has no room.
    pub(super) fn write(&self, mut offset: usize, mut bytes: &[u8]) -> Option<()> {
        while !bytes.is_empty() {
            let written = pwrite(&self.file, bytes, offset as u64).ok()?;
            offset += written;
            bytes = bytes.get(written..).filter(|_| written > 0)?;
        }
        Some(())
    }

    /// Gives the memory of a part back; its bytes are zero. A hint: it may fail, and nothing depends on it.
    pub(super) fn discard(&self, offset: usize, len: usize) {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let _ = rustix::fs::fallocate(&self.file, flags, offset as u64, len as u64);
    }

    /// A file descriptor of its own for another owner; `None` if the process has too many.
    pub(super) fn duplicate(&self) -> Option<OwnedFd> {
        fcntl_dupfd_cloexec(&self.file, 0).ok()
    }
}

impl AsFd for SharedFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Why a file is not taken for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsealed {
    /// It is no file in memory.
    NoMemory,
    /// It can become shorter.
    MayShrink,
}

/// The bytes of a file in memory that cannot become shorter.
///
/// # Errors
///
/// It can, or is no such file.
pub(crate) fn sealed_bytes(file: impl AsFd) -> core::result::Result<usize, Unsealed> {
    let seals = rustix::fs::fcntl_get_seals(&file).map_err(|_| Unsealed::NoMemory)?;
    let bytes = rustix::fs::fstat(&file).map_err(|_| Unsealed::NoMemory)?;
    if !seals.contains(SealFlags::SHRINK) {
        return Err(Unsealed::MayShrink);
    }
    usize::try_from(bytes.st_size).map_err(|_| Unsealed::NoMemory)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_last_page() {
        let file = SharedFile::create(Content::Physical, 2 * PAGE, [1, 2, 3, 4]).unwrap();
        let (again, numbers) = SharedFile::import(file.as_fd(), Content::Physical).unwrap();
        assert_eq!((again.bytes(), numbers), (2 * PAGE, [1, 2, 3, 4]));
        let shorter = rustix::fs::ftruncate(&again, PAGE as u64);
        assert_eq!(shorter, Err(Errno::PERM), "its size is sealed");
    }

    #[test]
    fn other_files_are_refused() {
        let own = std::fs::File::open("/proc/self/exe").unwrap();
        let refused = SharedFile::import(own.as_fd(), Content::Physical);
        assert_eq!(refused.unwrap_err(), code::UNKNOWN);
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let unsealed = rustix::fs::memfd_create("other", flags).unwrap();
        rustix::fs::ftruncate(&unsealed, 3 * PAGE as u64).unwrap();
        let refused = SharedFile::import(unsealed.as_fd(), Content::Physical);
        assert_eq!(refused.unwrap_err(), code::UNKNOWN);
        let pool = SharedFile::create(Content::Pool, PAGE, [0; 4]).unwrap();
        let refused = SharedFile::import(pool.as_fd(), Content::Physical);
        assert_eq!(refused.unwrap_err(), code::INVALID_VALUE);
    }
}

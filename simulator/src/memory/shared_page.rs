//! The first page of a file in memory, mapped: words that several processes read and write by atomic accesses.

use std::os::fd::AsFd;
use std::sync::atomic::AtomicU64;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::shared_file::sealed_bytes;

/// The page, of a file that cannot become shorter.
pub(crate) struct SharedPage {
    address: usize,
}

impl SharedPage {
    pub(crate) const BYTES: usize = 4096;
    const WORDS: usize = Self::BYTES / size_of::<AtomicU64>();

    /// Maps the page; `None` if the file can become shorter, is empty, or the system refuses.
    pub(crate) fn map(file: impl AsFd) -> Option<Self> {
        sealed_bytes(&file).ok().filter(|&bytes| bytes > 0)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let anywhere = std::ptr::null_mut();
        // SAFETY: a mapping at an address of the system's choice touches no memory that is in use.
        let page = unsafe { mmap(anywhere, Self::BYTES, protection, MapFlags::SHARED, file, 0) };
        Some(Self {
            address: page.ok()?.expose_provenance(),
        })
    }

    /// Its words.
    pub(crate) fn words(&self) -> &[AtomicU64; Self::WORDS] {
        let words = std::ptr::with_exposed_provenance::<[AtomicU64; Self::WORDS]>(self.address);
        // SAFETY: the page is mapped as long as `self` lives, it is the file's, which has bytes in it and cannot become shorter (`map`),
        // and atomics may have any bytes, which other processes may change.
        unsafe { &*words }
    }
}

impl Drop for SharedPage {
    fn drop(&mut self) {
        let page = std::ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: `map` mapped the page, and nobody has a reference into it without one to `self`.
        let _ = unsafe { munmap(page, Self::BYTES) };
    }
}

//! Pages of the operating system: address space that takes memory when it is touched, and gives it back.
//!
//! Miri does not know the system's calls. There the pages are an allocation of the program, which takes all of its memory at once.

pub(super) const PAGE: usize = 4096;
pub(super) const HUGE: usize = 2 << 20;

#[cfg(not(miri))]
mod of_system {
    use std::os::fd::BorrowedFd;

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous};

    /// Reserves address space for good; its bytes are zero.
    pub(in super::super) fn map(len: usize) -> Option<usize> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: an anonymous mapping at an address of the system's choice touches no memory that is in use.
        let address = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )
        }
        .ok()?;
        Some(address.expose_provenance())
    }

    /// Hints that the pages be large ones. It may fail, and nothing depends on it.
    pub(in super::super) fn prefer_huge(base: usize, len: usize) {
        let pages = std::ptr::with_exposed_provenance_mut(base);
        // SAFETY: the advice changes no contents, and fails where nothing is mapped.
        let _ = unsafe { madvise(pages, len, Advice::LinuxHugepage) };
    }

    /// Gives the memory back; the bytes are zero.
    ///
    /// # Safety
    ///
    /// The pages are mapped by [`map`], and nobody has a reference to their bytes.
    pub(in super::super) unsafe fn discard(base: usize, len: usize) {
        let pages = std::ptr::with_exposed_provenance_mut(base);
        // SAFETY: the pages are mapped, and nobody has a reference to them, by the caller's contract.
        let _ = unsafe { madvise(pages, len, Advice::LinuxDontNeed) };
    }

    /// Puts a file's bytes from `offset` on, a multiple of the page, in the place of the pages. They stay accessible at every moment. `None` if the system refuses.
    ///
    /// # Safety
    ///
    /// The pages are mapped by [`map`], and nobody has a reference to their bytes.
    pub(in super::super) unsafe fn map_file(
        base: usize,
        len: usize,
        file: BorrowedFd<'_>,
        offset: usize,
    ) -> Option<()> {
        let flags = MapFlags::FIXED | MapFlags::SHARED | MapFlags::NORESERVE;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let pages = std::ptr::with_exposed_provenance_mut(base);
        // SAFETY: the pages are mapped, and nobody has a reference to them, by the caller's contract; the new mapping takes the old
        // one's place at once.
        unsafe { mmap(pages, len, protection, flags, file, offset as u64) }.ok()?;
        Some(())
    }

    /// Puts fresh pages in a file's place, whose bytes are zero. They stay accessible at every moment.
    ///
    /// # Safety
    ///
    /// [`map_file`] filled the pages, and nobody has a reference to their bytes.
    pub(in super::super) unsafe fn unmap_file(base: usize, len: usize) {
        let flags = MapFlags::FIXED | MapFlags::PRIVATE | MapFlags::NORESERVE;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let pages = std::ptr::with_exposed_provenance_mut(base);
        // SAFETY: the pages are mapped, and nobody has a reference to them, by the caller's contract; the new mapping takes the old
        // one's place at once.
        let done = unsafe { mmap_anonymous(pages, len, protection, flags) };
        debug_assert!(done.is_ok(), "an unmapped range stays in the arena");
    }
}

#[cfg(miri)]
mod of_program {
    use std::alloc::{Layout, alloc_zeroed};
    use std::os::fd::BorrowedFd;

    use super::PAGE;
    use crate::memory::guest::{self, FillValue};

    /// Allocates for good; the bytes are zero.
    pub(in super::super) fn map(len: usize) -> Option<usize> {
        let layout = Layout::from_size_align(len, PAGE).ok()?;
        // SAFETY: the arena is larger than nothing.
        let address = unsafe { alloc_zeroed(layout) };
        (!address.is_null()).then(|| address.expose_provenance())
    }

    /// There are no large pages.
    pub(in super::super) fn prefer_huge(_base: usize, _len: usize) {}

    /// Makes the bytes zero.
    ///
    /// # Safety
    ///
    /// The pages are mapped by [`map`], and nobody has a reference to their bytes.
    pub(in super::super) unsafe fn discard(base: usize, len: usize) {
        // SAFETY: the pages are mapped by the caller's contract, and their beginning is aligned.
        unsafe { guest::fill(base, FillValue::U32(0), len / 4) };
    }

    /// There are no mappings of files.
    ///
    /// # Safety
    ///
    /// None: it does nothing.
    pub(in super::super) unsafe fn map_file(
        _base: usize,
        _len: usize,
        _file: BorrowedFd<'_>,
        _offset: usize,
    ) -> Option<()> {
        None
    }

    /// There are no mappings of files.
    ///
    /// # Safety
    ///
    /// None: it does nothing.
    pub(in super::super) unsafe fn unmap_file(_base: usize, _len: usize) {}
}

#[cfg(miri)]
pub(super) use of_program::{discard, map, map_file, prefer_huge, unmap_file};
#[cfg(not(miri))]
pub(super) use of_system::{discard, map, map_file, prefer_huge, unmap_file};

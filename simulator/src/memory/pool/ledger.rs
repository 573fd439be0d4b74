//! What the processes that share a pool tell each other of its allocations: since when each is there, since when it is free, and whether
//! some process has imported it. The check of the order of work finds by it what no process can see alone.
//!
//! It stands in the pool's file, behind the memory: an entry for each page at which an allocation may begin. Times are of the system's
//! monotonic clock, which all processes of a machine have in common.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::time::{ClockId, clock_gettime};

use crate::memory::process::is_running;
use crate::memory::shared_file::SharedFile;

/// What parts begin with.
pub(super) const PAGE: usize = 4096;

/// What is known of the allocation that begins at a page.
#[repr(C)]
struct Entry {
    /// When the stream of its allocation has come to it; 0 before.
    made: AtomicU64,
    /// When its owner has freed it; 0 before.
    freed: AtomicU64,
    /// Counts the allocations that have begun at the page.
    number: AtomicU32,
    /// How often it is imported and was not freed there.
    imports: AtomicU32,
    /// The process that imported it last.
    importer: AtomicU32,
    _unused: u32,
}

/// The entries of a pool's allocations.
pub(super) struct Ledger {
    /// Where they are.
    base: usize,
    count: usize,
}

/// What an importer must not do with an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnersSide {
    /// Its use began before the owner's stream had come to the allocation.
    NotMade,
    /// The owner has freed it before the use's end.
    Freed,
}

/// Now, in nanoseconds of the clock that all processes have in common; never 0.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64).max(1)
}

impl Ledger {
    /// The bytes of the entries for this much memory, in whole pages.
    pub(super) fn bytes(memory: usize) -> usize {
        (memory.div_ceil(PAGE) * size_of::<Entry>()).next_multiple_of(PAGE)
    }

    /// The entries that a file has behind this much memory; `None` if the system refuses.
    pub(super) fn map(file: &SharedFile, memory: usize) -> Option<Ledger> {
        // What another process's file says may be anything.
        let behind = file.bytes().checked_sub(memory)?;
        let bytes = Self::bytes(memory);
        if behind < bytes {
            return None;
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let anywhere = std::ptr::null_mut();
        // SAFETY: a mapping at an address of the system's choice touches no memory that is in use.
        let base = unsafe {
            mmap(
                anywhere,
                bytes,
                protection,
                MapFlags::SHARED,
                file.as_fd(),
                memory as u64,
            )
        };
        Some(Ledger {
            base: base.ok()?.expose_provenance(),
            count: bytes / size_of::<Entry>(),
        })
    }

    /// The entry of the allocation at an offset of the file.
    fn entry(&self, offset: usize) -> Option<&Entry> {
        let number = offset / PAGE;
        let entries = std::ptr::with_exposed_provenance::<Entry>(self.base);
        // SAFETY: the mapping has `count` entries and lives as long as `self`, its file cannot become shorter, and an entry consists of
        // atomics, for which all values are valid and which other processes may change.
        (number < self.count).then(|| unsafe { &*entries.add(number) })
    }

    /// An allocation begins at an offset, which its stream has not come to yet; gives its number.
    pub(super) fn begin(&self, offset: usize) -> u32 {
        let Some(entry) = self.entry(offset) else {
            return 0;
        };
        // First, so that who has imported the last one does not take this one for it.
        let before = entry.number.fetch_add(1, Ordering::AcqRel);
        entry.made.store(0, Ordering::Release);
        entry.freed.store(0, Ordering::Release);
        entry.imports.store(0, Ordering::Release);
        before.wrapping_add(1)
    }

    /// Its stream has come to the allocation.
    pub(super) fn make(&self, offset: usize) {
        if let Some(entry) = self.entry(offset) {
            entry.made.store(now(), Ordering::Release);
        }
    }

    /// Its owner frees it.
    pub(super) fn free(&self, offset: usize) {
        if let Some(entry) = self.entry(offset) {
            entry.freed.store(now(), Ordering::Release);
        }
    }

    /// A process that runs, and has imported it and not freed.
    pub(super) fn importer(&self, offset: usize) -> Option<u32> {
        let entry = self.entry(offset)?;
        let imported = entry.imports.load(Ordering::Acquire) > 0;
        let importer = entry.importer.load(Ordering::Acquire);
        (imported && is_running(importer)).then_some(importer)
    }

    /// This process imports the allocation.
    pub(super) fn import(&self, offset: usize) {
        if let Some(entry) = self.entry(offset) {
            entry.importer.store(std::process::id(), Ordering::Release);
            entry.imports.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// This process frees what it has imported, which had this number.
    pub(super) fn let_go(&self, offset: usize, number: u32) {
        if let Some(entry) = self.entry(offset)
            && entry.number.load(Ordering::Acquire) == number
        {
            let one_less = |imports: u32| imports.checked_sub(1);
            let _ = entry
                .imports
                .try_update(Ordering::AcqRel, Ordering::Acquire, one_less);
        }
    }

    /// What the owner has done with the allocation of this number that makes a use wrong which began at `begun` and ends now.
    pub(super) fn owners_side(&self, offset: usize, number: u32, begun: u64) -> Option<OwnersSide> {
        let entry = self.entry(offset)?;
        let is_other = entry.number.load(Ordering::Acquire) != number;
        let made = entry.made.load(Ordering::Acquire);
        if is_other || entry.freed.load(Ordering::Acquire) != 0 {
            return Some(OwnersSide::Freed);
        }
        (made == 0 || made > begun).then_some(OwnersSide::NotMade)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let base = std::ptr::with_exposed_provenance_mut(self.base);
        // SAFETY: `map` mapped these bytes, and nobody has a reference into them without one to `self`.
        let _ = unsafe { munmap(base, self.count * size_of::<Entry>()) };
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::memory::shared_file::Content;

    const MEMORY: usize = 8 * PAGE;

    fn file() -> SharedFile {
        let bytes = MEMORY + Ledger::bytes(MEMORY);
        SharedFile::create(Content::Pool, bytes, [0; 4]).unwrap()
    }

    #[test]
    fn a_use_is_right_between_the_allocation_and_the_free() {
        let file = file();
        let (owner, importer) = (
            Ledger::map(&file, MEMORY).unwrap(),
            Ledger::map(&file, MEMORY).unwrap(),
        );
        let number = owner.begin(PAGE);
        let early = now();
        let asked = |begun| importer.owners_side(PAGE, number, begun);
        assert_eq!(asked(early), Some(OwnersSide::NotMade));
        owner.make(PAGE);
        assert_eq!(asked(early), Some(OwnersSide::NotMade));
        let later = now();
        assert_eq!(asked(later), None);
        owner.free(PAGE);
        assert_eq!(asked(later), Some(OwnersSide::Freed));
        let next = owner.begin(PAGE);
        owner.make(PAGE);
        assert_eq!(
            asked(now()),
            Some(OwnersSide::Freed),
            "it is another one's memory"
        );
        assert_eq!(importer.owners_side(PAGE, next, now()), None);
    }

    #[test]
    fn who_has_imported_is_known_until_it_frees_or_ends() {
        let file = file();
        let ledger = Ledger::map(&file, MEMORY).unwrap();
        let number = ledger.begin(0);
        assert_eq!(ledger.importer(0), None);
        ledger.import(0);
        ledger.import(0);
        ledger.let_go(0, number + 1);
        ledger.let_go(0, number);
        assert_eq!(ledger.importer(0), Some(std::process::id()));
        ledger.let_go(0, number);
        ledger.let_go(0, number);
        assert_eq!(ledger.importer(0), None);
        // A process that has ended uses nothing.
        ledger.import(0);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = child.id();
        child.wait().unwrap();
        ledger
            .entry(0)
            .unwrap()
            .importer
            .store(gone, Ordering::Release);
        assert_eq!(ledger.importer(0), None);
        // No entry: nothing is known.
        assert_eq!(ledger.begin(usize::MAX / 2), 0);
    }
}

//! One large reservation of address space, handed out by pages, and the table that tells for each page which allocation it is of.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::ptr::with_exposed_provenance;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pages::{self, HUGE, PAGE};
use crate::sync::lock;

/// What is asked for, as a power of two; less if there is less.
const SIZES: &[u32] = match cfg!(miri) {
    // Its memory is the host's, all of it.
    true => &[26],
    false => &[44, 42, 40, 38, 36, 34, 32, 30],
};
const GAP: (usize, usize) = (16 << 10, 16 << 20);

pub(super) struct Arena {
    base: usize,
    len: usize,
    /// One entry a page: 0, or the slot of the allocation.
    pages: &'static [AtomicU32],
    free: Mutex<FreeSpace>,
}

struct FreeSpace {
    /// Everything from here on has never been handed out.
    next: usize,
    /// Spans that were freed, oldest first; used again only when nothing else is left.
    freed: VecDeque<(usize, usize)>,
}

impl Arena {
    /// Reserves as much as the system grants, up to 16 terabytes. No memory is committed until it is touched.
    pub(super) fn reserve() -> Self {
        for shift in SIZES {
            let len = 1usize << shift;
            let Some(base) = pages::map(len) else {
                continue;
            };
            let Some(table) = pages::map(len / PAGE * size_of::<AtomicU32>()) else {
                continue;
            };
            // SAFETY: the mapping is fresh, zeroed, page-aligned, never unmapped, and `AtomicU32` is valid as zeros.
            let pages = unsafe {
                std::slice::from_raw_parts(with_exposed_provenance::<AtomicU32>(table), len / PAGE)
            };
            let free = Mutex::new(FreeSpace {
                next: base + HUGE,
                freed: VecDeque::new(),
            });
            return Self {
                base,
                len,
                pages,
                free,
            };
        }
        panic!("the system grants not even a gigabyte of address space");
    }

    pub(super) fn base(&self) -> usize {
        self.base
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.base) < self.len
    }

    /// The slot of the allocation on this page.
    #[inline]
    pub(super) fn slot(&self, address: usize) -> Option<u32> {
        let page = self.pages.get(address.wrapping_sub(self.base) / PAGE)?;
        match page.load(Ordering::Acquire) {
            0 => None,
            slot => Some(slot),
        }
    }

    /// Takes address space for `len` bytes and a gap behind them.
    pub(super) fn take(&self, len: usize) -> Option<usize> {
        let align = if len >= HUGE / 2 { HUGE } else { PAGE };
        self.take_aligned(len, align)
    }

    /// As [`take`](Self::take), at a multiple of `align`, which is a power of two and at least a page.
    pub(super) fn take_aligned(&self, len: usize, align: usize) -> Option<usize> {
        let span = span(len)?;
        let mut space = lock(&self.free);
        let base = space.next.checked_next_multiple_of(align)?;
        if let Some(end) = base.checked_add(span)
            && end <= self.base + self.len
        {
            space.next = end;
            drop(space);
            if len >= HUGE {
                // First touches then cost a five-hundredth of the faults.
                pages::prefer_huge(base, len.next_multiple_of(PAGE));
            }
            return Some(base);
        }
        let index = space
            .freed
            .iter()
            .position(|&(base, free)| free >= span && base % align == 0)?;
        let (base, free) = space.freed.remove(index)?;
        for page in self.range(base, free) {
            page.store(0, Ordering::Release);
        }
        if free > span {
            space.freed.push_back((base + span, free - span));
        }
        Some(base)
    }

    pub(super) fn mark(&self, base: usize, len: usize, slot: u32) {
        for page in self.range(base, len) {
            page.store(slot, Ordering::Release);
        }
    }

    /// Gives pages back to the system. The page table still names the freed allocation.
    pub(super) fn discard(&self, base: usize, len: usize) {
        // SAFETY: the pages lie in the arena, and there is no reference to memory of the simulated device (`guest`): kernels and
        // copies use raw pointers, and read zeros from now on.
        unsafe { pages::discard(base, len.next_multiple_of(PAGE)) };
    }

    /// Takes back addresses without memory: of a reservation, into which nothing is mapped, or whose pages were given back. The page
    /// table still names what was.
    pub(super) fn give_addresses_back(&self, base: usize, len: usize) {
        if let Some(span) = span(len) {
            lock(&self.free).freed.push_back((base, span));
        }
    }

    /// Shows a file's bytes in place of the arena's own pages. `None` if the system refuses.
    pub(super) fn map_file(
        &self,
        base: usize,
        len: usize,
        file: BorrowedFd<'_>,
        offset: usize,
    ) -> Option<()> {
        // SAFETY: the pages lie in the arena, in a range that `take_aligned` gave to a reservation or an allocation, and there is no
        // reference to memory of the simulated device (`guest`).
        unsafe { pages::map_file(base, len.next_multiple_of(PAGE), file, offset) }
    }

    /// Puts pages of the arena's own, which are zero, in a file's place.
    pub(super) fn unmap_file(&self, base: usize, len: usize) {
        // SAFETY: the pages lie in the arena, in a range that `map_file` filled, and there is no reference to memory of the simulated
        // device (`guest`).
        unsafe { pages::unmap_file(base, len.next_multiple_of(PAGE)) };
    }

    fn range(&self, base: usize, len: usize) -> &[AtomicU32] {
        let first = (base - self.base) / PAGE;
        &self.pages[first..first + len.div_ceil(PAGE)]
    }
}

/// An allocation's pages and the gap behind them.
fn span(len: usize) -> Option<usize> {
    let gap = (len / 8).clamp(GAP.0, GAP.1);
    len.checked_add(gap)?.checked_next_multiple_of(PAGE)
}

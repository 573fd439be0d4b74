//! One large reservation of address space, handed out by pages, and the table that tells for each page which allocation it is of.

use std::collections::{BTreeMap, VecDeque};
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
/// How many spans are kept after they were freed, so that a late use of them is found out and told of.
const MOST_KEPT: usize = 4096;
/// So many are kept however large they are; of more, no more than [`MOST_KEPT_BYTES`] of addresses.
const LEAST_KEPT: usize = 64;
const MOST_KEPT_BYTES: usize = 256 << 20;
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
    /// Spans that were freed lately, oldest first.
    kept: VecDeque<(usize, usize)>,
    /// How many bytes of addresses these are.
    kept_bytes: usize,
    /// Spans that were freed before, to be used again.
    small: Unused,
    /// As `small`, of addresses for which large pages are preferred ([`pages::prefer_huge`]): a small allocation there would take one.
    large: Unused,
}

/// Spans by address: no two of them are neighbours.
#[derive(Default)]
struct Unused(BTreeMap<usize, usize>);

impl FreeSpace {
    fn keep(&mut self, base: usize, span: usize) {
        self.kept.push_back((base, span));
        self.kept_bytes += span;
    }

    fn oldest_kept(&mut self) -> Option<(usize, usize)> {
        let (base, span) = self.kept.pop_front()?;
        self.kept_bytes -= span;
        Some((base, span))
    }

    /// Whether more is kept than needs be.
    fn is_full(&self) -> bool {
        let count = self.kept.len();
        count > MOST_KEPT || count > LEAST_KEPT && self.kept_bytes > MOST_KEPT_BYTES
    }

    /// Whether large pages are preferred for a span.
    fn is_large(span: usize) -> bool {
        span >= HUGE + HUGE / 8
    }

    /// The unused spans of the same kind, and the others.
    fn unused(&mut self, span: usize) -> [&mut Unused; 2] {
        match Self::is_large(span) {
            true => [&mut self.large, &mut self.small],
            false => [&mut self.small, &mut self.large],
        }
    }

    /// Addresses that nobody has: such as were used before, or else fresh ones before `end`.
    fn place(&mut self, end: usize, span: usize, align: usize) -> Option<usize> {
        let [same, _] = self.unused(span);
        if let Some(base) = same.take(span, align) {
            return Some(base);
        }
        let base = self.next.checked_next_multiple_of(align)?;
        if let Some(next) = base.checked_add(span).filter(|next| *next <= end) {
            self.next = next;
            return Some(base);
        }
        let [_, other] = self.unused(span);
        other.take(span, align)
    }
}

impl Unused {
    /// The first addresses where `span` bytes have room at a multiple of `align`.
    fn take(&mut self, span: usize, align: usize) -> Option<usize> {
        let (start, len, base) = self.0.iter().find_map(|(&start, &len)| {
            let base = start.checked_next_multiple_of(align)?;
            let fits = base - start <= len && len - (base - start) >= span;
            fits.then_some((start, len, base))
        })?;
        self.0.remove(&start);
        for (start, end) in [(start, base), (base + span, start + len)] {
            if start < end {
                self.0.insert(start, end - start);
            }
        }
        Some(base)
    }

    /// Adds a span, and puts it together with those before and behind.
    fn add(&mut self, mut base: usize, mut span: usize) {
        if let Some(behind) = self.0.remove(&(base + span)) {
            span += behind;
        }
        if let Some((&start, &len)) = self.0.range(..base).next_back()
            && start + len == base
        {
            (base, span) = (start, len + span);
        }
        self.0.insert(base, span);
    }
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
                kept: VecDeque::new(),
                kept_bytes: 0,
                small: Unused::default(),
                large: Unused::default(),
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
        let base = lock(&self.free).place(self.base + self.len, span, align)?;
        if len >= HUGE {
            // First touches then cost a five-hundredth of the faults.
            pages::prefer_huge(base, len.next_multiple_of(PAGE));
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
            lock(&self.free).keep(base, span);
        }
    }

    /// The addresses that were given back first of those that are kept, for [`use_again`](Self::use_again); `None` if there are none, or, where
    /// there is `room` for more, not so many that some have to be.
    pub(super) fn oldest_kept(&self, room: bool) -> Option<(usize, usize)> {
        let mut space = lock(&self.free);
        (!room || space.is_full()).then(|| space.oldest_kept())?
    }

    /// Has the page table name nothing in a range any more; gives the slots that it named.
    pub(super) fn clear(&self, base: usize, span: usize) -> impl Iterator<Item = u32> {
        self.names(base, span, |page| match page.load(Ordering::Acquire) {
            // What was never written takes no memory, of large reservations above all.
            0 => 0,
            _ => page.swap(0, Ordering::AcqRel),
        })
    }

    /// Lets addresses be taken again that nothing knows any more.
    pub(super) fn use_again(&self, base: usize, span: usize) {
        let mut space = lock(&self.free);
        let [same, _] = space.unused(span);
        same.add(base, span);
    }

    /// The slots that the page table names in a range, as `read` finds them; each once where its pages are neighbours.
    fn names(
        &self,
        base: usize,
        len: usize,
        read: impl Fn(&AtomicU32) -> u32,
    ) -> impl Iterator<Item = u32> {
        let mut last = 0;
        self.range(base, len).iter().filter_map(move |page| {
            let slot = read(page);
            (std::mem::replace(&mut last, slot) != slot && slot != 0).then_some(slot)
        })
    }

    /// The slots that the page table names in a range.
    pub(super) fn named(&self, base: usize, len: usize) -> Vec<u32> {
        self.names(base, len, |page| page.load(Ordering::Acquire))
            .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    const START: usize = 1 << 20;

    fn space() -> FreeSpace {
        FreeSpace {
            next: START,
            kept: VecDeque::new(),
            kept_bytes: 0,
            small: Unused::default(),
            large: Unused::default(),
        }
    }

    #[test]
    fn neighbours_are_put_together_and_cut_again() {
        let (mut space, end) = (space(), START + 100 * PAGE);
        let spans = [0; 6].map(|_| space.place(end, 5 * PAGE, PAGE).expect("there is room"));
        for index in [0, 2, 1, 5] {
            space.small.add(spans[index], 5 * PAGE);
        }
        let expected = [(START, 15 * PAGE), (START + 25 * PAGE, 5 * PAGE)];
        assert_eq!(space.small.0, BTreeMap::from(expected));
        // The first place that is aligned and large enough, with what is left on both sides.
        assert_eq!(space.place(end, 6 * PAGE, 8 * PAGE), Some(START));
        assert_eq!(space.place(end, 5 * PAGE, 8 * PAGE), Some(START + 8 * PAGE));
        let expected = [
            (START + 6 * PAGE, 2 * PAGE),
            (START + 13 * PAGE, 2 * PAGE),
            (START + 25 * PAGE, 5 * PAGE),
        ];
        assert_eq!(space.small.0, BTreeMap::from(expected));
        assert_eq!(space.place(end, 6 * PAGE, PAGE), Some(START + 30 * PAGE));
    }

    #[test]
    fn small_and_large_spans_take_each_others_place_only_where_there_is_no_other() {
        let (mut space, large) = (space(), 2 * HUGE);
        let end = START + large + 10 * PAGE;
        assert_eq!(space.place(end, large, PAGE), Some(START));
        space.large.add(START, large);
        let fresh = START + large;
        assert_eq!(space.place(end, 10 * PAGE, PAGE), Some(fresh));
        assert_eq!(space.place(end, 10 * PAGE, PAGE), Some(START));
        space.small.add(fresh, 10 * PAGE);
        assert_eq!(
            space.place(end, HUGE + HUGE / 8, PAGE),
            Some(START + 10 * PAGE)
        );
    }

    #[test]
    fn large_spans_are_kept_in_smaller_numbers() {
        let mut space = space();
        for _ in 0..MOST_KEPT {
            space.keep(START, PAGE);
        }
        assert!(!space.is_full());
        space.keep(START, MOST_KEPT_BYTES);
        assert!(space.is_full());
        while space.kept.len() > LEAST_KEPT {
            assert!(space.is_full());
            assert_eq!(space.oldest_kept().map(|(base, _)| base), Some(START));
        }
        assert!(!space.is_full());
        assert_eq!(space.kept_bytes, MOST_KEPT_BYTES + (LEAST_KEPT - 1) * PAGE);
    }

    #[test]
    fn what_has_no_room_changes_nothing() {
        let (mut space, end) = (space(), START + 10 * PAGE);
        assert_eq!(space.place(end, 11 * PAGE, PAGE), None);
        assert_eq!(space.place(end, usize::MAX, PAGE), None);
        assert_eq!(space.place(end, 10 * PAGE, PAGE), Some(START));
    }
}

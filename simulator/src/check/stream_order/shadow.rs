//! Who has touched the bytes of memory last.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::clock::Clock;
use super::piece::{Piece, may_have_heard};
use super::touched::{Class, PAGE, Touched, TouchedPage};

/// How many pieces with words are remembered. Beyond that nothing is reported that they might excuse.
const MOST_SPEAKERS: usize = 2048;
/// How many frees are remembered.
const MOST_FREES: usize = 4096;
/// How many pages may be remembered before those are looked for that can be forgotten; twice what was left the last time.
const MANY_PAGES: usize = 1 << 14;

/// Two pieces that touch a byte, and are in no order.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// The piece that was found second.
    pub later: Arc<Piece>,
    /// What it does.
    pub later_class: Class,
    /// The piece that was found first.
    pub earlier: Arc<Piece>,
    /// What it does.
    pub earlier_class: Class,
    /// The first byte that both touch.
    pub address: u64,
}

/// The pieces that run while one ends: what they have said is not known yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Others {
    /// The count of submissions when the first of those began that may hear and speak; `None` if there are none.
    pub run_since: Option<u64>,
    /// One of them may have said something to the host, before the piece was submitted.
    pub have_spoken: bool,
}

#[derive(Debug)]
struct Entry {
    piece: Arc<Piece>,
    touched: TouchedPage,
}

/// What is remembered of all memory.
#[derive(Debug, Default)]
pub struct Shadow {
    pages: BTreeMap<u64, Vec<Entry>>,
    /// Pieces with words, in the order of their ends.
    speakers: Vec<Arc<Piece>>,
    /// Some speakers have been forgotten.
    is_blind: bool,
    /// Memory that was freed: first page, one behind the last, and by whom.
    frees: VecDeque<(u64, u64, Arc<Piece>)>,
    /// See [`MANY_PAGES`].
    next_look: usize,
}

impl Shadow {
    /// A piece has ended that touched these bytes, while `others` run. Gives the first conflict. `is_freed` says whether a page's memory is
    /// free.
    pub fn end(
        &mut self,
        piece: &Arc<Piece>,
        touched: &Touched,
        others: Others,
        is_freed: impl Fn(u64) -> bool,
    ) -> Option<Conflict> {
        let mut found: Option<Conflict> = None;
        // Many pages are of the same two pieces.
        let mut judged: Vec<(*const Piece, bool, bool)> = Vec::new();
        for page in &touched.pages {
            if found.is_none() && !self.frees.is_empty() {
                found = self.freed_under(piece, page, &is_freed);
            }
            let entries = self.pages.entry(page.page).or_default();
            let mut kept = Vec::with_capacity(entries.len() + 1);
            for mut entry in entries.drain(..) {
                let earlier = &entry.piece;
                let id = Arc::as_ptr(earlier);
                let known = judged.iter().find(|(judged, ..)| *judged == id).copied();
                let (_, ordered, before) = known.unwrap_or_else(|| {
                    let is_same = Arc::ptr_eq(earlier, piece);
                    let ordered = is_same || earlier.is_ordered_with(piece);
                    let before = is_same || earlier.place.is_before(&piece.place);
                    let verdict = (id, ordered, before);
                    judged.push(verdict);
                    verdict
                });
                if !ordered
                    && found.is_none()
                    && let Some(conflict) = conflict(&entry, piece, page)
                    && !excused(&conflict, &self.speakers, self.is_blind, others)
                {
                    found = Some(conflict);
                }
                let same_agent = entry.piece.agent == piece.agent;
                let covered = before && same_agent && page.class.covers(entry.touched.class);
                if !covered || entry.touched.lose(page) {
                    kept.push(entry);
                }
            }
            kept.push(Entry {
                piece: Arc::clone(piece),
                touched: page.clone(),
            });
            *entries = kept;
        }
        if piece.has_words() {
            self.speakers.push(Arc::clone(piece));
            if self.speakers.len() > MOST_SPEAKERS {
                self.speakers.drain(..MOST_SPEAKERS / 2);
                self.is_blind = true;
            }
        }
        found
    }

    /// A page that was freed while the piece used it.
    fn freed_under(
        &self,
        piece: &Arc<Piece>,
        page: &TouchedPage,
        is_freed: impl Fn(u64) -> bool,
    ) -> Option<Conflict> {
        let by = self.freed_by(page.page * PAGE)?;
        if by.is_ordered_with(piece) || !is_freed(page.page * PAGE) {
            return None;
        }
        Some(Conflict {
            later: Arc::clone(piece),
            later_class: page.class,
            earlier: Arc::clone(by),
            earlier_class: Class::Free,
            address: page.page * PAGE + u64::from(first_bit(page)),
        })
    }

    /// Memory is freed, by a piece that must come after all that use it; what was remembered of it is forgotten. The host (`by_host`) may
    /// free what it has just allocated in a stream's order.
    pub fn free(
        &mut self,
        piece: &Arc<Piece>,
        address: u64,
        bytes: u64,
        by_host: bool,
    ) -> Option<Conflict> {
        let (start, end) = (address / PAGE, (address + bytes).div_ceil(PAGE));
        let mut found = None;
        let all = Touched::range(Class::Free, address, bytes.max(1));
        let mut all = all.pages.iter().peekable();
        let pages: Vec<u64> = self
            .pages
            .range(start..end)
            .map(|(&page, _)| page)
            .collect();
        for number in pages {
            let entries = self.pages.remove(&number).unwrap_or_default();
            while all.peek().is_some_and(|page| page.page < number) {
                all.next();
            }
            let Some(page) = all.peek() else { break };
            for entry in entries {
                let excused = by_host && entry.touched.class == Class::Allocate;
                if found.is_none() && !excused && !entry.piece.is_ordered_with(piece) {
                    found = conflict(&entry, piece, page);
                }
            }
        }
        self.frees.push_back((start, end, Arc::clone(piece)));
        if self.frees.len() > MOST_FREES {
            self.frees.pop_front();
        }
        found
    }

    /// Forgets what was at these addresses, which are used again.
    pub fn forget(&mut self, address: u64, bytes: u64) {
        let pages = address / PAGE..(address + bytes).div_ceil(PAGE);
        self.pages.extract_if(pages, |_, _| true).for_each(drop);
    }

    /// Who has freed the memory at an address last, if that is remembered.
    pub fn freed_by(&self, address: u64) -> Option<&Arc<Piece>> {
        let page = address / PAGE;
        let mut frees = self.frees.iter().rev();
        let found = frees.find(|&&(start, end, _)| (start..end).contains(&page))?;
        Some(&found.2)
    }

    /// Forgets pieces that come before all that will ever be asked about, if many are remembered: those that `clock` comes after.
    pub fn forget_known(&mut self, clock: &Clock) {
        let many = self.next_look.max(MANY_PAGES);
        if self.pages.len() < many && self.speakers.len() < MOST_SPEAKERS / 8 {
            return;
        }
        let is_known = |piece: &Piece| piece.place.is_known_to(clock);
        self.pages.retain(|_, entries| {
            entries.retain(|entry| !is_known(&entry.piece));
            !entries.is_empty()
        });
        self.speakers.retain(|piece| !is_known(piece));
        self.frees.retain(|(.., piece)| !is_known(piece));
        self.is_blind &= !self.pages.is_empty();
        self.next_look = 2 * self.pages.len();
    }
}

fn first_bit(page: &TouchedPage) -> u32 {
    let bits = page.bits().iter().enumerate();
    let mut set = bits.filter(|(_, bits)| **bits != 0);
    let first = set.next();
    first.map_or(0, |(word, bits)| word as u32 * 64 + bits.trailing_zeros())
}

fn conflict(entry: &Entry, piece: &Arc<Piece>, page: &TouchedPage) -> Option<Conflict> {
    let same_device = entry.piece.agent.device == piece.agent.device;
    if !page.class.conflicts(entry.touched.class, same_device) {
        return None;
    }
    let address = page.meets(&entry.touched)?;
    Some(Conflict {
        later: Arc::clone(piece),
        later_class: page.class,
        earlier: Arc::clone(&entry.piece),
        earlier_class: entry.touched.class,
        address,
    })
}

/// Whether the two may have spoken with each other, so that what they do may be in order.
fn excused(conflict: &Conflict, speakers: &[Arc<Piece>], is_blind: bool, others: Others) -> bool {
    let (earlier, later) = (&conflict.earlier, &conflict.later);
    if conflict.earlier_class.is_lifetime() || conflict.later_class.is_lifetime() {
        return false;
    }
    // What was heard of a piece that still runs; who has ended before it began has heard nothing of it.
    let may_hear = |piece: &Piece, since: u64| {
        let mut before = speakers.iter().filter(|speaker| speaker.ended >= since);
        piece.has_words() || before.any(|speaker| speaker.place.is_before(&piece.place))
    };
    let heard_running = |since| may_hear(earlier, since) || may_hear(later, since);
    is_blind
        || others.have_spoken
        || others.run_since.is_some_and(heard_running)
        || may_have_heard(earlier, later, speakers)
        || may_have_heard(later, earlier, speakers)
}

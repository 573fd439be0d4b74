//! The records of all allocations that there are, and of those that were freed lately, found by number without a lock.
//!
//! They are in chunks, each twice as large as the one before, which are made when they are needed: a record never moves. The number of an
//! allocation whose address nobody knows any more is given to a later one.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use super::allocation::{AllocationDetail, AllocationInfo, AllocationKind, AllocationState};
use crate::sync::lock;

/// The slots of the first chunk.
const FIRST_CHUNK: usize = 64;
/// Together they have room for 64 million allocations.
const CHUNKS: usize = 20;

/// The chunk of a number, and its place there.
#[inline]
fn place(number: u32) -> (usize, usize) {
    // The chunks before one have together as many slots as it has, less the first chunk's.
    let number = number as usize + FIRST_CHUNK;
    let chunk = (number / FIRST_CHUNK).ilog2() as usize;
    (chunk, number - (FIRST_CHUNK << chunk))
}

/// The bit of a slot's state that says that the allocation was freed.
const FREED: u32 = 1 << 31;
/// The bit that says that its pages and addresses were given back, too. Fewer than so many copies run at a time.
const GIVEN_BACK: u32 = 1 << 30;

pub(super) struct AllocationTable {
    chunks: [OnceLock<Box<[AllocationSlot]>>; CHUNKS],
    /// One more than the largest number ever given; slot 0 stands for "none".
    count: AtomicU32,
    adding: Mutex<Adding>,
}

/// What a new allocation is given.
#[derive(Default)]
struct Adding {
    /// The serial number of the last one.
    serial: u64,
    /// Numbers whose allocations nobody knows any more.
    unused: Vec<u32>,
}

#[derive(Default)]
struct AllocationSlot {
    base: AtomicUsize,
    len: AtomicUsize,
    is_mapping: AtomicBool,
    /// [`AllocationInfo::device`], plus one; 0 for none.
    device: AtomicUsize,
    /// Its pages are a file's, as those of a pool that can be exported.
    is_file: AtomicBool,
    /// Its address is a graph's: it stays taken while the memory is free.
    is_graph: AtomicBool,
    /// How often it is held, and whether it is [`FREED`] and [`GIVEN_BACK`]. The last changes under the lock of `detail`.
    state: AtomicU32,
    detail: Mutex<Option<AllocationDetail>>,
}

impl Default for AllocationTable {
    fn default() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            count: AtomicU32::new(1),
            adding: Mutex::default(),
        }
    }
}

impl AllocationTable {
    pub(super) fn add(&self, base: usize, len: usize, detail: AllocationDetail) -> Option<u32> {
        let mut adding = lock(&self.adding);
        let count = self.count.load(Ordering::Relaxed);
        let number = adding.unused.pop().unwrap_or(count);
        let (chunk, at) = place(number);
        let length = FIRST_CHUNK << chunk;
        let slots = self.chunks.get(chunk)?;
        let slots = slots.get_or_init(|| (0..length).map(|_| AllocationSlot::default()).collect());
        let slot = &slots[at];
        slot.base.store(base, Ordering::Relaxed);
        slot.len.store(len, Ordering::Relaxed);
        slot.is_mapping
            .store(detail.kind == AllocationKind::Mapping, Ordering::Relaxed);
        let device = detail.kind.is_of_one_device().then_some(detail.device + 1);
        slot.device.store(device.unwrap_or(0), Ordering::Relaxed);
        slot.is_file.store(false, Ordering::Relaxed);
        slot.is_graph.store(false, Ordering::Relaxed);
        adding.serial += 1;
        *lock(&slot.detail) = Some(AllocationDetail {
            serial: adding.serial,
            ..detail
        });
        slot.state.store(0, Ordering::Release);
        self.count.store(count.max(number + 1), Ordering::Release);
        Some(number)
    }

    /// Gives the number of an allocation that was freed, and which no address tells of any more, to a later one.
    pub(super) fn recycle(&self, number: u32) {
        let Some(slot) = self.slot(number) else {
            return;
        };
        let is_free = slot.state.load(Ordering::Acquire) & FREED != 0;
        if is_free && lock(&slot.detail).take().is_some() {
            lock(&self.adding).unused.push(number);
        }
    }

    #[inline]
    fn slot(&self, number: u32) -> Option<&AllocationSlot> {
        let (chunk, at) = place(number);
        self.chunks.get(chunk)?.get()?.get(at)
    }

    #[inline]
    pub(super) fn info(&self, number: u32) -> Option<AllocationInfo> {
        let slot = self.slot(number)?;
        Some(AllocationInfo {
            base: slot.base.load(Ordering::Relaxed),
            len: slot.len.load(Ordering::Relaxed),
            state: match slot.state.load(Ordering::Acquire) & FREED {
                0 => AllocationState::Live,
                _ => AllocationState::Freed,
            },
            is_mapping: slot.is_mapping.load(Ordering::Relaxed),
            is_graph: slot.is_graph.load(Ordering::Acquire),
            device: slot.device.load(Ordering::Relaxed).checked_sub(1),
        })
    }

    /// Notes that an allocation's pages are a file's.
    pub(super) fn set_file(&self, number: u32) {
        if let Some(slot) = self.slot(number) {
            slot.is_file.store(true, Ordering::Release);
        }
    }

    /// Whether an allocation's pages are a file's.
    pub(super) fn is_file(&self, number: u32) -> bool {
        self.slot(number)
            .is_some_and(|slot| slot.is_file.load(Ordering::Acquire))
    }

    pub(super) fn detail(&self, number: u32) -> Option<AllocationDetail> {
        lock(&self.slot(number)?.detail).clone()
    }

    /// Marks a live allocation as freed; `None` if it was freed before.
    pub(super) fn free(&self, number: u32, by: &'static str) -> Option<AllocationDetail> {
        let slot = self.slot(number)?;
        let before = slot.state.fetch_or(FREED, Ordering::AcqRel);
        if before & FREED != 0 {
            return None;
        }
        let mut detail = lock(&slot.detail);
        if let Some(detail) = detail.as_mut() {
            detail.freed_by = Some(by);
        }
        detail.clone()
    }

    /// Holds a live allocation; `false` if there is none.
    pub(super) fn hold(&self, number: u32) -> bool {
        let one_more = |state: u32| (state & FREED == 0).then_some(state + 1);
        self.slot(number).is_some_and(|slot| {
            slot.state
                .try_update(Ordering::AcqRel, Ordering::Acquire, one_more)
                .is_ok()
        })
    }

    /// Lets go of an allocation that was held; whether it was freed and nobody else holds it.
    pub(super) fn let_go(&self, number: u32) -> bool {
        self.slot(number)
            .is_some_and(|slot| slot.state.fetch_sub(1, Ordering::AcqRel) == FREED + 1)
    }

    /// Has the pages and addresses of a freed allocation given back, unless somebody holds it or they are.
    pub(super) fn give_back(&self, number: u32, give_back: impl FnOnce(AllocationInfo)) {
        let Some(slot) = self.slot(number) else {
            return;
        };
        let _nobody_revives_it = lock(&slot.detail);
        let Some(info) = self.info(number) else {
            return;
        };
        let (unused, done) = (FREED, FREED | GIVEN_BACK);
        let given = slot
            .state
            .compare_exchange(unused, done, Ordering::AcqRel, Ordering::Acquire);
        if given.is_ok() {
            give_back(info);
        }
    }

    /// Makes an allocation that nobody knows yet one of a graph: free until [`revive`](Self::revive), with its address kept.
    pub(super) fn keep_for_graph(&self, number: u32) {
        if let Some(slot) = self.slot(number) {
            slot.is_graph.store(true, Ordering::Release);
            slot.state.store(FREED | GIVEN_BACK, Ordering::Release);
        }
    }

    /// Makes a graph's allocation live again; `false` if it is.
    pub(super) fn revive(&self, number: u32) -> bool {
        let Some(slot) = self.slot(number) else {
            return false;
        };
        let mut detail = lock(&slot.detail);
        if let Some(detail) = detail.as_mut() {
            detail.freed_by = None;
        }
        let before = slot
            .state
            .fetch_and(!(FREED | GIVEN_BACK), Ordering::AcqRel);
        before & FREED != 0
    }

    /// Ends that the address of a freed allocation is a graph's. Has it given back, unless its pages still have to be: then with them.
    pub(super) fn end_graph(&self, number: u32, give_back: impl FnOnce(AllocationInfo)) {
        let (Some(slot), Some(info)) = (self.slot(number), self.info(number)) else {
            return;
        };
        let _nobody_gives_back = lock(&slot.detail);
        let was_graph = slot.is_graph.swap(false, Ordering::AcqRel);
        if was_graph && slot.state.load(Ordering::Acquire) & GIVEN_BACK != 0 {
            give_back(info);
        }
    }

    pub(super) fn all(&self) -> Vec<(AllocationInfo, AllocationDetail)> {
        (1..self.count.load(Ordering::Acquire))
            .filter_map(|n| Some((self.info(n)?, self.detail(n)?)))
            .collect()
    }

    pub(super) fn live(&self) -> Vec<(AllocationInfo, AllocationDetail)> {
        (1..self.count.load(Ordering::Acquire))
            .filter(|&n| {
                self.info(n)
                    .is_some_and(|info| info.state == AllocationState::Live)
            })
            .filter_map(|n| Some((self.info(n)?, self.detail(n)?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each number has a place of its own, right behind that of the number before.
    #[test]
    fn chunks_follow_each_other_without_a_gap() {
        let mut expected = (0, 0);
        for number in 0..16 * FIRST_CHUNK as u32 {
            assert_eq!(place(number), expected, "{number}");
            expected.1 += 1;
            if expected.1 == FIRST_CHUNK << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        let last = (FIRST_CHUNK << CHUNKS) - FIRST_CHUNK - 1;
        let last_place = (FIRST_CHUNK << (CHUNKS - 1)) - 1;
        assert_eq!(place(last as u32), (CHUNKS - 1, last_place));
    }
}

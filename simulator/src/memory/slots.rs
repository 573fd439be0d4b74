//! The records of all allocations ever made, found by number without a lock.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use super::allocation::{AllocationDetail, AllocationInfo, AllocationState};
use crate::sync::lock;

const CHUNK: usize = 4096;
const CHUNKS: usize = 16384;

pub(super) struct AllocationTable {
    chunks: Box<[OnceLock<Box<[AllocationSlot]>>]>,
    /// The number of slots in use; slot 0 stands for "none".
    count: AtomicU32,
    adding: Mutex<()>,
}

#[derive(Default)]
struct AllocationSlot {
    base: AtomicUsize,
    len: AtomicUsize,
    freed: AtomicU32,
    detail: Mutex<Option<AllocationDetail>>,
}

impl Default for AllocationTable {
    fn default() -> Self {
        Self {
            chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect(),
            count: AtomicU32::new(1),
            adding: Mutex::new(()),
        }
    }
}

impl AllocationTable {
    pub(super) fn add(&self, base: usize, len: usize, detail: AllocationDetail) -> Option<u32> {
        let _adding = lock(&self.adding);
        let number = self.count.load(Ordering::Relaxed);
        let chunk = self.chunks.get(number as usize / CHUNK)?;
        let slots = chunk.get_or_init(|| (0..CHUNK).map(|_| AllocationSlot::default()).collect());
        let slot = &slots[number as usize % CHUNK];
        slot.base.store(base, Ordering::Relaxed);
        slot.len.store(len, Ordering::Relaxed);
        *lock(&slot.detail) = Some(AllocationDetail {
            serial: u64::from(number),
            ..detail
        });
        self.count.store(number + 1, Ordering::Release);
        Some(number)
    }

    #[inline]
    fn slot(&self, number: u32) -> Option<&AllocationSlot> {
        self.chunks
            .get(number as usize / CHUNK)?
            .get()?
            .get(number as usize % CHUNK)
    }

    #[inline]
    pub(super) fn info(&self, number: u32) -> Option<AllocationInfo> {
        let slot = self.slot(number)?;
        Some(AllocationInfo {
            base: slot.base.load(Ordering::Relaxed),
            len: slot.len.load(Ordering::Relaxed),
            state: if slot.freed.load(Ordering::Acquire) == 0 {
                AllocationState::Live
            } else {
                AllocationState::Freed
            },
        })
    }

    pub(super) fn detail(&self, number: u32) -> Option<AllocationDetail> {
        lock(&self.slot(number)?.detail).clone()
    }

    /// Marks a live allocation as freed; `None` if it was freed before.
    pub(super) fn free(&self, number: u32, by: &'static str) -> Option<AllocationDetail> {
        let slot = self.slot(number)?;
        if slot.freed.swap(1, Ordering::AcqRel) != 0 {
            return None;
        }
        let mut detail = lock(&slot.detail);
        if let Some(detail) = detail.as_mut() {
            detail.freed_by = Some(by);
        }
        detail.clone()
    }

    /// Takes a free back.
    pub(super) fn revive(&self, number: u32) {
        if let Some(slot) = self.slot(number) {
            if let Some(detail) = lock(&slot.detail).as_mut() {
                detail.freed_by = None;
            }
            slot.freed.store(0, Ordering::Release);
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

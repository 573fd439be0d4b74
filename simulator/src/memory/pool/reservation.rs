//! Taking memory for allocations, from a pool or from its device.

use std::borrow::Cow;

use super::Pool;
use super::account::{LIKED, Relation};
use super::directory::POOLS;
use crate::device;
use crate::error::{Result, code};
use crate::memory::allocation::AllocationKind;
use crate::memory::space::Memory;
use crate::sync::lock;
use crate::work::CompletionPoint;

impl Pool {
    /// Takes memory for an allocation of a context, by this call, in a stream that has come to `point`. The stream has to wait for the points that come
    /// with the address.
    pub(crate) fn allocate(
        &self,
        context: u64,
        bytes: usize,
        point: &CompletionPoint,
        by: Cow<'static, str>,
    ) -> Result<(usize, Vec<CompletionPoint>)> {
        let waits = self.reserve(bytes, point).ok_or(code::OUT_OF_MEMORY)?;
        let kind = AllocationKind::Pool(self.handle as u64);
        let base = Memory::global().allocate(bytes, kind, context, self.device_number(), by);
        let shown = |base: &usize| match &self.shared {
            Some(shared) => shared.place(*base, bytes).is_ok(),
            None => true,
        };
        let Some(base) = base.filter(shown) else {
            lock(&self.state).account.freed(0, bytes);
            self.trim(0);
            return Err(code::OUT_OF_MEMORY);
        };
        Ok((base, waits))
    }

    /// Counts bytes as used: freed ones that may serve this allocation first, then the device's; where it has none left, what other pools
    /// hold and do not use.
    fn reserve(&self, bytes: usize, point: &CompletionPoint) -> Option<Vec<CompletionPoint>> {
        if device::exceeds_host(bytes) {
            return None;
        }
        match self.location.device() {
            Some(device) => take_or_release_unused(device, Some(self), || {
                self.reserve_from(bytes, point, |more| device::take_memory(device, more))
            }),
            // What the host has was looked at above.
            None => self.reserve_from(bytes, point, |_| true),
        }
    }

    /// As [`reserve`](Self::reserve), where `take` takes what is missing.
    fn reserve_from(
        &self,
        bytes: usize,
        point: &CompletionPoint,
        take: impl Fn(usize) -> bool,
    ) -> Option<Vec<CompletionPoint>> {
        let relation = |free: &CompletionPoint| match free {
            free if point.is_in_queue_of(free) => Relation::SameStream,
            free if point.is_after(free) => Relation::After,
            _ => Relation::Unknown,
        };
        let mut state = lock(&self.state);
        let limit = match self.max_size {
            0 => usize::MAX,
            most => most,
        };
        let account = &state.account;
        if state.destroyed || bytes > limit.saturating_sub(account.used) {
            return None;
        }
        // Whole pieces are taken, of which the last may go beyond the limit.
        let most = limit.checked_next_multiple_of(LIKED).unwrap_or(usize::MAX);
        let room = most.saturating_sub(account.reserved);
        state
            .account
            .allocate(bytes, relation, |more| more <= room && take(more))
    }
}

/// Takes memory of a device for what is in no pool.
///
/// # Errors
///
/// Out of memory, also without what pools hold and do not use.
pub(in crate::memory) fn take_from_device(device: usize, bytes: usize) -> Result {
    let take = || device::take_memory(device, bytes).then_some(());
    take_or_release_unused(device, None, take).ok_or(code::OUT_OF_MEMORY)
}

/// What `take` takes from a device. Where it finds too little, it tries again after all pools of the device, but for the one that it is
/// for, have given back what nothing uses: their thresholds are hints.
fn take_or_release_unused<T>(
    device: usize,
    taker: Option<&Pool>,
    take: impl Fn() -> Option<T>,
) -> Option<T> {
    take().or_else(|| {
        let taker = taker.map(|pool| pool.handle);
        POOLS
            .filter(|pool| pool.is_of(device) && Some(pool.handle) != taker)
            .iter()
            .for_each(|pool| pool.trim(0));
        take()
    })
}

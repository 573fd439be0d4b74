//! The address space: allocations in the arena, and the host ranges that a program has registered.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, RwLock};

use super::allocation::{
    AllocationDetail, AllocationInfo, AllocationKind, AllocationState, RegisteredRange, Use,
};
use super::arena::Arena;
use super::slots::AllocationTable;
use super::virtual_memory;
use crate::settings;
use crate::sync::{lock, read, write};

/// The address space.
pub struct Memory {
    pub(super) arena: Arena,
    pub(super) slots: AllocationTable,
    registered: RwLock<BTreeMap<usize, RegisteredRange>>,
    /// See [`take_used_again`](Self::take_used_again).
    used_again: Mutex<Vec<(usize, usize)>>,
    /// Counts changes, so that the engine drops what it remembers of the layout.
    pub(super) generation: AtomicU64,
}

impl Memory {
    /// The process's address space. Reserved at first use.
    pub fn global() -> &'static Memory {
        static MEMORY: OnceLock<Memory> = OnceLock::new();
        MEMORY.get_or_init(|| Memory {
            arena: Arena::reserve(),
            slots: AllocationTable::default(),
            registered: RwLock::default(),
            used_again: Mutex::default(),
            generation: AtomicU64::new(1),
        })
    }

    /// Base and length of the arena: each address inside can be read and written without a signal, allocated or not.
    #[inline]
    pub fn arena(&self) -> (usize, usize) {
        (self.arena.base(), self.arena.len())
    }

    /// Whether an address lies in the arena.
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.arena.contains(address)
    }

    /// Allocates `len` bytes at a page's start; `None` when there is no room. The bytes are zero.
    pub fn allocate(
        &self,
        len: usize,
        kind: AllocationKind,
        context: u64,
        device: usize,
        made_by: impl Into<Cow<'static, str>>,
    ) -> Option<usize> {
        let base = self.take(len, |arena| arena.take(len))?;
        let detail = AllocationDetail {
            kind,
            context,
            device,
            made_by: made_by.into(),
            freed_by: None,
            serial: 0,
        };
        let slot = self.slots.add(base, len, detail)?;
        self.arena.mark(base, len, slot);
        self.changed();
        Some(base)
    }

    /// Frees the live allocation that starts at `base`. Its pages go back to the system as soon as nobody holds it; its address stays known as
    /// freed.
    pub fn free(
        &self,
        base: usize,
        by: &'static str,
    ) -> Option<(AllocationInfo, AllocationDetail)> {
        let slot = self.arena.slot(base)?;
        let info = self.slots.info(slot)?;
        if info.base != base {
            return None;
        }
        let detail = self.slots.free(slot, by)?;
        self.changed();
        self.give_back(slot);
        Some((info, detail))
    }

    /// Takes addresses for a reservation of virtual memory, without memory behind them.
    pub(super) fn take_addresses(&self, len: usize, align: usize) -> Option<usize> {
        self.take(len, |arena| arena.take_aligned(len, align))
    }

    /// Takes `len` addresses; where none are left, those that were given back first.
    fn take(&self, len: usize, take: impl Fn(&Arena) -> Option<usize>) -> Option<usize> {
        loop {
            let taken = take(&self.arena);
            if taken.is_some() || len >= self.arena.len() {
                return taken;
            }
            let (base, span) = self.arena.oldest_kept(false)?;
            self.use_again(base, span);
        }
    }

    /// Takes addresses back behind which no memory is.
    pub(super) fn give_addresses_back(&self, base: usize, len: usize) {
        self.arena.give_addresses_back(base, len);
        self.use_oldest_again();
    }

    /// What was given back long ago is used again. To be called with no slot locked: it locks others.
    fn use_oldest_again(&self) {
        while let Some((base, span)) = self.arena.oldest_kept(true) {
            self.use_again(base, span);
        }
    }

    fn use_again(&self, base: usize, span: usize) {
        let slots = self.arena.clear(base, span);
        slots.for_each(|slot| self.slots.recycle(slot));
        if settings::get().checks.stream_order {
            lock(&self.used_again).push((base, span));
        }
        self.arena.use_again(base, span);
    }

    /// Addresses, with their bytes, that were made to be used again since this was asked last, by whoever looks at the order of work: what
    /// is remembered of them is about what was there before.
    pub(crate) fn take_used_again(&self) -> Vec<(usize, usize)> {
        std::mem::take(&mut lock(&self.used_again))
    }

    /// Enters a mapping of physical memory, whose bytes are a file's, or of what has no bytes of its own, at addresses that were taken for a
    /// reservation.
    pub(super) fn map(
        &self,
        base: usize,
        len: usize,
        device: usize,
        file: Option<BorrowedFd<'_>>,
    ) -> Option<()> {
        let detail = AllocationDetail {
            kind: AllocationKind::Mapping,
            context: 0,
            device,
            made_by: "cuMemMap".into(),
            freed_by: None,
            serial: 0,
        };
        let slot = self.slots.add(base, len, detail)?;
        if let Some(file) = file {
            self.arena.map_file(base, len, file, 0)?;
        }
        let before = self.arena.named(base, len);
        self.arena.mark(base, len, slot);
        self.changed();
        before.into_iter().for_each(|old| self.forget_mapping(old));
        Some(())
    }

    /// Forgets a mapping that was ended, if others have taken all of its addresses.
    fn forget_mapping(&self, slot: u32) {
        if let Some(info) = self.slots.info(slot)
            && !self.arena.named(info.base, info.len).contains(&slot)
        {
            self.slots.recycle(slot);
        }
    }

    /// Ends the mapping that starts at `base`. Its addresses stay known as unmapped.
    pub(super) fn unmap(&self, base: usize) {
        let slot = self.arena.slot(base);
        if let Some((slot, info)) = slot.and_then(|slot| Some((slot, self.slots.info(slot)?))) {
            self.slots.free(slot, "cuMemUnmap");
            self.changed();
            self.arena.unmap_file(base, info.len);
        }
    }

    /// Gives back the pages and addresses of a freed allocation if nobody holds it.
    pub(super) fn give_back(&self, slot: u32) {
        let give_back = |info: AllocationInfo| {
            if self.slots.is_file(slot) {
                self.arena.unmap_file(info.base, info.len);
            }
            self.arena.discard(info.base, info.len);
            if !info.is_graph {
                self.arena.give_addresses_back(info.base, info.len);
            }
        };
        self.slots.give_back(slot, give_back);
        self.use_oldest_again();
    }

    /// Shows a file's bytes from `offset` on, a multiple of the page, in place of the pages of an allocation that nobody knows yet.
    pub(super) fn back_with_file(
        &self,
        base: usize,
        file: BorrowedFd<'_>,
        offset: usize,
    ) -> Option<()> {
        let slot = self.arena.slot(base)?;
        let info = self.slots.info(slot)?;
        self.arena.map_file(base, info.len, file, offset)?;
        self.slots.set_file(slot);
        Some(())
    }

    /// Takes an address for memory of a graph, which is not live yet.
    pub(super) fn keep_for_graph(
        &self,
        len: usize,
        context: u64,
        device: usize,
        made_by: &'static str,
    ) -> Option<usize> {
        let base = self.allocate(len, AllocationKind::Graph, context, device, made_by)?;
        self.slots.keep_for_graph(self.arena.slot(base)?);
        self.changed();
        Some(base)
    }

    /// Makes the memory of a graph that is free live; `false` if it is.
    pub(super) fn revive(&self, base: usize) -> bool {
        let revived = self
            .arena
            .slot(base)
            .is_some_and(|slot| self.slots.revive(slot));
        self.changed();
        revived
    }

    /// Gives the address of a graph's memory back, and the memory if it is live.
    pub(super) fn end_graph(&self, base: usize) {
        self.free(base, "the end of its graph");
        if let Some(slot) = self.arena.slot(base) {
            let give_back = |info: AllocationInfo| {
                self.arena.give_addresses_back(info.base, info.len);
            };
            self.slots.end_graph(slot, give_back);
            self.use_oldest_again();
        }
    }

    /// The allocation that holds `address`, or whose pages it lies on, live or freed; or the registered host range around it.
    #[inline]
    pub fn find(&self, address: usize) -> Option<AllocationInfo> {
        match self.arena.slot(address) {
            Some(slot) => self.slots.info(slot),
            None if self.arena.contains(address) => None,
            None => self.find_registered(address),
        }
    }

    #[cold]
    fn find_registered(&self, address: usize) -> Option<AllocationInfo> {
        let (base, range) = self.registered_range(address)?;
        Some(AllocationInfo {
            base,
            len: range.len,
            state: AllocationState::Live,
            is_mapping: false,
            is_graph: false,
            device: None,
        })
    }

    /// Everything about the allocation on whose pages `address` lies.
    pub fn detail(&self, address: usize) -> Option<(AllocationInfo, AllocationDetail)> {
        let slot = self.arena.slot(address)?;
        Some((self.slots.info(slot)?, self.slots.detail(slot)?))
    }

    /// All live allocations.
    pub(super) fn live(&self) -> Vec<(AllocationInfo, AllocationDetail)> {
        self.slots.live()
    }

    /// All live allocations of one context.
    pub fn of_context(&self, context: u64) -> Vec<(AllocationInfo, AllocationDetail)> {
        self.live()
            .into_iter()
            .filter(|(_, detail)| detail.context == context)
            .collect()
    }

    /// Whether `size` bytes at `address` lie in one live allocation or registered range, or in mappings without gaps that some device
    /// may read.
    pub fn is_live(&self, address: usize, size: usize) -> bool {
        self.allows(address, size, Use::Read)
    }

    /// Whether `size` bytes at `address` are live and may be used so. The memory of a graph may be live only when the work is executed for
    /// which this is asked.
    pub(super) fn allows(&self, address: usize, size: usize, how: Use) -> bool {
        self.find(address).is_some_and(|info| {
            (info.state == AllocationState::Live || info.is_graph)
                && match info.is_mapping {
                    true => {
                        let writes = how == Use::Write;
                        virtual_memory::validate(address, size, writes, None).is_ok()
                    }
                    false => info.holds(address, size),
                }
        })
    }

    /// Registers a host range; `false` if part of it is registered already or lies in the arena.
    pub fn register(&self, base: usize, range: RegisteredRange) -> bool {
        let mut ranges = write(&self.registered);
        let overlaps = ranges
            .range(..base + range.len)
            .next_back()
            .is_some_and(|(&start, other)| start + other.len > base);
        if overlaps || self.arena.contains(base) {
            return false;
        }
        ranges.insert(base, range);
        self.changed();
        true
    }

    /// Forgets the range that was registered at `base`.
    pub fn unregister(&self, base: usize) -> bool {
        self.changed();
        write(&self.registered).remove(&base).is_some()
    }

    /// Forgets all ranges of a context.
    pub fn unregister_context(&self, context: u64) {
        self.changed();
        write(&self.registered).retain(|_, range| range.context != context);
    }

    /// The registered range around `address`.
    pub fn registered_range(&self, address: usize) -> Option<(usize, RegisteredRange)> {
        let ranges = read(&self.registered);
        let (&base, &range) = ranges.range(..=address).next_back()?;
        (address - base < range.len).then_some((base, range))
    }

    pub(super) fn changed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// The allocations, live or freed, that start before and after `address`.
    pub(super) fn neighbours(
        &self,
        address: usize,
    ) -> [Option<(AllocationInfo, AllocationDetail)>; 2] {
        let all = self.slots.all();
        let before = all
            .iter()
            .filter(|(info, _)| info.base <= address)
            .max_by_key(|(info, _)| info.base)
            .cloned();
        let after = all
            .into_iter()
            .filter(|(info, _)| info.base > address)
            .min_by_key(|(info, _)| info.base);
        [before, after]
    }
}

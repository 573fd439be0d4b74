//! The simulated address space. Device, managed and pinned allocations are real addresses inside one reserved arena, so that one
//! pointer means the same to the host and to kernels; host ranges that a program registers lie outside and are known by table.
//!
//! Each allocation starts on its own page and is followed by an unused gap; addresses are not used again until the arena has been
//! used up once. So an access out of bounds meets no neighbour, and an access to freed memory is told apart from it.
//! A lookup by address is one load from a page table (`arena`) and two from a slot (`slots`), without locks.

mod arena;
mod device;
mod slots;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use arena::Arena;
use slots::Slots;

/// What an allocation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Device memory of `cuMemAlloc` and its like.
    Device,
    /// Managed memory.
    Managed,
    /// Page-locked host memory, with its `CU_MEMHOSTALLOC_*` flags.
    Pinned(u32),
    /// Stream-ordered memory from the pool with this identity.
    Pool(u64),
    /// A global or constant variable of a loaded module.
    Global,
    /// Memory that the simulator's own device runtime uses (the device heap).
    Internal,
}

/// Whether an allocation may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It may.
    Live,
    /// It has been freed.
    Freed,
}

/// What a lookup by address tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationInfo {
    /// The first byte's address.
    pub base: usize,
    /// The length in bytes, as asked for.
    pub len: usize,
    /// Whether it may be used.
    pub state: State,
}

impl AllocationInfo {
    /// Whether `size` bytes from `address` lie inside.
    #[inline]
    pub fn holds(&self, address: usize, size: usize) -> bool {
        address >= self.base && size <= self.len && address - self.base <= self.len - size
    }
}

/// Everything about one allocation, for driver calls and reports.
#[derive(Clone, Debug)]
pub struct Detail {
    /// What it is for.
    pub kind: Kind,
    /// The context that owns it; 0 for none.
    pub context: u64,
    /// The device whose memory it takes.
    pub device: usize,
    /// The driver call (or the variable) that made it.
    pub made_by: Cow<'static, str>,
    /// The driver call that freed it.
    pub freed_by: Option<&'static str>,
    /// Counts allocations of the process, from 1; `CU_POINTER_ATTRIBUTE_BUFFER_ID`.
    pub serial: u64,
}

/// A host range that the program has registered.
#[derive(Clone, Copy, Debug)]
pub struct Registered {
    /// Its length in bytes.
    pub len: usize,
    /// `CU_MEMHOSTREGISTER_*`.
    pub flags: u32,
    /// The context it was registered in.
    pub context: u64,
}

/// The address space.
pub struct Memory {
    arena: Arena,
    slots: Slots,
    registered: RwLock<BTreeMap<usize, Registered>>,
    /// Counts changes, so that the engine drops what it remembers of the layout.
    generation: AtomicU64,
}

impl Memory {
    /// The process's address space. Reserved at first use.
    pub fn global() -> &'static Memory {
        static MEMORY: OnceLock<Memory> = OnceLock::new();
        MEMORY.get_or_init(|| Memory {
            arena: Arena::reserve(),
            slots: Slots::default(),
            registered: RwLock::default(),
            generation: AtomicU64::new(1),
        })
    }

    /// Base and length of the arena: each address inside can be read and written without a signal, allocated or not.
    #[inline]
    pub fn arena(&self) -> (usize, usize) {
        (self.arena.base(), self.arena.len())
    }

    /// Allocates `len` bytes at a page's start; `None` when there is no room. The bytes are zero.
    pub fn allocate(
        &self,
        len: usize,
        kind: Kind,
        context: u64,
        device: usize,
        made_by: impl Into<Cow<'static, str>>,
    ) -> Option<usize> {
        let base = self.arena.take(len)?;
        let detail = Detail {
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

    /// Frees the live allocation that starts at `base`. Its pages go back to the system; its address stays known as freed.
    pub fn free(&self, base: usize, by: &'static str) -> Option<(AllocationInfo, Detail)> {
        let slot = self.arena.slot(base)?;
        let info = self.slots.info(slot)?;
        if info.base != base {
            return None;
        }
        let detail = self.slots.free(slot, by)?;
        self.changed();
        self.arena.give_back(base, info.len);
        Some((info, detail))
    }

    /// Makes a freed allocation usable again, at its address and of its size.
    pub(crate) fn revive(&self, base: usize) {
        if let Some(slot) = self.arena.slot(base) {
            self.arena.keep(base);
            self.slots.revive(slot);
            self.changed();
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
            state: State::Live,
        })
    }

    /// Everything about the allocation on whose pages `address` lies.
    pub fn detail(&self, address: usize) -> Option<(AllocationInfo, Detail)> {
        let slot = self.arena.slot(address)?;
        Some((self.slots.info(slot)?, self.slots.detail(slot)?))
    }

    /// All live allocations of one context.
    pub fn of_context(&self, context: u64) -> Vec<(AllocationInfo, Detail)> {
        self.slots
            .live()
            .into_iter()
            .filter(|(_, detail)| detail.context == context)
            .collect()
    }

    /// Whether `size` bytes at `address` lie in one live allocation or registered range.
    pub fn is_live(&self, address: usize, size: usize) -> bool {
        self.find(address)
            .is_some_and(|info| info.state == State::Live && info.holds(address, size))
    }

    /// Registers a host range; `false` if part of it is registered already or lies in the arena.
    pub fn register(&self, base: usize, range: Registered) -> bool {
        let mut ranges = self
            .registered
            .write()
            .unwrap_or_else(PoisonError::into_inner);
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
        self.registered
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&base)
            .is_some()
    }

    /// Forgets all ranges of a context.
    pub fn unregister_context(&self, context: u64) {
        self.changed();
        self.registered
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|_, range| range.context != context);
    }

    /// The registered range around `address`.
    pub fn registered_range(&self, address: usize) -> Option<(usize, Registered)> {
        let ranges = self
            .registered
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let (&base, &range) = ranges.range(..=address).next_back()?;
        (address - base < range.len).then_some((base, range))
    }

    fn changed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// The allocations, live or freed, that start before and after `address`.
    fn neighbours(&self, address: usize) -> [Option<(AllocationInfo, Detail)>; 2] {
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

//! Allocations that a copy or a fill is going through.
//!
//! A program may free memory while another stream still copies to it (`cuMemFree` waits for no work if the memory is of a pool). What the
//! copy writes after that must be lost, as on a device. So an allocation's pages and addresses are given back when it is free *and* held
//! by nobody: before, the rest of the copy would make pages resident that nobody gives back again, or go into the allocation that got the
//! addresses next.

use super::allocation::{AllocationKind, AllocationState, Use};
use super::graph_memory;
use super::space::Memory;

/// Holds an allocation, or nothing where the memory is the program's own. It may be freed meanwhile.
pub(super) struct Hold<'a> {
    memory: &'a Memory,
    slot: Option<u32>,
}

impl Memory {
    /// Holds what `size` bytes at `address` lie in, if that is one live allocation or registered range that may be used so. Mappings of
    /// virtual memory are looked at and not held: their addresses stay reserved, and their bytes are the physical memory's.
    pub(super) fn hold(&self, address: usize, size: usize, how: Use) -> Option<Hold<'_>> {
        let info = self.find(address)?;
        if info.is_graph && !graph_memory::allows(info.base) {
            return None;
        }
        let is_mapping = info.is_mapping;
        let slot = self.arena.slot(address).filter(|_| !is_mapping);
        if let Some(slot) = slot
            && !self.slots.hold(slot)
        {
            return None;
        }
        let hold = Hold { memory: self, slot };
        let allowed = match is_mapping {
            true => self.allows(address, size, how),
            false => self.find(address)?.holds(address, size),
        };
        allowed.then_some(hold)
    }
}

impl Memory {
    /// Why memory could not be held that was there when its use was issued.
    pub(super) fn why_not_held(&self, address: usize) -> String {
        match self.detail(address) {
            Some((info, detail)) if info.is_graph => match (info.state, detail.freed_by) {
                _ if !graph_memory::allows(info.base) => {
                    "is memory of a graph, and no edges of the graph order this node between its allocation and its free"
                        .into()
                }
                (AllocationState::Live, _) => "is memory of a graph that is shorter".into(),
                (AllocationState::Freed, None) => {
                    "is memory of a graph that is not allocated yet".into()
                }
                (AllocationState::Freed, Some(by)) => {
                    format!("is memory of a graph that was freed by {by}")
                }
            },
            Some((_, detail)) if detail.kind == AllocationKind::Array => {
                "is a CUDA array that had been destroyed".into()
            }
            Some((_, detail)) if detail.kind == AllocationKind::ExternalArray => {
                let by = detail.freed_by.unwrap_or("nobody");
                format!("is a CUDA array in external memory that was ended by {by}")
            }
            _ => "had been freed or unmapped".into(),
        }
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot
            && self.memory.slots.let_go(slot)
        {
            self.memory.give_back(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::guest::{self, Source};
    use super::*;

    const BYTES: usize = 3 << 12;

    fn allocate() -> usize {
        let kind = AllocationKind::Device;
        let base = Memory::global().allocate(BYTES, kind, 1, 0, "a test");
        base.expect("there is room")
    }

    fn last_byte(base: usize) -> u8 {
        let mut byte = 0u8;
        let to = (&raw mut byte).expose_provenance();
        // SAFETY: pages of the arena stay mapped, and `byte` is as long as the copy.
        unsafe { guest::copy(to, base + BYTES - 1, Source::Guest, 1) };
        byte
    }

    fn write_last_byte(base: usize) {
        // SAFETY: pages of the arena stay mapped.
        unsafe { guest::write(base + BYTES - 1, &[7]) };
    }

    #[test]
    fn pages_are_given_back_when_the_last_holder_lets_go() {
        let (memory, base) = (Memory::global(), allocate());
        let hold = || memory.hold(base, BYTES, Use::Write);
        let [first, second] = [hold(), hold()];
        assert!(first.is_some() && second.is_some());
        assert!(memory.free(base, "a test").is_some());
        let state = memory.find(base).map(|info| info.state);
        assert_eq!(state, Some(AllocationState::Freed));
        assert!(hold().is_none() && memory.free(base, "a test").is_none());
        write_last_byte(base);
        drop(first);
        assert_eq!(last_byte(base), 7);
        drop(second);
        assert_eq!(last_byte(base), 0);
    }

    /// What is given back twice would be handed out twice.
    #[test]
    fn addresses_are_given_back_once() {
        let (memory, base) = (Memory::global(), allocate());
        let hold = memory.hold(base, BYTES, Use::Write);
        assert!(hold.is_some());
        assert!(memory.free(base, "a test").is_some());
        drop(hold);
        write_last_byte(base);
        let slot = memory.arena.slot(base).expect("the address stays known");
        memory.give_back(slot);
        assert_eq!(last_byte(base), 7, "it was given back again");
    }

    #[test]
    fn who_lets_go_of_a_live_allocation_leaves_it() {
        let (memory, base) = (Memory::global(), allocate());
        let hold = memory.hold(base + 1, BYTES - 1, Use::Write);
        assert!(hold.is_some());
        write_last_byte(base);
        assert!(
            memory.hold(base + 1, BYTES, Use::Write).is_none(),
            "too long"
        );
        drop(hold);
        assert_eq!(last_byte(base), 7);
        assert!(memory.free(base, "a test").is_some());
        assert_eq!(last_byte(base), 0);
    }

    /// A graph's allocation, freed at its last launch, is made again while a copy still goes into it.
    #[test]
    fn what_lives_again_stays_when_an_earlier_holder_lets_go() {
        let memory = Memory::global();
        let base = memory.keep_for_graph(BYTES, 1, 0, "a test");
        let base = base.expect("there is room");
        assert!(memory.hold(base, BYTES, Use::Write).is_none());
        assert!(memory.revive(base));
        let hold = memory.hold(base, BYTES, Use::Write);
        assert!(hold.is_some());
        assert!(memory.free(base, "a test").is_some());
        assert!(memory.revive(base) && !memory.revive(base));
        write_last_byte(base);
        drop(hold);
        assert_eq!(last_byte(base), 7);
        assert!(memory.free(base, "a test").is_some());
        assert_eq!(last_byte(base), 0);
        memory.end_graph(base);
    }

    /// The last use of a graph's memory may end after its graph.
    #[test]
    fn a_graphs_addresses_are_given_back_once() {
        let memory = Memory::global();
        let base = memory.keep_for_graph(BYTES, 1, 0, "a test");
        let base = base.expect("there is room");
        assert!(memory.revive(base));
        let hold = memory.hold(base, BYTES, Use::Write);
        write_last_byte(base);
        memory.end_graph(base);
        assert_eq!(last_byte(base), 7, "somebody still uses it");
        drop(hold);
        assert_eq!(last_byte(base), 0);
        write_last_byte(base);
        memory.end_graph(base);
        let slot = memory.arena.slot(base).expect("the address stays known");
        memory.give_back(slot);
        assert_eq!(last_byte(base), 7, "it was given back again");
    }
}

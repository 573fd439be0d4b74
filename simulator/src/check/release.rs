//! Releases and acquires: what fences and strong accesses publish at an address, and what those who read there learn.
//!
//! A release is seen by an acquire if each one's scope includes the other's thread (PTX ISA, "morally strong"). Between
//! threads of one block every scope does; between blocks of a cluster `.cta` does not.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use warpsmith_isa::effect::{AccessKind, Scope};

use super::access::AccessClass;
use super::clock::{Clocks, Snapshot, Thread};
use super::known::{Agent, Known};

/// Where strong accesses meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Location {
    /// An offset in the shared memory of the cluster.
    Shared(u32),
    /// An address in global memory.
    Global(u64),
}

/// What fences and strong accesses of a thread have prepared.
#[derive(Debug, Default)]
struct Prepared {
    /// What the last fence made ready to be published by strong writes.
    released: Option<Arc<Snapshot>>,
    /// The same of the last fence whose scope goes beyond the block.
    released_beyond: Option<Arc<Snapshot>>,
    /// What strong reads have met, to be seen after the next fence.
    acquired: Known,
    /// What they have met of other blocks, to be seen after the next fence whose scope goes beyond the block.
    acquired_beyond: Known,
}

/// What was published at an address.
#[derive(Clone, Debug, Default)]
struct Published {
    /// By threads of each block, for threads of the same block.
    within: Vec<Known>,
    /// By those whose scope goes beyond their block, for those whose scope does.
    beyond: Known,
}

impl Published {
    fn within(&mut self, block: u32) -> &mut Known {
        let block = block as usize;
        if self.within.len() <= block {
            self.within.resize(block + 1, Known::default());
        }
        &mut self.within[block]
    }

    fn is_empty(&self) -> bool {
        self.beyond.is_empty() && self.within.iter().all(Known::is_empty)
    }
}

/// A strong write, or the writing half of an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// What was there before is gone.
    Plain,
    /// The release sequence goes on.
    Update,
}

/// The releases and acquires of a cluster.
#[derive(Debug, Default)]
pub(super) struct Releases {
    /// By thread, of those that have used fences or strong accesses.
    prepared: FxHashMap<Thread, Prepared>,
    /// What was released at an address (an atomic variable, an mbarrier).
    locations: FxHashMap<Location, Published>,
}

/// Whether a scope includes the other blocks of the cluster.
fn is_beyond(scope: Scope) -> bool {
    scope > Scope::Block
}

impl Releases {
    /// A new cluster begins.
    pub fn start(&mut self) {
        self.prepared.clear();
        self.locations.clear();
    }

    /// A fence by one thread: releases for later strong writes, and acquires what earlier strong reads met.
    pub fn fence(&mut self, clocks: &mut Clocks, thread: Thread, scope: Scope) {
        let prepared = self.prepared.entry(thread).or_default();
        clocks.learn(thread, &std::mem::take(&mut prepared.acquired));
        if is_beyond(scope) {
            clocks.learn(thread, &std::mem::take(&mut prepared.acquired_beyond));
        }
        let released = Arc::new(clocks.snapshot(thread));
        if is_beyond(scope) {
            prepared.released_beyond = Some(released.clone());
        }
        prepared.released = Some(released);
    }

    /// What the last fence of a thread made ready for threads of other blocks.
    pub fn ready(&self, clocks: &Clocks, thread: Thread) -> Option<Known> {
        let prepared = self.prepared.get(&thread)?;
        let mut known = Known::default();
        clocks.add_snapshot(&mut known, prepared.released_beyond.as_ref()?);
        Some(known)
    }

    /// A strong write to a location. With `releases` it is a release of its own; otherwise it publishes what the last fence
    /// made ready.
    pub fn publish(
        &mut self,
        clocks: &mut Clocks,
        thread: Thread,
        location: Location,
        scope: Scope,
        releases: bool,
        write: Write,
    ) {
        let (within, beyond) = if releases {
            let own = Arc::new(clocks.snapshot(thread));
            (Some(own.clone()), Some(own))
        } else {
            match self.prepared.get(&thread) {
                Some(prepared) => (prepared.released.clone(), prepared.released_beyond.clone()),
                None => (None, None),
            }
        };
        let beyond = beyond.filter(|_| is_beyond(scope) && clocks.blocks() > 1);
        if within.is_none() && self.locations.is_empty() {
            return;
        }
        let published = self.locations.entry(location).or_default();
        if write == Write::Plain {
            *published = Published::default();
        } else if !is_beyond(scope) {
            // Nobody of another block reads, from a write whose scope ends here, what was written before it.
            published.beyond = Known::default();
        }
        if let Some(within) = within {
            clocks.add_snapshot(published.within(clocks.position(thread).0), &within);
        }
        if let Some(beyond) = beyond {
            clocks.add_snapshot(&mut published.beyond, &beyond);
        }
        if published.is_empty() {
            self.locations.remove(&location);
        }
    }

    /// A strong read of a location: with `acquires` the thread has seen what was released there, otherwise it will have
    /// after its next fence.
    pub fn observe(
        &mut self,
        clocks: &mut Clocks,
        thread: Thread,
        location: Location,
        scope: Scope,
        acquires: bool,
    ) {
        let Some(published) = self.locations.get(&location) else {
            return;
        };
        let block = clocks.position(thread).0 as usize;
        let nothing = Known::default();
        let within = published.within.get(block).unwrap_or(&nothing);
        let beyond = if is_beyond(scope) {
            &published.beyond
        } else {
            &nothing
        };
        if acquires {
            clocks.learn(thread, within);
            clocks.learn(thread, beyond);
        } else {
            let prepared = self.prepared.entry(thread).or_default();
            prepared.acquired.join(within);
            prepared.acquired_beyond.join(beyond);
        }
    }

    /// An access by all lanes of a warp to one location, if it can be done at once: the lanes know the same, and they only
    /// acquire or only release. False if it has to be done lane by lane.
    pub fn synchronise_warp(
        &mut self,
        clocks: &mut Clocks,
        (block, warp, mask): (u32, u32, u32),
        location: Location,
        class: AccessClass,
    ) -> bool {
        let (acquires, releases) = (class.order.acquires(), class.order.releases());
        if acquires == releases
            || class.kind == AccessKind::Write
            || !self.prepared.is_empty()
            || !clocks.is_uniform(block, warp, mask)
        {
            return false;
        }
        if acquires {
            if let Some(published) = self.locations.get(&location) {
                if let Some(within) = published.within.get(block as usize) {
                    clocks.learn_all(block, warp, mask, within);
                }
                if is_beyond(class.scope) {
                    clocks.learn_all(block, warp, mask, &published.beyond);
                }
            }
            return true;
        }
        let snapshot = clocks.snapshot_warp(block, warp);
        let published = self.locations.entry(location).or_default();
        clocks.add_snapshot(published.within(block), &snapshot);
        if !is_beyond(class.scope) {
            published.beyond = Known::default();
        } else if clocks.blocks() > 1 {
            clocks.add_snapshot(&mut published.beyond, &snapshot);
        }
        true
    }

    /// A thread starts an operation that the mbarrier at a location counts: whoever learns of its completion has seen what the
    /// thread has.
    pub fn start_operation(&mut self, clocks: &mut Clocks, thread: Thread, location: Location) {
        let snapshot = clocks.snapshot(thread);
        let mut known = Known::default();
        clocks.add_snapshot(&mut known, &snapshot);
        self.tell_all(clocks, location, |within| within.join(&known));
    }

    /// The mbarrier at a location has counted operations of an agent, all those of lower epochs.
    pub fn count(&mut self, clocks: &Clocks, location: Location, agent: Agent, epoch: u32) {
        self.tell_all(clocks, location, |within| within.learn_done(agent, epoch));
    }

    /// Adds to what threads of every block learn at a location, whatever their scope.
    fn tell_all(&mut self, clocks: &Clocks, location: Location, tell: impl Fn(&mut Known)) {
        let published = self.locations.entry(location).or_default();
        (0..clocks.blocks()).for_each(|block| tell(published.within(block)));
    }
}

//! Releases and acquires: what fences and strong accesses publish at an address, and what those who read there learn.
//!
//! A release is seen by an acquire if each one's scope includes the other's thread (PTX ISA, "morally strong"). Between
//! threads of one block every scope does; between blocks of a cluster `.cta` does not.

use std::collections::HashMap;
use std::sync::Arc;

use warpsmith_isa::effect::Scope;

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
    prepared: HashMap<Thread, Prepared>,
    /// What was released at an address (an atomic variable, an mbarrier).
    locations: HashMap<Location, Published>,
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
        let released = prepared.released_beyond.as_ref()?;
        Some(clocks.spell_out_snapshot(released))
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
            let block = clocks.position(thread).0;
            let known = clocks.spell_out_snapshot(&within);
            if beyond
                .as_ref()
                .is_some_and(|beyond| Arc::ptr_eq(beyond, &within))
            {
                published.beyond.join(&known);
            } else if let Some(beyond) = beyond {
                published.beyond.join(&clocks.spell_out_snapshot(&beyond));
            }
            published.within(block).join(&known);
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

    /// A thread starts an operation that the mbarrier at a location counts: whoever learns of its completion has seen what the
    /// thread has.
    pub fn start_operation(&mut self, clocks: &mut Clocks, thread: Thread, location: Location) {
        let snapshot = clocks.snapshot(thread);
        let known = clocks.spell_out_snapshot(&snapshot);
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

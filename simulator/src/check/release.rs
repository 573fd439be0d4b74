//! Releases and acquires: what fences and strong accesses publish at an address, and what those who read there learn.
//!
//! A release is seen by an acquire if each one's scope includes the other's thread (PTX ISA, "morally strong"): if there is a
//! scope, as wide as the narrower of theirs at most, that means the same group of threads to both.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use warpsmith_isa::effect::{AccessKind, Scope};

use super::access::AccessClass;
use super::clock::{Clocks, Snapshot};
use super::known::{Known, Number};

/// Where strong accesses meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Location {
    /// An offset in the shared memory of the cluster.
    Shared(u32),
    /// An address in global memory.
    Global(u64),
}

/// For each scope, by its number.
type ByScope<V> = [V; 4];

/// What fences and strong accesses of a thread have prepared.
#[derive(Debug)]
struct Prepared<T> {
    /// What the last fence of this scope or a wider one made ready to be published by strong writes.
    released: ByScope<Option<Arc<Snapshot<T>>>>,
    /// What strong reads have met that is for threads of this scope, to be seen after the next fence whose scope is as wide.
    acquired: ByScope<Known>,
}

impl<T> Default for Prepared<T> {
    fn default() -> Prepared<T> {
        Prepared {
            released: Default::default(),
            acquired: Default::default(),
        }
    }
}

/// The threads that a scope means to some of them, by the scope and the number of their group.
type Group = (Scope, u32);

/// What was published at an address, for each group: by those of its threads whose scope includes the group, for those of its
/// threads whose scope does.
#[derive(Debug, Default)]
struct Published {
    groups: Vec<(Group, Known)>,
}

impl Published {
    /// What threads of a group learn, if something was published for them.
    fn get(&self, group: Group) -> Option<&Known> {
        let found = self.groups.iter().find(|(other, _)| *other == group);
        found.map(|(_, known)| known)
    }

    fn get_mut(&mut self, group: Group) -> &mut Known {
        let found = self.groups.iter().position(|(other, _)| *other == group);
        let index = found.unwrap_or_else(|| {
            self.groups.push((group, Known::default()));
            self.groups.len() - 1
        });
        &mut self.groups[index].1
    }

    /// A write of this scope goes on with the release sequence: nobody beyond it reads from the write what others have published.
    fn narrow(&mut self, scope: Scope) {
        self.groups.retain(|((wider, _), _)| *wider <= scope);
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
#[derive(Debug)]
pub(super) struct Releases<T> {
    /// By thread, of those that have used fences or strong accesses.
    prepared: FxHashMap<T, Prepared<T>>,
    /// What was released at an address (an atomic variable, an mbarrier).
    locations: FxHashMap<Location, Published>,
}

impl<T: Number> Releases<T> {
    /// None yet.
    pub fn new() -> Releases<T> {
        Releases {
            prepared: FxHashMap::default(),
            locations: FxHashMap::default(),
        }
    }

    /// A new cluster begins.
    pub fn start(&mut self) {
        self.prepared.clear();
        self.locations.clear();
    }

    /// Whether nothing has been released or is about to be.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.prepared.is_empty() && self.locations.is_empty()
    }

    /// A fence by one thread: releases for later strong writes, and acquires what earlier strong reads met.
    pub fn fence(&mut self, clocks: &mut Clocks<T>, thread: T, scope: Scope) {
        let prepared = self.prepared.entry(thread).or_default();
        for included in [Scope::Block, Scope::Cluster, Scope::Device, Scope::System] {
            if included <= scope {
                let acquired = &mut prepared.acquired[included as usize];
                clocks.learn(thread, &std::mem::take(acquired));
            }
        }
        let released = Arc::new(clocks.snapshot(thread));
        for included in clocks.topology().scopes(scope) {
            prepared.released[included as usize] = Some(released.clone());
        }
    }

    /// What the last fence of a thread made ready for the other blocks of its cluster.
    pub fn ready(&self, clocks: &Clocks<T>, thread: T) -> Option<Known> {
        let prepared = self.prepared.get(&thread)?;
        let released = prepared.released[Scope::Cluster as usize].as_ref()?;
        let mut known = Known::default();
        clocks.add_snapshot(&mut known, released);
        Some(known)
    }

    /// A strong write to a location. With `releases` it is a release of its own; otherwise it publishes what the last fence
    /// made ready.
    pub fn publish(
        &mut self,
        clocks: &mut Clocks<T>,
        thread: T,
        location: Location,
        scope: Scope,
        releases: bool,
        write: Write,
    ) {
        let own = releases.then(|| Arc::new(clocks.snapshot(thread)));
        let prepared = self.prepared.get(&thread);
        let released = |scope: Scope| match &own {
            Some(own) => Some(own),
            None => prepared?.released[scope as usize].as_ref(),
        };
        let is_nothing = released(Scope::Block).is_none();
        if is_nothing && self.locations.is_empty() {
            return;
        }
        let published = self.locations.entry(location).or_default();
        match write {
            Write::Plain => *published = Published::default(),
            Write::Update => published.narrow(scope),
        }
        let block = clocks.position(thread).0;
        for scope in clocks.topology().scopes(scope) {
            if let Some(released) = released(scope) {
                let group = (scope, clocks.topology().group(block, scope));
                clocks.add_snapshot(published.get_mut(group), released);
            }
        }
        if published.groups.is_empty() {
            self.locations.remove(&location);
        }
    }

    /// A strong read of a location: with `acquires` the thread has seen what was released there, otherwise it will have
    /// after its next fence.
    pub fn observe(
        &mut self,
        clocks: &mut Clocks<T>,
        thread: T,
        location: Location,
        scope: Scope,
        acquires: bool,
    ) {
        let Some(published) = self.locations.get(&location) else {
            return;
        };
        let block = clocks.position(thread).0;
        for &((included, group), ref known) in &published.groups {
            if included > scope || group != clocks.topology().group(block, included) {
                continue;
            }
            if acquires {
                clocks.learn(thread, known);
            } else {
                let prepared = self.prepared.entry(thread).or_default();
                prepared.acquired[included as usize].join(known);
            }
        }
    }

    /// An access by all lanes of a warp to one location, if it can be done at once: the lanes know the same, and they only
    /// acquire or only release. False if it has to be done lane by lane.
    pub fn synchronise_warp(
        &mut self,
        clocks: &mut Clocks<T>,
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
                for scope in [Scope::Block, Scope::Cluster, Scope::Device, Scope::System] {
                    let group = (scope, clocks.topology().group(block, scope));
                    if scope <= class.scope
                        && let Some(known) = published.get(group)
                    {
                        clocks.learn_all(block, warp, mask, known);
                    }
                }
            }
            return true;
        }
        let snapshot = clocks.snapshot_warp(block, warp);
        let published = self.locations.entry(location).or_default();
        published.narrow(class.scope);
        for scope in clocks.topology().scopes(class.scope) {
            let group = (scope, clocks.topology().group(block, scope));
            clocks.add_snapshot(published.get_mut(group), &snapshot);
        }
        true
    }

    /// A thread starts an operation that the mbarrier at a location counts: whoever learns of its completion has seen what the
    /// thread has.
    pub fn start_operation(&mut self, clocks: &mut Clocks<T>, thread: T, location: Location) {
        let snapshot = clocks.snapshot(thread);
        let mut known = Known::default();
        clocks.add_snapshot(&mut known, &snapshot);
        self.tell_all(clocks, location, |within| within.join(&known));
    }

    /// The mbarrier at a location has counted operations of an agent, all those of lower epochs.
    pub fn count(&mut self, clocks: &Clocks<T>, location: Location, agent: T, epoch: u32) {
        self.tell_all(clocks, location, |within| within.learn_done(agent, epoch));
    }

    /// Adds to what threads of every block learn at a location, whatever their scope.
    fn tell_all(&mut self, clocks: &Clocks<T>, location: Location, tell: impl Fn(&mut Known)) {
        let published = self.locations.entry(location).or_default();
        let blocks = 0..clocks.topology().blocks();
        blocks.for_each(|block| tell(published.get_mut((Scope::Block, block))));
    }
}

//! The checker of one cluster's shared memory, as the engine sees it.

use rustc_hash::FxHashMap;
use warpsmith_isa::effect::{ObjectUse, Proxy, Scope};

use super::access::{Access, AccessClass, GlobalSynchronisation, Performer, ThreadAccess, Values};
use super::finding::Finding;
use super::mbarriers::Mbarriers;
use super::pattern::{Pattern, lanes_of};
use super::poison::PoisonOrigin;
use super::release::Location;
use super::topology::Topology;
use super::validity::Validity;

mod asynchronous;
mod exit;
mod mbarriers;
mod races;
mod values;

use races::Races;

/// The checks of a cluster's shared memory; one for each worker, reused from cluster to cluster.
#[derive(Debug)]
pub struct SharedMemory {
    /// Bytes of a block's shared memory, as offsets count them.
    stride: u32,
    blocks: u32,
    races: Option<Races>,
    validity: Option<Validity>,
    mbarriers: Option<Mbarriers>,
    /// A read of uninitialised bytes, held back: if the bytes are written before the next barrier, it was a race.
    pending: Option<Finding>,
    /// That barrier has been.
    due: bool,
    /// An access that is not ordered before the exit of the block whose memory it was to.
    unordered_exit: Option<Finding>,
    /// The last access has read uninitialised bytes, and its values are followed.
    reads_uninitialised: bool,
    /// Where values come from that were uninitialised and have been stored, by their first byte.
    stored_poison: FxHashMap<u32, PoisonOrigin>,
}

impl SharedMemory {
    /// For clusters of `blocks` blocks of `threads` threads, each with `bytes` of shared memory.
    pub fn new(
        blocks: u32,
        threads: u32,
        bytes: u32,
        races: bool,
        uninitialised: bool,
    ) -> SharedMemory {
        let stride = bytes.max(1);
        SharedMemory {
            stride,
            blocks,
            races: races.then(|| Races::new(Topology::cluster(blocks, threads), stride)),
            validity: uninitialised.then(|| Validity::new(bytes * blocks)),
            mbarriers: None,
            pending: None,
            due: false,
            unordered_exit: None,
            reads_uninitialised: false,
            stored_poison: FxHashMap::default(),
        }
    }

    /// For a kernel with operations of the asynchronous proxy ([`SharedMemory::issue`]): what threads have written without a
    /// proxy fence is remembered beyond barriers.
    pub fn with_async_proxy(mut self) -> SharedMemory {
        if let Some(races) = &mut self.races {
            races.has_async_proxy = true;
        }
        self
    }

    /// Checks that nothing writes over initialised mbarriers, too.
    pub fn with_mbarriers(mut self) -> SharedMemory {
        self.mbarriers = Some(Mbarriers::new(self.stride * self.blocks));
        self
    }

    /// Checks every access by the shadow alone, to compare.
    #[cfg(test)]
    pub(super) fn without_stamps(mut self) -> SharedMemory {
        if let Some(races) = &mut self.races {
            races.is_stamped = false;
        }
        self
    }

    /// Uses up epochs.
    #[cfg(test)]
    pub(super) fn skip_epochs(&mut self, epochs: u32) {
        if let Some(races) = &mut self.races {
            races.order.clocks.skip(epochs);
        }
    }

    /// A cluster starts.
    pub fn start(&mut self) {
        (self.pending, self.due) = (None, false);
        self.unordered_exit = None;
        self.reads_uninitialised = false;
        self.stored_poison.clear();
        if let Some(races) = &mut self.races {
            races.start();
        }
        if let Some(validity) = &mut self.validity {
            validity.clear();
        }
        if let Some(mbarriers) = &mut self.mbarriers {
            mbarriers.start();
        }
    }

    /// Checks and records an access, before it is made. A strong access also synchronises, as its order says, with others at
    /// the same offset.
    pub fn access(&mut self, access: &Access<'_>, values: &dyn Values) -> Option<Finding> {
        let class = access.class();
        if self.races.is_none() && self.validity.is_none() {
            return self.check_mbarriers(access, class);
        }
        let pattern = Pattern::of(access);
        let is_valid = match &mut self.validity {
            Some(validity) => {
                let is_valid = !class.kind.reads() || validity.covers(access, pattern);
                if is_valid && class.kind.writes() {
                    validity.initialise_all(access, pattern);
                }
                self.reads_uninitialised = !is_valid & access.is_followed;
                is_valid | access.is_followed
            }
            None => true,
        };
        let is_free = match &mut self.races {
            Some(races) => {
                if races.is_in_flight(access, pattern)
                    && let Some(found) = races.find_in_flight(access, class)
                {
                    return Some(found);
                }
                races.admits(access, class, pattern)
            }
            None => true,
        };
        if !(is_valid && is_free) {
            let found = self.lane_by_lane(access, class, is_valid, is_free, values);
            if found.is_some() {
                return found;
            }
        }
        if let Some(found) = self.check_mbarriers(access, class) {
            return Some(found);
        }
        if class.is_strong() && access.synchronises {
            self.synchronise(access);
        }
        None
    }

    /// A strong access synchronises, as its order says, with others at the same offset. Call it in the order in which the
    /// operations happen, for an access that does not synchronise by itself.
    pub fn synchronise(&mut self, access: &Access<'_>) {
        if let Some(races) = &mut self.races {
            // Only a wait for an mbarrier acquires.
            if access.object == ObjectUse::Mbarrier && access.order.acquires() {
                races.in_flight.end_counted_at(access);
            }
            let locations = |lane: u32| Location::Shared(access.offsets[lane as usize]);
            let lanes = (access.block, access.warp, access.mask);
            races.order.synchronise(lanes, locations, access.class());
        }
    }

    #[inline(never)]
    fn lane_by_lane(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
        is_valid: bool,
        is_free: bool,
        values: &dyn Values,
    ) -> Option<Finding> {
        lanes_of(access.mask).find_map(|lane| {
            let found = if is_valid {
                None
            } else {
                self.validate_lane(access, class, lane)
            };
            found.or_else(|| match &mut self.races {
                Some(races) if !is_free => races.check_lane(access, class, lane, values),
                _ => None,
            })
        })
    }

    /// Checks that a lane reads initialised bytes. If races are looked for, a finding is held back.
    fn validate_lane(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
        lane: u32,
    ) -> Option<Finding> {
        let (offset, size) = (access.offsets[lane as usize], access.size);
        let validity = self.validity.as_mut()?;
        if class.kind.reads()
            && let Some(at) = validity.first_uninitialised(offset, size)
        {
            let finding = Finding::Uninitialised {
                access: by_lane(access, class, lane),
                block: at / self.stride,
                offset: at % self.stride,
                size,
                decision: None,
            };
            if self.races.is_none() {
                return Some(finding);
            }
            self.pending.get_or_insert(finding);
        }
        if class.kind.writes() {
            validity.initialise(offset, size);
        }
        None
    }

    /// Marks bytes as initialised without checking them: by the asynchronous copies of the hardware, or an initialiser.
    pub fn assume_initialised(&mut self, offset: u32, size: u32) {
        if let Some(validity) = &mut self.validity {
            validity.initialise_range(offset, size);
        }
    }

    /// Lanes arrive at a barrier of their block (0 to 15); with `waits` unless it is `bar.arrive`.
    pub fn arrive(&mut self, block: u32, id: u32, warp: u32, mask: u32, waits: bool) {
        if let Some(races) = &mut self.races {
            races.order.clocks.arrive(block, id, warp, mask, waits);
        }
    }

    /// The barrier is complete; call it when the last has arrived, before anybody goes on.
    pub fn complete(&mut self, block: u32, id: u32) {
        if let Some(races) = &mut self.races {
            races.complete(block, id);
            self.due = true;
        }
    }

    /// Lanes arrive at the cluster's barrier; `releases` unless it is `.relaxed`.
    pub fn cluster_arrive(&mut self, block: u32, warp: u32, mask: u32, releases: bool) {
        if let Some(races) = &mut self.races {
            races.order.cluster_arrive(block, warp, mask, releases);
        }
    }

    /// The cluster's barrier is complete.
    pub fn cluster_complete(&mut self) {
        if let Some(races) = &mut self.races {
            races.cluster_complete();
            self.due = true;
        }
    }

    /// What is found without an access: an access that is not ordered before a block's exit; a read of uninitialised bytes that was held
    /// back to see whether it is one side of a race, once a barrier has passed without, or at the latest when the cluster has `ended`
    /// or failed otherwise.
    pub fn overdue(&mut self, ended: bool) -> Option<Finding> {
        if let Some(found) = self.unordered_exit.take() {
            return Some(found);
        }
        let due = std::mem::take(&mut self.due);
        if due || ended {
            self.pending.take()
        } else {
            None
        }
    }

    /// `bar.warp.sync`, when all lanes have come.
    pub fn warp_sync(&mut self, block: u32, warp: u32, mask: u32) {
        if let Some(races) = &mut self.races {
            races.order.clocks.warp_sync(block, warp, mask);
        }
    }

    /// A memory fence by lanes of a warp.
    pub fn fence(&mut self, block: u32, warp: u32, mask: u32, scope: Scope) {
        if let Some(races) = &mut self.races {
            races.order.fence(block, warp, mask, scope);
        }
    }

    /// Strong accesses to global memory: they order accesses to shared memory as their order says. Call it in the order in
    /// which the operations happen.
    pub fn synchronise_globally(&mut self, access: &GlobalSynchronisation<'_>) {
        let class = AccessClass {
            kind: access.kind,
            order: access.order,
            scope: access.scope,
            proxy: Proxy::Generic,
        };
        if let Some(races) = &mut self.races {
            let locations = |lane: u32| Location::Global(access.addresses[lane as usize]);
            let lanes = (access.block, access.warp, access.mask);
            races.order.synchronise(lanes, locations, class);
        }
    }
}

/// An access by a lane, with its instruction, as findings name it.
fn by_lane(access: &Access<'_>, class: AccessClass, lane: u32) -> ThreadAccess {
    ThreadAccess {
        block: access.block,
        thread: access.warp * 32 + lane,
        site: access.site,
        class,
        performer: Performer::Thread,
    }
}

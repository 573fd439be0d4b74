//! How barriers change what threads know.

use std::sync::Arc;

use super::super::known::{Known, Number};
use super::clocks::Clocks;
use super::gathering::Gathering;
use super::knowledge::{Knowledge, WarpClock};
use super::lanes::Lanes;

impl<T: Number> Clocks<T> {
    /// Puts what these lanes know into a gathering, under a fresh epoch that they enter.
    fn gather(&mut self, into: &mut Gathering<T>, block: u32, warp: u32, mask: u32) {
        self.clock += 1;
        let clock = self.clock;
        let size = self.warp_size(warp);
        let whole = mask.count_ones() == size;
        let lanes = self.lanes(block, warp, mask);
        let index = self.warp_index(block, warp);
        if into.released == 0 {
            into.lowest = clock;
        }
        into.released += mask.count_ones();
        into.entries.push((lanes, clock));
        match &mut self.warps[index] {
            WarpClock::Uniform(knowledge) if whole => {
                knowledge.now = clock;
                into.cluster = into.cluster.max(knowledge.cluster);
                into.block = into.block.max(knowledge.block);
                into.known.join(&knowledge.known);
            }
            warp => {
                let clocks = warp.diverge();
                for thread in lanes.threads() {
                    let own = &mut clocks[thread.index() - lanes.first.index()];
                    let knowledge = &mut own.knowledge;
                    knowledge.now = clock;
                    into.cluster = into.cluster.max(knowledge.cluster);
                    into.block = into.block.max(knowledge.block);
                    into.known.join(&knowledge.known);
                    if !whole {
                        // What it knows of lanes that are not here.
                        for lane in 0..size {
                            let known = knowledge.warp.max(own.lanes[lane as usize]);
                            if known > knowledge.block.max(knowledge.cluster) {
                                let mask = 1 << lane;
                                into.entries.push((Lanes { mask, ..lanes }, known));
                            }
                        }
                    }
                }
            }
        }
    }

    /// What a gathering knows, with its entries in it; what is known of a whole block or cluster is not.
    fn spell_out(&self, gathered: &Gathering<T>) -> Known {
        let mut each = match &gathered.known.threads {
            Some(each) => each.to_vec(),
            None => vec![0; self.positions.len()],
        };
        for &(lanes, epoch) in &gathered.entries {
            for thread in lanes.threads() {
                let entry = &mut each[thread.index()];
                *entry = epoch.max(*entry);
            }
        }
        Known {
            threads: Some(each.into()),
            agents: gathered.known.agents.clone(),
        }
    }

    /// Spells out what is known of a whole block, for threads of other ones.
    fn spell_out_block(&self, known: &mut Known, block: u32, epoch: u32) {
        let mut each = match &known.threads {
            Some(each) => each.to_vec(),
            None => vec![0; self.positions.len()],
        };
        for entry in &mut each[self.threads_of(block)] {
            *entry = epoch.max(*entry);
        }
        known.threads = Some(each.into());
    }

    /// Lanes arrive at a barrier of their block; those that do not wait (`bar.arrive`) only release.
    pub fn arrive(&mut self, block: u32, id: u32, warp: u32, mask: u32, waits: bool) {
        let index = (block * 16 + id) as usize;
        let mut gathered = std::mem::replace(&mut self.barriers[index], Gathering::new());
        self.gather(&mut gathered, block, warp, mask);
        if waits {
            gathered.waiting.push(self.lanes(block, warp, mask));
        }
        self.barriers[index] = gathered;
    }

    /// Whether all threads of the block that have not exited wait at the barrier.
    pub fn all_wait(&self, block: u32, id: u32) -> bool {
        let gathered = &self.barriers[(block * 16 + id) as usize];
        gathered.waiting() + self.exited[block as usize] >= self.topology.block_threads()
    }

    /// A barrier of a block is complete: those who wait have seen what all who arrived had done.
    pub fn complete(&mut self, block: u32, id: u32) {
        let index = (block * 16 + id) as usize;
        let all = self.all_wait(block, id);
        let mut gathered = std::mem::replace(&mut self.barriers[index], Gathering::new());
        self.clock += 1;
        let clock = self.clock;
        if all {
            // Lanes that do not wait have exited: the others of their warp know the same again.
            let alone = self.exited.len() == 1;
            let first = self.warp_index(block, 0);
            let warps = self.warps_of_block() as usize;
            for warp in &mut self.warps[first..first + warps] {
                *warp = WarpClock::Uniform(Knowledge {
                    now: clock,
                    cluster: gathered.cluster,
                    block: clock,
                    warp: 0,
                    known: Known {
                        threads: gathered.known.threads.clone().filter(|_| !alone),
                        agents: gathered.known.agents.clone(),
                    },
                    version: clock,
                });
            }
        } else {
            let known = self.spell_out(&gathered);
            for thread in gathered.waiting.iter().flat_map(|lanes| lanes.threads()) {
                let knowledge = &mut self.lane_clock(thread).knowledge;
                knowledge.now = clock;
                knowledge.cluster = gathered.cluster;
                knowledge.block = gathered.block;
                knowledge.known.join(&known);
            }
        }
        gathered.clear();
        self.barriers[index] = gathered;
    }

    /// Lanes arrive at the cluster's barrier; `releases` unless it is `.relaxed`.
    pub fn cluster_arrive(&mut self, block: u32, warp: u32, mask: u32, releases: bool) {
        let index = self.barriers.len() - 1;
        let mut gathered = std::mem::replace(&mut self.barriers[index], Gathering::new());
        if releases {
            // A block's knowledge means nothing to other blocks until it is spelled out.
            let mut own = Gathering::new();
            self.gather(&mut own, block, warp, mask);
            gathered.cluster = gathered.cluster.max(own.cluster);
            let mut known = std::mem::take(&mut own.known);
            if own.block > own.cluster {
                self.spell_out_block(&mut known, block, own.block);
            }
            gathered.known.join(&known);
            if gathered.released == 0 {
                gathered.lowest = own.lowest;
            }
            gathered.released += own.released;
            gathered.entries.extend(own.entries);
        }
        gathered.waiting.push(self.lanes(block, warp, mask));
        self.barriers[index] = gathered;
    }

    /// Those who wait at the cluster's barrier will know this.
    pub fn cluster_learn(&mut self, known: &Known) {
        if let Some(gathered) = self.barriers.last_mut() {
            gathered.known.join(known);
        }
    }

    /// The cluster's barrier is complete. Since threads go on past their arrival, what everybody has seen of each is what it had
    /// done when it arrived. Gives the epoch below which everybody has seen everything.
    pub fn cluster_complete(&mut self) -> u32 {
        let index = self.barriers.len() - 1;
        let mut gathered = std::mem::replace(&mut self.barriers[index], Gathering::new());
        let released = gathered.released + self.exited.iter().sum::<u32>();
        let floor = if released >= self.positions.len() as u32 {
            gathered.lowest
        } else {
            gathered.cluster
        };
        let known = self.spell_out(&gathered);
        let version = self.fresh();
        let mut pruned = None;
        let mut learn = |knowledge: &mut Knowledge| {
            knowledge.cluster = knowledge.cluster.max(floor);
            knowledge.version = version;
            // Most often all threads share one vector of which nothing is left to say.
            if let Some(old) = &knowledge.known.threads {
                let address = Arc::as_ptr(old).cast::<u32>();
                if pruned != Some(address) && old.iter().all(|&epoch| epoch <= floor) {
                    pruned = Some(address);
                }
                if pruned == Some(address) {
                    knowledge.known.threads = None;
                }
            }
            knowledge.known.join(&known);
        };
        for &lanes in &gathered.waiting {
            let position = self.positions[lanes.first.index()];
            let size = self.warp_size(self.position(lanes.first).1);
            let whole = lanes.mask.count_ones() == size;
            match &mut self.warps[position.warp.index()] {
                WarpClock::Uniform(knowledge) if whole => learn(knowledge),
                warp => {
                    let clocks = warp.diverge();
                    for lane in (0..32).filter(|lane| lanes.mask >> lane & 1 != 0) {
                        learn(&mut clocks[lane].knowledge);
                    }
                }
            }
        }
        gathered.clear();
        self.barriers[index] = gathered;
        floor
    }

    /// `bar.warp.sync`: the lanes have seen what each of them had done.
    pub fn warp_sync(&mut self, block: u32, warp: u32, mask: u32) {
        let index = self.warp_index(block, warp);
        let whole = mask.count_ones() == self.warp_size(warp);
        if whole && let WarpClock::Uniform(knowledge) = &mut self.warps[index] {
            self.clock += 1;
            (knowledge.now, knowledge.warp) = (self.clock, self.clock);
            knowledge.version = self.clock;
            return;
        }
        let mut gathered = Gathering::new();
        self.gather(&mut gathered, block, warp, mask);
        let clock = self.clock;
        if whole {
            self.warps[index] = WarpClock::Uniform(Knowledge {
                now: clock,
                cluster: gathered.cluster,
                block: gathered.block,
                warp: clock,
                known: gathered.known,
                version: clock,
            });
            return;
        }
        let clocks = self.warps[index].diverge();
        let lanes = (0..32).filter(|lane| mask >> lane & 1 != 0);
        let mut known = [0; 32];
        for lane in lanes.clone() {
            let own = &clocks[lane];
            for (known, lane) in known.iter_mut().zip(own.lanes) {
                *known = lane.max(own.knowledge.warp).max(*known);
            }
        }
        for lane in lanes.clone() {
            known[lane] = clock;
        }
        for lane in lanes {
            let own = &mut clocks[lane];
            own.knowledge.cluster = gathered.cluster;
            own.knowledge.block = gathered.block;
            own.knowledge.known.join(&gathered.known);
            own.lanes = known;
        }
    }
}

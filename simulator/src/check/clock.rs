//! Epochs, what each thread has seen, and how barriers change it.

use std::sync::Arc;

use super::access::ProxyFence;
use super::known::{Agent, Known};
use super::proxy::ProxyFences;

/// A thread of the cluster, counted through all blocks.
pub(super) type Thread = u16;

/// What a thread knows, or each thread of a warp.
#[derive(Clone, Debug, Default)]
struct Knowledge {
    /// The current epoch: what accesses are recorded with.
    now: u32,
    /// All accesses of the cluster with a lower epoch are ordered before ...
    cluster: u32,
    /// ... all of the block with a lower epoch than this ...
    block: u32,
    /// ... all of the warp ...
    warp: u32,
    /// ... and of single threads, and of asynchronous operations.
    known: Known,
}

/// What one lane of a diverged warp knows.
#[derive(Clone, Debug)]
struct LaneClock {
    knowledge: Knowledge,
    /// What it knows of single lanes of its warp.
    lanes: [u32; 32],
}

/// What the threads of a warp know.
#[derive(Clone, Debug)]
enum WarpClock {
    /// All the same: since the last barrier they have synchronised together only.
    Uniform(Knowledge),
    /// Lane by lane.
    Diverged(Box<[LaneClock; 32]>),
}

impl WarpClock {
    fn lane(&self, lane: u32) -> &Knowledge {
        match self {
            WarpClock::Uniform(knowledge) => knowledge,
            WarpClock::Diverged(lanes) => &lanes[lane as usize].knowledge,
        }
    }

    fn diverge(&mut self) -> &mut [LaneClock; 32] {
        if let WarpClock::Uniform(knowledge) = self {
            let lane = LaneClock {
                knowledge: std::mem::take(knowledge),
                lanes: [0; 32],
            };
            *self = WarpClock::Diverged(Box::new(std::array::from_fn(|_| lane.clone())));
        }
        match self {
            WarpClock::Diverged(lanes) => lanes,
            WarpClock::Uniform(_) => unreachable!("it has just diverged"),
        }
    }
}

/// Where a thread is.
#[derive(Clone, Copy, Debug)]
struct Position {
    block: u16,
    /// Counted through all blocks.
    warp: u16,
    lane: u8,
}

/// Lanes of a warp.
#[derive(Clone, Copy, Debug)]
struct Lanes {
    /// The thread of lane 0.
    first: Thread,
    mask: u32,
}

impl Lanes {
    fn threads(self) -> impl Iterator<Item = Thread> {
        (0..32)
            .filter(move |lane| self.mask >> lane & 1 != 0)
            .map(move |lane| self.first + lane)
    }
}

/// Threads that have arrived at a barrier, and what they knew.
#[derive(Clone, Debug, Default)]
struct Gathering {
    cluster: u32,
    block: u32,
    known: Known,
    /// What the whole group learns: the accesses of these threads with lower epochs.
    entries: Vec<(Lanes, u32)>,
    waiting: Vec<Lanes>,
    /// Threads that have arrived and released.
    released: u32,
    /// The lowest epoch that they entered.
    lowest: u32,
}

impl Gathering {
    /// Nobody has arrived; what was allocated stays.
    fn clear(&mut self) {
        (self.cluster, self.block, self.released, self.lowest) = (0, 0, 0, 0);
        self.known = Known::default();
        self.entries.clear();
        self.waiting.clear();
    }

    /// Number of threads that wait.
    fn waiting(&self) -> u32 {
        self.waiting.iter().map(|w| w.mask.count_ones()).sum()
    }
}

/// What threads of a warp knew at some time, and what they had done.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    block: u32,
    lanes: Lanes,
    /// The epoch that they entered then.
    epoch: u32,
    knowledge: Knowledge,
    /// What they knew of single lanes of their warp.
    of_warp: Option<Box<[u32; 32]>>,
}

/// The clocks of a cluster.
#[derive(Debug)]
pub(super) struct Clocks {
    /// The last epoch given out.
    clock: u32,
    block_threads: u32,
    /// Where each thread is.
    positions: Vec<Position>,
    /// The warps of all blocks.
    warps: Vec<WarpClock>,
    /// Exited threads of each block.
    exited: Vec<u32>,
    /// The barriers of each block, sixteen each, then the cluster's.
    barriers: Vec<Gathering>,
    /// The epoch in which the cluster began.
    began: u32,
    proxy_fences: ProxyFences,
}

impl Clocks {
    pub fn new(blocks: u32, block_threads: u32) -> Clocks {
        let warps = block_threads.div_ceil(32);
        let position = |thread: u32| {
            let (block, inside) = (thread / block_threads, thread % block_threads);
            Position {
                block: block as u16,
                warp: (block * warps + inside / 32) as u16,
                lane: (inside % 32) as u8,
            }
        };
        Clocks {
            clock: 0,
            block_threads,
            positions: (0..blocks * block_threads).map(position).collect(),
            warps: vec![WarpClock::Uniform(Knowledge::default()); (blocks * warps) as usize],
            exited: vec![0; blocks as usize],
            barriers: vec![Gathering::default(); blocks as usize * 16 + 1],
            began: 0,
            proxy_fences: ProxyFences::new((blocks * block_threads) as usize),
        }
    }

    /// A new cluster begins: everything before is ordered before everything from now on. True if epochs are running out and
    /// shadow memory must be cleared.
    pub fn start(&mut self) -> bool {
        let wrapped = self.clock > u32::MAX / 2;
        if wrapped {
            self.clock = 0;
        }
        self.clock += 1;
        for warp in &mut self.warps {
            *warp = WarpClock::Uniform(Knowledge {
                now: self.clock,
                cluster: self.clock,
                ..Knowledge::default()
            });
        }
        self.exited.fill(0);
        self.barriers.iter_mut().for_each(Gathering::clear);
        self.began = self.clock;
        self.proxy_fences.start();
        wrapped
    }

    /// Number of blocks.
    #[inline]
    pub fn blocks(&self) -> u32 {
        self.exited.len() as u32
    }

    /// The thread of a lane.
    #[inline]
    pub fn thread(&self, block: u32, warp: u32, lane: u32) -> Thread {
        (block * self.block_threads + warp * 32 + lane) as Thread
    }

    /// The block, warp and lane of a thread.
    pub fn position(&self, thread: Thread) -> (u32, u32, u32) {
        let (block, inside) = (
            u32::from(thread) / self.block_threads,
            u32::from(thread) % self.block_threads,
        );
        (block, inside / 32, inside % 32)
    }

    fn warp_index(&self, block: u32, warp: u32) -> usize {
        (block * self.block_threads.div_ceil(32) + warp) as usize
    }

    fn lane_clock(&mut self, thread: Thread) -> &mut LaneClock {
        let position = self.positions[usize::from(thread)];
        &mut self.warps[usize::from(position.warp)].diverge()[usize::from(position.lane)]
    }

    /// Adds to what a thread knows.
    pub fn learn(&mut self, thread: Thread, news: &Known) {
        if !news.is_empty() {
            self.lane_clock(thread).knowledge.known.join(news);
        }
    }

    /// Adds to what each of these lanes knows.
    pub fn learn_all(&mut self, block: u32, warp: u32, mask: u32, news: &Known) {
        if self.is_uniform(block, warp, mask) {
            let index = self.warp_index(block, warp);
            if let WarpClock::Uniform(knowledge) = &mut self.warps[index] {
                knowledge.known.join(news);
            }
            return;
        }
        for thread in self.lanes(block, warp, mask).threads() {
            self.learn(thread, news);
        }
    }

    /// Whether all threads of a block know that an operation is done.
    pub fn all_know(&self, block: u32, agent: Agent, epoch: u32) -> bool {
        let knows = |knowledge: &Knowledge| epoch < knowledge.known.done(agent);
        let warps = self.block_threads.div_ceil(32);
        (0..warps).all(|warp| match &self.warps[self.warp_index(block, warp)] {
            WarpClock::Uniform(knowledge) => knows(knowledge),
            WarpClock::Diverged(lanes) => {
                let count = self.warp_size(warp) as usize;
                lanes[..count].iter().all(|lane| knows(&lane.knowledge))
            }
        })
    }

    /// An epoch that nobody is in.
    pub fn fresh(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }

    /// The lanes move on to a fresh epoch, and it is noted as that of a fence between proxies.
    pub fn proxy_fence(&mut self, block: u32, warp: u32, mask: u32, fence: ProxyFence) {
        let clock = self.fresh();
        let lanes = self.lanes(block, warp, mask);
        let index = self.warp_index(block, warp);
        let is_whole = mask.count_ones() == self.warp_size(warp);
        match &mut self.warps[index] {
            WarpClock::Uniform(knowledge) if is_whole => knowledge.now = clock,
            warp => {
                let clocks = warp.diverge();
                for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
                    clocks[lane].knowledge.now = clock;
                }
            }
        }
        for thread in lanes.threads() {
            self.proxy_fences.fence(thread, fence, clock);
        }
    }

    /// Whether these are all lanes of the warp, and all know the same.
    #[inline]
    pub fn is_uniform(&self, block: u32, warp: u32, mask: u32) -> bool {
        mask.count_ones() == self.warp_size(warp)
            && matches!(
                self.warps[self.warp_index(block, warp)],
                WarpClock::Uniform(_)
            )
    }

    /// The current epoch of all threads of a warp, unless they have different ones.
    #[inline]
    pub fn warp_now(&self, block: u32, warp: u32) -> Option<u32> {
        match &self.warps[self.warp_index(block, warp)] {
            WarpClock::Uniform(knowledge) => Some(knowledge.now),
            WarpClock::Diverged(_) => None,
        }
    }

    /// The thread's current epoch.
    #[inline]
    pub fn now(&self, thread: Thread) -> u32 {
        let position = self.positions[usize::from(thread)];
        self.warps[usize::from(position.warp)]
            .lane(position.lane.into())
            .now
    }

    /// What a thread knows, to be asked several times.
    #[inline]
    pub fn observer(&self, thread: Thread) -> Observer<'_> {
        let position = self.positions[usize::from(thread)];
        let clock = &self.warps[usize::from(position.warp)];
        let knowledge = clock.lane(position.lane.into());
        Observer {
            clocks: self,
            thread,
            position,
            knowledge,
            ceiling: match (clock, &knowledge.known.threads) {
                (WarpClock::Uniform(_), None) => {
                    knowledge.cluster.max(knowledge.block).max(knowledge.warp)
                }
                _ => u32::MAX,
            },
            lanes: match clock {
                WarpClock::Uniform(_) => None,
                WarpClock::Diverged(lanes) => Some(&lanes[usize::from(position.lane)].lanes),
            },
        }
    }

    fn lanes(&self, block: u32, warp: u32, mask: u32) -> Lanes {
        Lanes {
            first: self.thread(block, warp, 0),
            mask,
        }
    }

    /// Number of threads in a warp of a block.
    #[inline]
    fn warp_size(&self, warp: u32) -> u32 {
        (self.block_threads - warp * 32).min(32)
    }

    /// Puts what these lanes know into a gathering, under a fresh epoch that they enter.
    fn gather(&mut self, into: &mut Gathering, block: u32, warp: u32, mask: u32) {
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
                    let own = &mut clocks[usize::from(thread - lanes.first)];
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
    fn spell_out(&self, gathered: &Gathering) -> Known {
        let mut each = match &gathered.known.threads {
            Some(each) => each.to_vec(),
            None => vec![0; self.positions.len()],
        };
        for &(lanes, epoch) in &gathered.entries {
            for thread in lanes.threads() {
                let entry = &mut each[usize::from(thread)];
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
        let first = (block * self.block_threads) as usize;
        for entry in &mut each[first..first + self.block_threads as usize] {
            *entry = epoch.max(*entry);
        }
        known.threads = Some(each.into());
    }

    /// Lanes arrive at a barrier of their block; those that do not wait (`bar.arrive`) only release.
    pub fn arrive(&mut self, block: u32, id: u32, warp: u32, mask: u32, waits: bool) {
        let index = (block * 16 + id) as usize;
        let mut gathered = std::mem::take(&mut self.barriers[index]);
        self.gather(&mut gathered, block, warp, mask);
        if waits {
            gathered.waiting.push(self.lanes(block, warp, mask));
        }
        self.barriers[index] = gathered;
    }

    /// Whether all threads of the block that have not exited wait at the barrier.
    pub fn all_wait(&self, block: u32, id: u32) -> bool {
        let gathered = &self.barriers[(block * 16 + id) as usize];
        gathered.waiting() + self.exited[block as usize] >= self.block_threads
    }

    /// A barrier of a block is complete: those who wait have seen what all who arrived had done.
    pub fn complete(&mut self, block: u32, id: u32) {
        let index = (block * 16 + id) as usize;
        let all = self.all_wait(block, id);
        let mut gathered = std::mem::take(&mut self.barriers[index]);
        self.clock += 1;
        let clock = self.clock;
        if all {
            // Lanes that do not wait have exited: the others of their warp know the same again.
            let alone = self.exited.len() == 1;
            let first = self.warp_index(block, 0);
            let warps = self.block_threads.div_ceil(32) as usize;
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
        let mut gathered = std::mem::take(&mut self.barriers[index]);
        if releases {
            // A block's knowledge means nothing to other blocks until it is spelled out.
            let mut own = Gathering::default();
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
        let mut gathered = std::mem::take(&mut self.barriers[index]);
        let released = gathered.released + self.exited.iter().sum::<u32>();
        let floor = if released >= self.positions.len() as u32 {
            gathered.lowest
        } else {
            gathered.cluster
        };
        let known = self.spell_out(&gathered);
        let mut pruned = None;
        let mut learn = |knowledge: &mut Knowledge| {
            knowledge.cluster = knowledge.cluster.max(floor);
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
            let position = self.positions[usize::from(lanes.first)];
            let size = self.block_threads - u32::from(lanes.first) % self.block_threads;
            let whole = lanes.mask.count_ones() == size.min(32);
            match &mut self.warps[usize::from(position.warp)] {
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
            return;
        }
        let mut gathered = Gathering::default();
        self.gather(&mut gathered, block, warp, mask);
        let clock = self.clock;
        if whole {
            self.warps[index] = WarpClock::Uniform(Knowledge {
                now: clock,
                cluster: gathered.cluster,
                block: gathered.block,
                warp: clock,
                known: gathered.known,
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

    /// Lanes leave the kernel.
    pub fn exit(&mut self, block: u32, mask: u32) {
        self.exited[block as usize] += mask.count_ones();
    }

    /// What a thread knows now; it moves on to a fresh epoch.
    pub fn snapshot(&mut self, thread: Thread) -> Snapshot {
        let (block, warp, lane) = self.position(thread);
        let epoch = self.fresh();
        let lanes = self.lanes(block, warp, 1 << lane);
        let own = self.lane_clock(thread);
        own.knowledge.now = epoch;
        Snapshot {
            block,
            lanes,
            epoch,
            knowledge: own.knowledge.clone(),
            of_warp: Some(Box::new(own.lanes)),
        }
    }

    /// What all threads of a uniform warp know now; they move on to a fresh epoch.
    pub fn snapshot_warp(&mut self, block: u32, warp: u32) -> Snapshot {
        let epoch = self.fresh();
        let mask = u32::MAX >> (32 - self.warp_size(warp));
        let lanes = self.lanes(block, warp, mask);
        let index = self.warp_index(block, warp);
        let knowledge = match &mut self.warps[index] {
            WarpClock::Uniform(knowledge) => knowledge,
            WarpClock::Diverged(lanes) => &mut lanes[0].knowledge,
        };
        knowledge.now = epoch;
        Snapshot {
            block,
            lanes,
            epoch,
            knowledge: knowledge.clone(),
            of_warp: None,
        }
    }

    /// Adds a snapshot, with what is known of whole blocks spelled out.
    pub fn add_snapshot(&self, known: &mut Known, snapshot: &Snapshot) {
        let knowledge = &snapshot.knowledge;
        known.join(&knowledge.known);
        let none = || vec![0; self.positions.len()].into();
        let each = Arc::make_mut(known.threads.get_or_insert_with(none));
        let raise = |entries: &mut [u32], epoch: u32| {
            entries
                .iter_mut()
                .for_each(|entry| *entry = epoch.max(*entry));
        };
        raise(each, knowledge.cluster);
        let first = (snapshot.block * self.block_threads) as usize;
        let block = &mut each[first..first + self.block_threads as usize];
        raise(block, knowledge.block);
        let first = usize::from(snapshot.lanes.first) - first;
        let end = block.len().min(first + 32);
        let warp = &mut block[first..end];
        raise(warp, knowledge.warp);
        for (lane, entry) in warp.iter_mut().enumerate() {
            if let Some(of_warp) = &snapshot.of_warp {
                *entry = of_warp[lane].max(*entry);
            }
            if snapshot.lanes.mask >> lane & 1 != 0 {
                *entry = snapshot.epoch.max(*entry);
            }
        }
    }
}

/// What a thread knows.
#[derive(Clone, Copy)]
pub(super) struct Observer<'a> {
    clocks: &'a Clocks,
    thread: Thread,
    position: Position,
    knowledge: &'a Knowledge,
    /// What it knows of single lanes of its warp, if that differs.
    lanes: Option<&'a [u32; 32]>,
    /// It has seen nothing that other threads did in this epoch or a later one.
    ceiling: u32,
}

impl Observer<'_> {
    /// Whether it can have seen what any other thread did in `epoch`.
    #[inline]
    pub fn may_have_seen(&self, epoch: u32) -> bool {
        epoch < self.ceiling
    }

    /// Whether it has seen what `other` did in `epoch`.
    #[inline]
    pub fn seen(&self, other: Thread, epoch: u32) -> bool {
        if epoch < self.knowledge.cluster || self.thread == other {
            return true;
        }
        let others = self.clocks.positions[usize::from(other)];
        if self.position.block == others.block && epoch < self.knowledge.block {
            return true;
        }
        if self.position.warp == others.warp {
            let known = self
                .lanes
                .map_or(0, |lanes| lanes[usize::from(others.lane)]);
            if epoch < self.knowledge.warp.max(known) {
                return true;
            }
        }
        self.knowledge
            .known
            .threads
            .as_ref()
            .is_some_and(|each| epoch < each[usize::from(other)])
    }

    /// Whether it knows that an operation of an agent is done.
    pub fn has_seen_done(&self, agent: Agent, epoch: u32) -> bool {
        epoch < self.clocks.began || epoch < self.knowledge.known.done(agent)
    }

    /// Whether a proxy fence stands between what `other` wrote in `epoch` and what this thread starts now: it has seen the
    /// first one that followed.
    pub fn has_seen_fence(&self, other: Thread, epoch: u32, orders: ProxyFence) -> bool {
        epoch < self.clocks.began
            || self
                .clocks
                .proxy_fences
                .first_after(other, epoch, orders)
                .is_some_and(|entered| self.seen(other, entered - 1))
    }

    /// Whether a thread is in the same block.
    #[inline]
    pub fn is_block_of(&self, other: Thread) -> bool {
        self.position.block == self.clocks.positions[usize::from(other)].block
    }

    /// Whether it has seen what any thread of the block of `other` did in `epoch`, as far as that is quickly told.
    #[inline]
    pub fn seen_block(&self, other: Thread, epoch: u32) -> bool {
        epoch < self.knowledge.cluster
            || epoch < self.knowledge.block
                && self.position.block == self.clocks.positions[usize::from(other)].block
    }
}

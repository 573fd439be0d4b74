//! The clocks of a cluster's threads.

use super::super::access::ProxyFence;
use super::super::known::{Known, Number};
use super::super::proxy::ProxyFences;
use super::super::topology::Topology;
use super::gathering::Gathering;
use super::knowledge::{Knowledge, LaneClock, WarpClock, WarpView};
use super::lanes::{Lanes, Position};

/// The clocks of a cluster.
#[derive(Debug)]
pub(in super::super) struct Clocks<T> {
    /// The last epoch given out.
    pub(super) clock: u32,
    pub(super) topology: Topology,
    /// Where each thread is.
    pub(super) positions: Vec<Position<T>>,
    /// The warps of all blocks.
    pub(super) warps: Vec<WarpClock>,
    /// Exited threads of each block.
    pub(super) exited: Vec<u32>,
    /// The barriers of each block, sixteen each, then the cluster's.
    pub(super) barriers: Vec<Gathering<T>>,
    /// The epoch in which the cluster began.
    pub(super) began: u32,
    pub(super) proxy_fences: ProxyFences,
}

impl<T: Number> Clocks<T> {
    pub fn new(topology: Topology) -> Clocks<T> {
        let block_threads = topology.block_threads() as usize;
        let warps = block_threads.div_ceil(32);
        let position = |thread: usize| {
            let (block, inside) = (thread / block_threads, thread % block_threads);
            Position {
                block: T::new(block),
                warp: T::new(block * warps + inside / 32),
                lane: (inside % 32) as u8,
            }
        };
        let (blocks, threads) = (topology.blocks() as usize, topology.threads());
        Clocks {
            clock: 0,
            topology,
            positions: (0..threads).map(position).collect(),
            warps: vec![WarpClock::Uniform(Knowledge::default()); blocks * warps],
            exited: vec![0; blocks],
            barriers: vec![Gathering::new(); blocks * 16 + 1],
            began: 0,
            proxy_fences: ProxyFences::new(threads),
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
                version: self.clock,
                ..Knowledge::default()
            });
        }
        self.exited.fill(0);
        self.barriers.iter_mut().for_each(Gathering::clear);
        self.began = self.clock;
        self.proxy_fences.start();
        wrapped
    }

    /// Which threads there are.
    #[inline]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The warps of a block.
    pub(super) fn warps_of_block(&self) -> u32 {
        self.topology.block_threads().div_ceil(32)
    }

    /// The indices of a block's threads.
    pub fn threads_of(&self, block: u32) -> std::ops::Range<usize> {
        let threads = self.topology.block_threads() as usize;
        let first = block as usize * threads;
        first..first + threads
    }

    /// The thread of a lane.
    #[inline]
    pub fn thread(&self, block: u32, warp: u32, lane: u32) -> T {
        let first = block as usize * self.topology.block_threads() as usize;
        T::new(first + warp as usize * 32 + lane as usize)
    }

    /// The block, warp and lane of a thread.
    pub fn position(&self, thread: T) -> (u32, u32, u32) {
        let threads = self.topology.block_threads();
        let index = thread.index() as u32;
        let (block, inside) = (index / threads, index % threads);
        (block, inside / 32, inside % 32)
    }

    pub(super) fn warp_index(&self, block: u32, warp: u32) -> usize {
        (block * self.warps_of_block() + warp) as usize
    }

    pub(super) fn lane_clock(&mut self, thread: T) -> &mut LaneClock {
        let position = self.positions[thread.index()];
        &mut self.warps[position.warp.index()].diverge()[usize::from(position.lane)]
    }

    /// Adds to what a thread knows.
    pub fn learn(&mut self, thread: T, news: &Known) {
        if !news.is_empty() {
            self.lane_clock(thread).knowledge.known.join(news);
        }
    }

    /// Adds to what each of these lanes knows.
    pub fn learn_all(&mut self, block: u32, warp: u32, mask: u32, news: &Known) {
        if self.is_uniform(block, warp, mask) {
            let index = self.warp_index(block, warp);
            let version = self.fresh();
            if let WarpClock::Uniform(knowledge) = &mut self.warps[index] {
                knowledge.known.join(news);
                knowledge.version = version;
            }
            return;
        }
        for thread in self.lanes(block, warp, mask).threads() {
            self.learn(thread, news);
        }
    }

    /// Whether all threads of a block know that an operation is done.
    pub fn all_know(&self, block: u32, agent: T, epoch: u32) -> bool {
        let knows = |knowledge: &Knowledge| epoch < knowledge.known.done(agent);
        let warps = self.warps_of_block();
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

    /// What all threads of a warp know, unless they know different things.
    #[inline]
    pub fn view(&self, block: u32, warp: u32) -> Option<WarpView> {
        match &self.warps[self.warp_index(block, warp)] {
            WarpClock::Uniform(knowledge) => Some(WarpView {
                now: knowledge.now,
                floor: knowledge.cluster.max(knowledge.block),
                of_warp: knowledge.warp,
                version: knowledge.version,
            }),
            WarpClock::Diverged(_) => None,
        }
    }

    /// What a uniform warp knows of its block: the epochs below which all accesses of all its threads are ordered before, and
    /// those of each of its warps.
    pub fn known_of_warps(&self, block: u32, warp: u32) -> impl Iterator<Item = u32> {
        let knowledge = self.warps[self.warp_index(block, warp)].lane(0);
        let floor = knowledge.cluster.max(knowledge.block);
        let std::ops::Range {
            start: first,
            end: last,
        } = self.threads_of(block);
        let each = knowledge.known.threads.as_deref();
        let of_warp = move |other: u32| {
            let own = if other == warp { knowledge.warp } else { 0 };
            let start = first + other as usize * 32;
            let least = each.map_or(0, |each| {
                let entries = each[start..last.min(start + 32)].iter();
                entries.fold(u32::MAX, |least, &epoch| least.min(epoch))
            });
            floor.max(own).max(least)
        };
        let warps = self.warps_of_block();
        std::iter::once(floor).chain((0..warps).map(of_warp))
    }

    /// By warp of a block, the epoch below which all of its threads have seen all that the warp's did; `None` if that is not
    /// quickly told.
    pub fn seen_by_all(&self, block: u32) -> Option<Vec<u32>> {
        let warps = self.warps_of_block();
        let mut seen = vec![u32::MAX; warps as usize];
        for warp in 0..warps {
            self.view(block, warp)?;
            let known = self.known_of_warps(block, warp).skip(1);
            seen.iter_mut()
                .zip(known)
                .for_each(|(seen, epoch)| *seen = epoch.min(*seen));
        }
        Some(seen)
    }

    /// Uses up epochs.
    #[cfg(test)]
    pub fn skip(&mut self, epochs: u32) {
        self.clock += epochs;
    }

    /// The last epoch given out.
    pub fn clock(&self) -> u32 {
        self.clock
    }

    /// The thread's current epoch.
    #[inline]
    pub fn now(&self, thread: T) -> u32 {
        let position = self.positions[thread.index()];
        self.warps[position.warp.index()]
            .lane(position.lane.into())
            .now
    }

    pub(super) fn lanes(&self, block: u32, warp: u32, mask: u32) -> Lanes<T> {
        Lanes {
            first: self.thread(block, warp, 0),
            mask,
        }
    }

    /// Number of threads in a warp of a block.
    #[inline]
    pub(super) fn warp_size(&self, warp: u32) -> u32 {
        (self.topology.block_threads() - warp * 32).min(32)
    }

    /// Lanes leave the kernel.
    pub fn exit(&mut self, block: u32, mask: u32) {
        self.exited[block as usize] += mask.count_ones();
    }
}

//! Epochs, what each thread has seen, and how barriers, fences and locks change it.

use std::collections::HashMap;
use std::sync::Arc;

/// A thread of the cluster, counted through all blocks.
pub(super) type Thread = u16;

/// Where strong accesses meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Location {
    /// An offset in the shared memory of the cluster.
    Shared(u32),
    /// An address in global memory.
    Global(u64),
}

/// What one thread knows.
#[derive(Clone, Debug)]
struct State {
    /// Its block, its warp (counted through all blocks) and its lane.
    home: (u16, u16, u16),
    /// Its current epoch: what its accesses are recorded with.
    now: u32,
    /// It has seen all accesses of the cluster with a lower epoch ...
    cluster: u32,
    /// ... all of its block with a lower epoch than this ...
    block: u32,
    /// ... all of its warp ...
    warp: u32,
    /// ... of single lanes of its warp ...
    lanes: [u32; 32],
    /// ... and of any thread.
    each: Option<Arc<[u32]>>,
    /// What fences made ready to be published by the next strong write.
    released: Option<Box<Gathering>>,
    /// What strong reads have met, to be seen after the next fence.
    acquired: Option<Arc<[u32]>>,
}

/// Threads that have arrived at a barrier, and what they knew.
#[derive(Clone, Debug, Default)]
struct Gathering {
    cluster: u32,
    block: u32,
    each: Option<Arc<[u32]>>,
    /// Explicit entries that the whole group learns.
    entries: Vec<(Thread, u32)>,
    waiting: Vec<Thread>,
}

/// The clocks of a cluster.
#[derive(Debug)]
pub(super) struct Clocks {
    /// The last epoch given out.
    clock: u32,
    block_threads: u32,
    states: Vec<State>,
    /// Exited threads of each block.
    exited: Vec<u32>,
    /// The barriers of each block, sixteen each, then the cluster's.
    barriers: Vec<Gathering>,
    /// What was released at an address (an atomic variable, an mbarrier).
    locations: HashMap<Location, Arc<[u32]>>,
}

fn join(a: &mut Option<Arc<[u32]>>, b: &Option<Arc<[u32]>>) {
    match (&mut *a, b) {
        (_, None) => {}
        (None, Some(_)) => *a = b.clone(),
        (Some(x), Some(y)) => {
            if !Arc::ptr_eq(x, y) && x.iter().zip(&**y).any(|(x, y)| x < y) {
                *a = Some(x.iter().zip(&**y).map(|(x, y)| *x.max(y)).collect());
            }
        }
    }
}

impl Clocks {
    pub fn new(blocks: u32, block_threads: u32) -> Clocks {
        let warps = block_threads.div_ceil(32);
        let state = |thread: u32| {
            let (block, inside) = (thread / block_threads, thread % block_threads);
            State {
                home: (
                    block as u16,
                    (block * warps + inside / 32) as u16,
                    (inside % 32) as u16,
                ),
                now: 0,
                cluster: 0,
                block: 0,
                warp: 0,
                lanes: [0; 32],
                each: None,
                released: None,
                acquired: None,
            }
        };
        Clocks {
            clock: 0,
            block_threads,
            states: (0..blocks * block_threads).map(state).collect(),
            exited: vec![0; blocks as usize],
            barriers: vec![Gathering::default(); blocks as usize * 16 + 1],
            locations: HashMap::new(),
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
        for state in &mut self.states {
            state.now = self.clock;
            state.cluster = self.clock;
            (state.block, state.warp, state.lanes) = (0, 0, [0; 32]);
            (state.each, state.released, state.acquired) = (None, None, None);
        }
        self.exited.fill(0);
        self.barriers.fill(Gathering::default());
        self.locations.clear();
        wrapped
    }

    /// The thread of a lane.
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

    /// The thread's current epoch.
    pub fn now(&self, thread: Thread) -> u32 {
        self.states[usize::from(thread)].now
    }

    /// Whether `thread` has seen what `other` did in `epoch`.
    #[inline]
    pub fn seen(&self, thread: Thread, other: Thread, epoch: u32) -> bool {
        let state = &self.states[usize::from(thread)];
        if epoch < state.cluster || thread == other {
            return true;
        }
        let (block, warp, _) = state.home;
        let (other_block, other_warp, lane) = self.states[usize::from(other)].home;
        if block == other_block
            && (epoch < state.block
                || warp == other_warp && epoch < state.warp.max(state.lanes[usize::from(lane)]))
        {
            return true;
        }
        state
            .each
            .as_ref()
            .is_some_and(|each| epoch < each[usize::from(other)])
    }

    /// Whether `thread` has seen what any thread of the block of `other` did in `epoch`, as far as that is quickly told.
    #[inline]
    pub fn seen_block(&self, thread: Thread, other: Thread, epoch: u32) -> bool {
        let state = &self.states[usize::from(thread)];
        epoch < state.cluster
            || epoch < state.block && state.home.0 == self.states[usize::from(other)].home.0
    }

    fn lanes(&self, block: u32, warp: u32, mask: u32) -> impl Iterator<Item = Thread> + use<> {
        let first = self.thread(block, warp, 0);
        (0..32)
            .filter(move |lane| mask >> lane & 1 != 0)
            .map(move |lane| first + lane)
    }

    /// Number of threads in a warp of a block.
    fn warp_size(&self, warp: u32) -> u32 {
        (self.block_threads - warp * 32).min(32)
    }

    /// Puts what these lanes know into a gathering, under a fresh epoch that they enter.
    fn gather(&mut self, into: &mut Gathering, block: u32, warp: u32, mask: u32) {
        self.clock += 1;
        let clock = self.clock;
        let whole = mask.count_ones() == self.warp_size(warp);
        for thread in self.lanes(block, warp, mask) {
            let state = &mut self.states[usize::from(thread)];
            state.now = clock;
            into.cluster = into.cluster.max(state.cluster);
            into.block = into.block.max(state.block);
            join(&mut into.each, &state.each);
            into.entries.push((thread, clock));
            if !whole {
                // What it knows of lanes that are not here.
                let first = thread - u16::try_from(self.position(thread).2).unwrap_or(0);
                let state = &self.states[usize::from(thread)];
                for lane in 0..self.warp_size(warp) as u16 {
                    let known = state.warp.max(state.lanes[usize::from(lane)]);
                    if known > state.block.max(state.cluster) {
                        into.entries.push((first + lane, known));
                    }
                }
            }
        }
    }

    /// The entries of a gathering as one vector, with what is known of whole blocks spelled out if `from_block` is given
    /// (those who learn it may be of other blocks).
    fn spell_out(&self, gathered: &Gathering, from_block: Option<u32>) -> Arc<[u32]> {
        let mut each = match &gathered.each {
            Some(each) => each.to_vec(),
            None => vec![0; self.states.len()],
        };
        for &(thread, epoch) in &gathered.entries {
            let entry = &mut each[usize::from(thread)];
            *entry = epoch.max(*entry);
        }
        if let Some(block) = from_block {
            let first = (block * self.block_threads) as usize;
            for entry in &mut each[first..first + self.block_threads as usize] {
                *entry = gathered.block.max(*entry);
            }
        }
        each.into()
    }

    /// Lanes arrive at a barrier of their block; those that do not wait (`bar.arrive`) only release.
    pub fn arrive(&mut self, block: u32, id: u32, warp: u32, mask: u32, waits: bool) {
        let index = (block * 16 + id) as usize;
        let mut gathered = std::mem::take(&mut self.barriers[index]);
        self.gather(&mut gathered, block, warp, mask);
        if waits {
            gathered.waiting.extend(self.lanes(block, warp, mask));
        }
        self.barriers[index] = gathered;
    }

    /// A barrier of a block is complete: those who wait have seen what all who arrived had done.
    pub fn complete(&mut self, block: u32, id: u32) {
        let gathered = std::mem::take(&mut self.barriers[(block * 16 + id) as usize]);
        self.clock += 1;
        let clock = self.clock;
        let whole =
            gathered.waiting.len() as u32 + self.exited[block as usize] >= self.block_threads;
        let each = if whole {
            gathered.each.clone()
        } else {
            Some(self.spell_out(&gathered, None))
        };
        for &thread in &gathered.waiting {
            let state = &mut self.states[usize::from(thread)];
            state.now = clock;
            state.cluster = gathered.cluster;
            state.block = if whole { clock } else { gathered.block };
            if whole && self.exited.len() == 1 {
                state.each = None;
            } else {
                join(&mut state.each, &each);
            }
        }
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
            let each = if own.block > own.cluster {
                Some(self.spell_out(&own, Some(block)))
            } else {
                own.each
            };
            join(&mut gathered.each, &each);
            gathered.entries.extend(own.entries);
        }
        gathered.waiting.extend(self.lanes(block, warp, mask));
        self.barriers[index] = gathered;
    }

    /// The cluster's barrier is complete. Since threads go on past their arrival, what everybody has seen of each is what it had
    /// done when it arrived.
    pub fn cluster_complete(&mut self) {
        let index = self.barriers.len() - 1;
        let gathered = std::mem::take(&mut self.barriers[index]);
        let released = gathered.entries.len() as u32 + self.exited.iter().sum::<u32>();
        let whole = released >= self.states.len() as u32;
        let floor = if whole {
            gathered.entries.iter().map(|e| e.1).min().unwrap_or(0)
        } else {
            gathered.cluster
        };
        let each = Some(self.spell_out(&gathered, None));
        let mut pruned = None;
        for &thread in &gathered.waiting {
            let state = &mut self.states[usize::from(thread)];
            state.cluster = state.cluster.max(floor);
            // Most often all threads share one vector of which nothing is left to say.
            if let Some(old) = &state.each {
                let address = Arc::as_ptr(old).cast::<u32>();
                if pruned != Some(address) && old.iter().all(|&epoch| epoch <= floor) {
                    pruned = Some(address);
                }
                if pruned == Some(address) {
                    state.each = None;
                }
            }
            join(&mut state.each, &each);
        }
    }

    /// `bar.warp.sync`: the lanes have seen what each of them had done.
    pub fn warp_sync(&mut self, block: u32, warp: u32, mask: u32) {
        let mut gathered = Gathering::default();
        self.gather(&mut gathered, block, warp, mask);
        let clock = self.clock;
        let whole = mask.count_ones() == self.warp_size(warp);
        let mut known = [0; 32];
        if !whole {
            for thread in self.lanes(block, warp, mask) {
                let state = &self.states[usize::from(thread)];
                for (known, lane) in known.iter_mut().zip(state.lanes) {
                    *known = lane.max(state.warp).max(*known);
                }
            }
            for (lane, known) in known.iter_mut().enumerate() {
                if mask >> lane & 1 != 0 {
                    *known = clock;
                }
            }
        }
        for thread in self.lanes(block, warp, mask) {
            let state = &mut self.states[usize::from(thread)];
            state.cluster = gathered.cluster;
            state.block = gathered.block;
            join(&mut state.each, &gathered.each);
            if whole {
                state.warp = clock;
            } else {
                state.lanes = known;
            }
        }
    }

    /// Lanes leave the kernel.
    pub fn exit(&mut self, block: u32, mask: u32) {
        self.exited[block as usize] += mask.count_ones();
    }

    /// What a thread knows now; it moves on to a fresh epoch.
    fn snapshot(&mut self, thread: Thread) -> Gathering {
        let (block, warp, lane) = self.position(thread);
        let mut gathered = Gathering::default();
        self.gather(&mut gathered, block, warp, 1 << lane);
        gathered
    }

    /// A fence by one thread: releases for later strong writes, and acquires what earlier strong reads met.
    pub fn fence(&mut self, thread: Thread) {
        let state = &mut self.states[usize::from(thread)];
        let acquired = state.acquired.take();
        join(&mut state.each, &acquired);
        self.states[usize::from(thread)].released = Some(Box::new(self.snapshot(thread)));
    }

    /// A strong write (or the writing half of an atomic operation, if `update`) to a location. With `releases` it is a
    /// release of its own; otherwise it publishes what the last fence made ready.
    pub fn publish(&mut self, thread: Thread, location: Location, releases: bool, update: bool) {
        let own = releases.then(|| self.snapshot(thread));
        let released = own
            .as_ref()
            .or(self.states[usize::from(thread)].released.as_deref());
        let published = released.map(|gathered| {
            let mut each = self.spell_out(gathered, Some(self.position(thread).0));
            if let Some(each) = Arc::get_mut(&mut each) {
                each.iter_mut()
                    .for_each(|entry| *entry = gathered.cluster.max(*entry));
            }
            each
        });
        // An update continues the release sequence that it found; a plain write begins anew.
        let mut joined = if update {
            self.locations.get(&location).cloned()
        } else {
            None
        };
        join(&mut joined, &published);
        match joined {
            Some(clock) => self.locations.insert(location, clock),
            None => self.locations.remove(&location),
        };
    }

    /// A strong read of a location: with `acquires` the thread has seen what was released there, otherwise it will have
    /// after its next fence.
    pub fn observe(&mut self, thread: Thread, location: Location, acquires: bool) {
        let Some(clock) = self.locations.get(&location) else {
            return;
        };
        let clock = Some(clock.clone());
        let state = &mut self.states[usize::from(thread)];
        join(
            if acquires {
                &mut state.each
            } else {
                &mut state.acquired
            },
            &clock,
        );
    }
}

//! Blocks and clusters: their shared memory and barriers. A cluster is run by one worker thread, so nothing here is shared
//! between threads.

use super::frame::NO_FRAME;
use super::warp::{Cached, EXTENTS, Warp};
use crate::check::SharedMemory;
use crate::engine::memory::Aligned;
use crate::engine::run::Grid;

/// What the threads of a reduction barrier voted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Votes {
    pub count: u32,
    pub all: bool,
    pub any: bool,
}

impl Votes {
    pub const NONE: Votes = Votes {
        count: 0,
        all: true,
        any: false,
    };
}

/// One of the sixteen barriers of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    /// Threads that have arrived in this phase.
    pub arrived: u32,
    /// Threads that it waits for; `None` means all that have not exited.
    pub expected: Option<u32>,
    /// Completed phases.
    pub phase: u64,
    /// Votes of this phase.
    pub votes: Votes,
    /// Results of the last two phases, by the phase's lowest bit.
    pub results: [Votes; 2],
}

impl Barrier {
    const NEW: Barrier = Barrier {
        arrived: 0,
        expected: None,
        phase: 0,
        votes: Votes::NONE,
        results: [Votes::NONE; 2],
    };

    fn complete(&mut self) {
        self.results[self.phase as usize & 1] = self.votes;
        self.votes = Votes::NONE;
        self.arrived = 0;
        self.expected = None;
        self.phase += 1;
    }
}

/// A block.
pub(crate) struct Block {
    pub index: [u32; 3],
    /// Rank in the cluster.
    pub rank: u32,
    pub barriers: [Barrier; 16],
    /// Threads that have not exited.
    pub live: u32,
    /// A thread that has left the kernel by `ret`, as (warp, lane), while others were still there.
    pub returned: Option<(u32, u32)>,
    pub shared: *mut u8,
    pub shared_size: u32,
    /// The cluster, which owns this block.
    pub cluster: *mut Cluster,
}

impl Block {
    /// The cluster.
    pub fn cluster(&self) -> &Cluster {
        // SAFETY: the cluster owns this block and stays where it is.
        unsafe { &*self.cluster }
    }

    /// The cluster, to be changed.
    #[allow(clippy::mut_from_ref)]
    pub fn cluster_mut(&self) -> &mut Cluster {
        // SAFETY: as above; callers touch only its barrier's counters and its checker, to which no other reference lives.
        unsafe { &mut *self.cluster }
    }

    /// The checker of shared memory, if it is on.
    #[allow(clippy::mut_from_ref)]
    fn checker(&self) -> Option<&mut SharedMemory> {
        self.cluster_mut().checker.as_deref_mut()
    }

    /// Lanes of a warp arrive at a barrier, and wait there or not; `count` is what they count for. True if this completes it.
    pub fn arrive(
        &mut self,
        id: u8,
        (warp, mask, waits): (u32, u32, bool),
        count: u32,
        expected: Option<u32>,
        votes: Votes,
    ) -> bool {
        let live = self.live;
        if let Some(checker) = self.checker() {
            checker.arrive(self.rank, id.into(), warp, mask, waits);
        }
        let barrier = &mut self.barriers[usize::from(id)];
        if barrier.arrived == 0 {
            barrier.expected = expected;
        }
        barrier.arrived += count;
        barrier.votes.count += votes.count;
        barrier.votes.all &= votes.all;
        barrier.votes.any |= votes.any;
        let complete = barrier.arrived >= barrier.expected.unwrap_or(live);
        if complete {
            barrier.complete();
            if let Some(checker) = self.checker() {
                checker.complete(self.rank, id.into());
            }
        }
        complete
    }

    /// Threads have exited: barriers that only waited for them are complete.
    pub fn threads_exited(&mut self, warp: u32, gone: u32, returned: bool) {
        self.live -= gone.count_ones();
        if let Some(checker) = self.checker() {
            checker.exit(self.rank, gone);
        }
        if self.live == 0 {
            return;
        }
        if returned && self.returned.is_none() {
            self.returned = Some((warp, gone.trailing_zeros()));
        }
        for id in 0..self.barriers.len() {
            let barrier = &mut self.barriers[id];
            if barrier.arrived > 0 && barrier.expected.is_none() && barrier.arrived >= self.live {
                barrier.complete();
                if let Some(checker) = self.checker() {
                    checker.complete(self.rank, id as u32);
                }
            }
        }
    }
}

/// A cluster: the blocks that run together, one without clusters.
#[allow(
    clippy::vec_box,
    reason = "blocks and warps point to each other and stay where they are"
)]
pub(crate) struct Cluster {
    pub blocks: Vec<Box<Block>>,
    /// The warps of all blocks, block by block.
    pub warps: Vec<Box<Warp>>,
    /// The shared memory of all blocks.
    memory: Aligned,
    /// Threads that have not exited.
    pub live: u32,
    /// Threads that have arrived at the cluster's barrier.
    pub arrived: u32,
    /// Completed phases of it.
    pub barrier_phase: u64,
    /// The index of the cluster in the grid.
    pub index: [u32; 3],
    /// Number of the cluster in the grid.
    pub number: u64,
    /// The checks of shared memory, if they are on.
    pub checker: Option<Box<SharedMemory>>,
    /// State of the scheduler's choices.
    choices: u64,
}

impl Cluster {
    /// A cluster for this grid, not yet started.
    pub fn new(grid: &Grid<'static>) -> Box<Cluster> {
        let blocks = grid.cluster_blocks as usize;
        let mut cluster = Box::new(Cluster {
            blocks: Vec::new(),
            warps: Vec::new(),
            memory: Aligned::default(),
            live: 0,
            arrived: 0,
            barrier_phase: 0,
            index: [0; 3],
            number: 0,
            checker: None,
            choices: 0,
        });
        let shared = grid.shared_bytes as usize;
        let stride = shared.next_multiple_of(1024);
        cluster.memory.ensure(stride * blocks);
        let checks = grid.checks;
        if (checks.races || checks.uninitialised) && shared > 0 {
            let checker = SharedMemory::new(
                blocks as u32,
                grid.threads,
                stride as u32,
                checks.races,
                checks.uninitialised,
            );
            cluster.checker = Some(Box::new(checker));
        }
        let owner: *mut Cluster = &mut *cluster;
        for rank in 0..blocks {
            // SAFETY: the memory has room for all blocks.
            let shared_pointer = unsafe { cluster.memory.as_ptr().add(stride * rank) };
            let mut block = Box::new(Block {
                index: [0; 3],
                rank: rank as u32,
                barriers: [Barrier::NEW; 16],
                live: 0,
                returned: None,
                shared: shared_pointer,
                shared_size: shared as u32,
                cluster: owner,
            });
            let pointer: *mut Block = &mut *block;
            for index in 0..grid.warps {
                cluster
                    .warps
                    .push(Box::new(Warp::new(grid, pointer, index)));
            }
            cluster.blocks.push(block);
        }
        cluster
    }

    /// Starts the cluster with this number: all threads at the beginning of the kernel.
    pub fn start(&mut self, grid: &Grid<'static>, number: u64) {
        self.number = number;
        if let Some(checker) = &mut self.checker {
            checker.start();
        }
        self.choices = mix(grid.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let clusters = grid.clusters;
        self.index = [
            (number % u64::from(clusters[0])) as u32,
            (number / u64::from(clusters[0]) % u64::from(clusters[1])) as u32,
            (number / u64::from(clusters[0]) / u64::from(clusters[1])) as u32,
        ];
        self.live = grid.threads * grid.cluster_blocks;
        self.arrived = 0;
        self.barrier_phase = 0;
        let [cx, cy, cz] = grid.cluster;
        for block in &mut self.blocks {
            let rank = block.rank;
            let inside = [rank % cx, rank / cx % cy, rank / cx / cy];
            block.index =
                std::array::from_fn(|axis| self.index[axis] * [cx, cy, cz][axis] + inside[axis]);
            block.barriers = [Barrier::NEW; 16];
            block.live = grid.threads;
            block.returned = None;
        }
        if grid.checks.uninitialised && grid.shared_bytes > 0 {
            // A pattern that stands out, rather than the last block's data.
            // SAFETY: the range is the cluster's own memory.
            unsafe { self.memory.as_ptr().write_bytes(0xDE, self.memory.len()) };
        }
        for warp in &mut self.warps {
            warp.start(grid);
        }
    }

    /// A number below `limit`: 0 without a seed.
    pub fn choose(&mut self, seed: u64, limit: usize) -> usize {
        if seed == 0 {
            return 0;
        }
        self.choices = mix(self.choices.wrapping_add(seed));
        (self.choices >> 33) as usize % limit.max(1)
    }

    /// Completes the cluster's barrier if all threads have arrived.
    pub fn complete_barrier(&mut self) {
        if self.arrived > 0 && self.arrived >= self.live {
            self.arrived = 0;
            self.barrier_phase += 1;
            if let Some(checker) = &mut self.checker {
                checker.cluster_complete();
            }
        }
    }

    /// Where the shared memory of the cluster starts.
    pub fn shared_start(&self) -> usize {
        self.memory.as_ptr().addr()
    }

    /// Whether a pointer is into it.
    pub fn holds(&self, pointer: *mut u8) -> bool {
        pointer.addr().wrapping_sub(self.shared_start()) < self.memory.len()
    }
}

/// A step of a generator of random numbers (splitmix64).
fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ state >> 31
}

impl Warp {
    fn new(grid: &Grid<'static>, block: *mut Block, index: u32) -> Warp {
        let first = index * 32;
        let lanes = (grid.threads - first).min(32);
        // SAFETY: the caller has just made the block.
        let (shared, shared_size) = unsafe { ((*block).shared, (*block).shared_size) };
        Warp {
            bases: [std::ptr::null_mut(); 2],
            code: std::ptr::null(),
            mask: 0,
            active: 0,
            pc: 0,
            limit: 0,
            fuel: 0,
            polled: 0,
            carry: 0,
            live: 0,
            function: grid.entry,
            frame: NO_FRAME,
            index,
            extents: [Cached::default(); EXTENTS],
            shared,
            shared_size,
            watched: grid.checks.races || grid.checks.uninitialised,
            local: Vec::new(),
            local_stride: 0,
            grid,
            block,
            exists: if lanes == 32 {
                u32::MAX
            } else {
                (1 << lanes) - 1
            },
            frames: Vec::new(),
            free_frames: Vec::new(),
            groups: Vec::new(),
            tick: 0,
            rotated: false,
            count: 0,
            changes: 0,
            copies: Vec::new(),
            copy_groups: [0; 32],
            fault: None,
            checks: grid.checks,
            cluster_arrived: 0,
            cluster_phase: 0,
            generation: 0,
            pointers: [std::ptr::null_mut(); 32],
        }
    }

    fn start(&mut self, grid: &Grid<'static>) {
        self.live = self.exists;
        self.carry = 0;
        self.groups.clear();
        self.copies.clear();
        self.copy_groups = [0; 32];
        // Frame 0 is the kernel's, and is reused; all others are free.
        self.free_frames.clear();
        self.free_frames.extend((0..self.frames.len() as u32).rev());
        // SAFETY: the entry lives as long as the module, which the launch holds.
        let entry = unsafe { &*grid.entry };
        let frame = self.new_frame(entry, NO_FRAME, 0, self.exists);
        // The launch has made sure that the kernel's own local memory is within the limit.
        let frame = frame.expect("a kernel's own frame fits");
        self.rotated = false;
        self.tick = 0;
        self.cluster_arrived = 0;
        self.cluster_phase = u64::MAX;
        self.active = 0;
        self.add_ready(self.exists, 0, frame);
    }

    /// The block.
    #[inline(always)]
    pub fn block(&self) -> &Block {
        // SAFETY: the block outlives its warps.
        unsafe { &*self.block }
    }
}

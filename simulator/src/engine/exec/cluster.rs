//! Blocks and clusters: their shared memory and barriers. A cluster and its warps are run by one worker thread, so nothing here
//! is shared between threads but the bytes of guest memory.

use super::barrier::{Barrier, Votes};
use super::bulk_copy::Transactions;
use super::grid::Grid;
use super::guest;
use super::touches::Touches;
use super::warpgroup::{self, Warpgroup};
use crate::check::{SharedMemory, ThreadExit};
use crate::engine::memory::Aligned;

/// A block.
pub(crate) struct Block {
    pub index: [u32; 3],
    /// Rank in the cluster.
    pub rank: u32,
    pub barriers: [Barrier; 16],
    /// Threads that have not exited.
    pub live: u32,
    /// Its shared memory.
    pub shared: *mut u8,
    /// Its full warpgroups.
    pub warpgroups: Vec<Warpgroup>,
    /// It has let dependent grids begin.
    pub signalled: bool,
}

/// Lanes of a warp that arrive at a barrier of their block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Number of the barrier.
    pub id: u8,
    /// Rank of the block.
    pub block: u32,
    /// Number of the warp in its block.
    pub warp: u32,
    /// The lanes.
    pub mask: u32,
    /// Whether they wait for the phase to end.
    pub waits: bool,
    /// Threads that they count for.
    pub count: u32,
    /// Threads that the barrier is for; `None` means all that have not exited.
    pub expected: Option<u32>,
    /// What they vote.
    pub votes: Votes,
}

/// Lanes of a warp that exit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    /// Rank of the block.
    pub block: u32,
    /// Number of the warp in its block.
    pub warp: u32,
    /// The lanes.
    pub mask: u32,
    /// The instruction.
    pub site: u32,
    /// Lanes of the warp that have arrived at the cluster's barrier, in the phase that follows.
    pub cluster_arrived: u32,
    pub cluster_phase: u64,
}

/// A byte of the cluster's shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedPlace {
    /// The rank of the block that it belongs to.
    pub block: u32,
    /// Its offset in the block's shared memory.
    pub offset: u32,
}

/// A cluster: the blocks that run together, one without clusters. Its warps are kept beside it (see
/// [`Resident`](super::resident::Resident)), so that a warp can be run with exclusive access to its cluster.
pub(crate) struct Cluster<'g> {
    pub grid: &'g Grid<'g>,
    pub blocks: Vec<Block>,
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
    /// Bulk copies that mbarriers wait for and that are not done.
    pub transactions: Transactions,
    /// The checks of shared memory, if they are on.
    pub checker: Option<Box<SharedMemory>>,
    /// What it touches in global memory, if somebody wants to know.
    pub touches: Option<Box<Touches<'g>>>,
    /// State of the scheduler's choices.
    choices: u64,
}

impl<'g> Cluster<'g> {
    /// A cluster for this grid, not yet started.
    pub fn new(grid: &'g Grid<'g>) -> Cluster<'g> {
        let blocks = grid.cluster_blocks as usize;
        let shared = grid.shared_bytes as usize;
        let stride = shared.next_multiple_of(1024);
        let mut memory = Aligned::default();
        memory.ensure(stride * blocks);
        let checks = grid.checks;
        let checker = (grid.follows_writes() && shared > 0).then(|| {
            let mut checker = SharedMemory::new(
                blocks as u32,
                grid.threads,
                stride as u32,
                checks.races,
                checks.uninitialised,
            );
            if grid.uses.async_proxy {
                checker = checker.with_async_proxy();
            }
            if checks.mbarriers && grid.uses.mbarriers {
                checker = checker.with_mbarriers();
            }
            Box::new(checker)
        });
        let blocks = (0..blocks).map(|rank| Block {
            index: [0; 3],
            rank: rank as u32,
            barriers: [Barrier::NEW; 16],
            live: 0,
            shared: memory.as_ptr().wrapping_add(stride * rank),
            warpgroups: Vec::new(),
            signalled: false,
        });
        Cluster {
            grid,
            blocks: blocks.collect(),
            memory,
            live: 0,
            arrived: 0,
            barrier_phase: 0,
            index: [0; 3],
            transactions: Transactions::default(),
            checker,
            touches: Touches::of(grid),
            choices: 0,
        }
    }

    /// Starts the cluster with this number: all threads at the beginning of the kernel.
    pub fn start(&mut self, number: u64) {
        let grid = self.grid;
        if let Some(checker) = &mut self.checker {
            checker.start();
        }
        self.transactions.clear();
        self.choices = mix(grid.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let [x, y, _] = grid.clusters.map(u64::from);
        self.index = [number % x, number / x % y, number / x / y].map(|axis| axis as u32);
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
            block.signalled = false;
            block.warpgroups.clear();
            let warpgroups = grid.warps / warpgroup::WARPS;
            block
                .warpgroups
                .resize_with(warpgroups as usize, Warpgroup::default);
        }
        if let Some(progress) = &grid.progress {
            progress.start(grid.cluster_blocks);
        }
        if grid.checks.uninitialised && grid.shared_bytes > 0 {
            // A pattern that stands out, rather than the last block's data.
            // SAFETY: the range is the cluster's own memory, which `memory` owns.
            unsafe { guest::fill(self.memory.as_ptr(), 0xDE, self.memory.len()) };
        }
    }

    /// A number below `limit`: 0 without a seed.
    pub fn choose(&mut self, limit: usize) -> usize {
        if self.grid.seed == 0 {
            return 0;
        }
        self.choices = mix(self.choices.wrapping_add(self.grid.seed));
        (self.choices >> 33) as usize % limit.max(1)
    }

    /// Lanes of a warp arrive at a barrier, and wait there or not. True if this completes it.
    pub fn arrive(&mut self, arrival: Arrival) -> bool {
        let Arrival {
            id,
            block: rank,
            votes,
            ..
        } = arrival;
        if let Some(checker) = &mut self.checker {
            checker.arrive(rank, id.into(), arrival.warp, arrival.mask, arrival.waits);
        }
        let block = &mut self.blocks[rank as usize];
        let barrier = &mut block.barriers[usize::from(id)];
        if barrier.arrived == 0 {
            barrier.expected = arrival.expected;
        }
        barrier.arrived += arrival.count;
        barrier.votes.count += votes.count;
        barrier.votes.all &= votes.all;
        barrier.votes.any |= votes.any;
        let complete = barrier.arrived >= barrier.expected.unwrap_or(block.live);
        if complete {
            barrier.complete();
            if let Some(checker) = &mut self.checker {
                checker.complete(rank, id.into());
            }
        }
        complete
    }

    /// Lanes of a warp have exited: barriers that only waited for them are complete.
    pub fn threads_exited(&mut self, exit: Exit) {
        let gone = exit.mask;
        let block = &mut self.blocks[exit.block as usize];
        block.live -= gone.count_ones();
        if let Some(checker) = &mut self.checker {
            let last = ThreadExit {
                block: block.rank,
                thread: exit.warp * 32 + (31 - gone.leading_zeros()),
                site: exit.site,
            };
            checker.exit(last, gone, block.live == 0);
        }
        if block.live > 0 {
            for (id, barrier) in block.barriers.iter_mut().enumerate() {
                if barrier.arrived > 0
                    && barrier.expected.is_none()
                    && barrier.arrived >= block.live
                {
                    barrier.complete();
                    if let Some(checker) = &mut self.checker {
                        checker.complete(block.rank, id as u32);
                    }
                }
            }
        }
        if self.barrier_phase == exit.cluster_phase {
            self.arrived -= (exit.cluster_arrived & gone).count_ones();
        }
        self.live -= gone.count_ones();
        self.complete_barrier();
        if self.blocks[exit.block as usize].live == 0 {
            self.signal_dependents(exit.block);
        }
    }

    /// A block lets dependent grids begin: by the instruction, or as its threads have exited. Once counts.
    pub fn signal_dependents(&mut self, block: u32) {
        if let Some(progress) = &self.grid.progress
            && !std::mem::replace(&mut self.blocks[block as usize].signalled, true)
        {
            progress.signal();
        }
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

    /// The block whose shared memory a pointer is into.
    pub fn place(&self, pointer: *mut u8) -> Option<SharedPlace> {
        if !self.holds(pointer) {
            return None;
        }
        let offset = self.shared_offset(pointer);
        let stride = (self.memory.len() / self.blocks.len()) as u32;
        Some(SharedPlace {
            block: offset / stride,
            offset: offset % stride,
        })
    }

    /// Where a pointer is in the shared memory of the cluster's blocks, one behind the other.
    pub fn shared_offset(&self, pointer: *mut u8) -> u32 {
        pointer.addr().wrapping_sub(self.shared_start()) as u32
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

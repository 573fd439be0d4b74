//! A cluster with its warps, while one worker thread runs it.

use std::sync::atomic::Ordering;

use super::cluster::Cluster;
use super::frame::NO_FRAME;
use super::grid::Grid;
use super::warp::{Cached, EXTENTS, Stop, Warp};

/// A cluster and the warps of all its blocks, block by block.
pub(crate) struct Resident<'g> {
    pub cluster: Cluster<'g>,
    pub warps: Vec<Warp>,
}

/// What became of a cluster in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// All threads have exited.
    Done,
    /// Some warps go on.
    Running {
        /// All warps that run poll memory.
        spinning: bool,
    },
    /// All threads wait, and nobody ends their waits.
    Stuck,
    /// A warp has failed.
    Fault {
        /// Its number in [`Resident::warps`].
        warp: usize,
    },
}

impl<'g> Resident<'g> {
    /// A cluster for this grid, not yet started.
    pub fn new(grid: &'g Grid<'g>) -> Resident<'g> {
        let cluster = Cluster::new(grid);
        let blocks = 0..grid.cluster_blocks;
        let warps = blocks.flat_map(|block| (0..grid.warps).map(move |index| (block, index)));
        let warps = warps.map(|(block, index)| {
            Warp::new(grid, block, cluster.blocks[block as usize].shared, index)
        });
        Resident {
            warps: warps.collect(),
            cluster,
        }
    }

    /// Starts the cluster with this number: all threads at the beginning of the kernel.
    pub fn start(&mut self, number: u64) {
        self.cluster.start(number);
        for warp in &mut self.warps {
            warp.start(self.cluster.grid);
        }
    }

    /// Runs each warp for a time slice. `executed` counts the instructions.
    pub fn turn(&mut self, executed: &mut u64) -> Turn {
        let (mut running, mut spinning, mut done) = (false, true, true);
        let before = *executed;
        let count = self.warps.len();
        let first = self.cluster.choose(count);
        let generation = self.cluster.grid.memory.generation();
        for turn in 0..count {
            let number = (first + turn) % count;
            let warp = &mut self.warps[number];
            if warp.live == 0 {
                continue;
            }
            warp.forget_extents(generation.load(Ordering::Acquire));
            let (instructions, changes) = (warp.count, warp.changes);
            let stop = warp.run(&mut self.cluster);
            *executed += warp.count - instructions;
            match stop {
                Stop::Done => {}
                Stop::Blocked => done = false,
                Stop::Yield(polls) => {
                    running = true;
                    spinning &= polls && warp.changes == changes;
                    done = false;
                }
                Stop::Fault => return Turn::Fault { warp: number },
            }
        }
        if done {
            Turn::Done
        } else if !running && *executed == before {
            Turn::Stuck
        } else {
            Turn::Running {
                spinning: running && spinning,
            }
        }
    }
}

impl Warp {
    /// The warp of this number of the block of this rank, whose shared memory is at `shared`.
    fn new(grid: &Grid<'_>, block: u32, shared: *mut u8, index: u32) -> Warp {
        let lanes = (grid.threads - index * 32).min(32);
        Warp {
            bases: [std::ptr::null_mut(); 2],
            code: std::ptr::null(),
            lists: std::ptr::null(),
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
            shared_extents: [grid
                .shared_map
                .only()
                .map_or([0; 2], |all| [all.start, all.end]); EXTENTS],
            shared,
            shared_size: grid.shared_bytes,
            watched: grid.follows_writes() || grid.observer.is_some(),
            watches_reads: grid.follows_reads(),
            observed: grid.observer.is_some(),
            recorded: grid.touches.is_some() || grid.notes_discarded(),
            waited: true,
            local: Vec::new(),
            local_stride: 0,
            local_limit: grid.local_limit,
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
            clock_readings: 0,
            changes: 0,
            copies: Default::default(),
            products: Default::default(),
            bulk_copies: Default::default(),
            poison: None,
            fault: None,
            checks: grid.checks,
            cluster_arrived: 0,
            cluster_phase: 0,
            generation: 0,
            pointers: [std::ptr::null_mut(); 32],
        }
    }

    /// Starts all threads that exist at the beginning of the kernel.
    fn start(&mut self, grid: &Grid<'_>) {
        self.live = self.exists;
        self.waited = !grid.touches.is_some_and(|sink| sink.begins_early());
        self.carry = 0;
        self.poison = None;
        self.groups.clear();
        self.copies.clear();
        self.products.clear();
        self.bulk_copies.clear();
        // Frame 0 is the kernel's, and is reused; all others are free.
        self.free_frames.clear();
        self.free_frames.extend((0..self.frames.len() as u32).rev());
        let frame = self.kernel_frame(grid.program, grid.entry);
        self.rotated = false;
        self.tick = 0;
        self.count = 0;
        self.clock_readings = 0;
        self.cluster_arrived = 0;
        self.cluster_phase = u64::MAX;
        self.active = 0;
        self.add_ready(self.exists, 0, frame);
    }

    /// Forgets the extents of global memory if it has changed since.
    fn forget_extents(&mut self, generation: u64) {
        if self.generation != generation {
            self.generation = generation;
            self.extents = [Cached::default(); EXTENTS];
        }
    }
}

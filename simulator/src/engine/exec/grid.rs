//! A grid while it runs: what all its clusters share and nobody changes.

use super::notes::Notes;
use super::progress::Progress;
use super::shared_map::SharedMap;
use super::surface_writes::SurfaceWrites;
use crate::engine::environment::{Checks, DeviceMemory, Runtime, TouchSink};
use crate::engine::memory::Aligned;
use crate::engine::observe::Observer;
use crate::engine::program::{Program, Uses};

/// A grid while it runs.
pub(crate) struct Grid<'a> {
    pub program: &'a Program,
    /// Number of the kernel's function in the program.
    pub entry: u32,
    /// Where dynamic shared memory starts.
    pub dynamic_base: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: [u32; 3],
    /// Clusters in each dimension.
    pub clusters: [u32; 3],
    pub cluster_blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Warps of a block.
    pub warps: u32,
    pub dynamic_shared: u32,
    /// All shared memory of a block, with the gaps between variables.
    pub shared_bytes: u32,
    /// All shared memory of a block, as the kernel sees it.
    pub shared_total: u32,
    /// The variables in it.
    pub shared_map: SharedMap,
    /// A copy of the parameters: kernels also read them by generic addresses, as words of guest memory.
    pub params: Aligned,
    pub memory: &'a dyn DeviceMemory,
    pub runtime: &'a dyn Runtime,
    pub checks: Checks,
    /// The kernel's notes.
    pub notes: Notes<'a>,
    /// Who watches the grid run.
    pub observer: Option<&'a dyn Observer>,
    /// Who is told what it touches.
    pub touches: Option<&'a dyn TouchSink>,
    /// Indices of the lanes of each warp.
    pub thread_indices: Vec<[[u32; 32]; 3]>,
    /// Bytes of local memory a thread may use.
    pub local_limit: u32,
    /// Addresses of constant memory.
    pub constants: (u64, u64),
    /// Number of the launch.
    pub number: u64,
    /// Seed of the choices of the scheduler; 0 for none.
    pub seed: u64,
    /// The address of a cooperative launch's workspace, whose second word is the grid's barrier; 0 in other launches.
    pub workspace: u64,
    /// How far it is, for the grids that may overlap with it.
    pub progress: Option<Progress<'a>>,
    /// What the instructions do that the kernel can come to.
    pub uses: Uses,
    /// What the grid has written to arrays.
    pub surface_writes: SurfaceWrites,
}

impl Grid<'_> {
    /// Whether writes to shared memory are followed.
    pub fn follows_writes(&self) -> bool {
        self.follows_reads() || self.checks.mbarriers && self.uses.mbarriers
    }

    /// Whether all accesses to shared memory are.
    pub fn follows_reads(&self) -> bool {
        self.checks.races || self.checks.uninitialised
    }

    /// Whether reads are noted of memory whose contents were discarded.
    pub fn notes_discarded(&self) -> bool {
        self.checks.uninitialised && self.notes.are_taken() && self.memory.has_discarded()
    }

    /// Clusters in the grid.
    pub fn total(&self) -> u64 {
        self.clusters.iter().map(|&axis| u64::from(axis)).product()
    }

    /// The cluster that is started as the `number`th. With a seed, neighbours change places; not more, because programs
    /// may count on blocks being started roughly in order, as a device does.
    pub fn shuffled(&self, number: u64) -> u64 {
        if self.seed == 0 || (number | 3) >= self.total() {
            number
        } else {
            number ^ (self.seed & 3)
        }
    }

    /// The index of a thread.
    pub fn thread_index(&self, warp: u32, lane: u32) -> [u32; 3] {
        let linear = warp * 32 + lane;
        let [x, y, _] = self.block;
        [linear % x, linear / x % y, linear / x / y]
    }
}

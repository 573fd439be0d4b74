//! The seam for whoever watches a grid run: a tracer, a profiler, a debugger, a recorder.
//!
//! An [`Observer`] in the [`Environment`](super::Environment) is told of each step, access, branch and barrier. Where there is none,
//! the interpreter loop is compiled without these calls, and accesses and barriers cost what they cost anyway: they look at a
//! flag that the checks need too.

use warpsmith_isa::effect::{AccessKind, Order, Space};

use super::fault::{Fault, Frame};
use super::statistics::Statistics;

/// Lanes of a warp, at an instruction.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// The number of the launch ([`LaunchEvent::number`]).
    pub launch: u64,
    /// The index of the block in the grid.
    pub block: [u32; 3],
    /// The number of the warp in its block.
    pub warp: u32,
    /// The lanes that execute.
    pub lanes: u32,
    /// The number of the function in its module.
    pub function: u32,
    /// The number of the instruction in its function.
    pub instruction: u32,
    pub(super) program: &'a super::program::Program,
}

impl At<'_> {
    /// The instruction with its modifiers, as in the PTX.
    pub fn name(&self) -> &str {
        self.program
            .instruction_name(self.function, self.instruction)
    }

    /// The function's name, and where the instruction stands in the source.
    pub fn frame(&self) -> Frame {
        let function = &self.program.functions[self.function as usize];
        self.program.frame(function, self.instruction)
    }
}

/// An access to memory that is about to be made: found and checked.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// The space that the instruction names.
    pub space: Space,
    /// What is done.
    pub kind: AccessKind,
    /// How it is ordered.
    pub order: Order,
    /// Bytes of each lane.
    pub size: u32,
    /// The lanes' addresses in the simulator's own memory; those of lanes that do not execute mean nothing.
    pub addresses: &'a [u64; 32],
    /// The lanes whose address is in the shared memory of a block of the cluster, whatever space the instruction names.
    pub shared: u32,
}

/// Which barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// One of the sixteen of the block.
    Block {
        /// Its number.
        number: u8,
    },
    /// That of the cluster.
    Cluster,
}

/// Lanes arrive at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Which one.
    pub barrier: Barrier,
    /// The arrival ends the barrier's phase.
    pub completes: bool,
}

/// What is launched.
#[derive(Clone, Copy, Debug)]
pub struct LaunchEvent<'a> {
    /// The number of the launch, different for each in a process.
    pub number: u64,
    /// The kernel's name.
    pub kernel: &'a str,
    /// Blocks in each dimension.
    pub grid: [u32; 3],
    /// Threads of a block in each dimension.
    pub block: [u32; 3],
    /// Blocks of a cluster in each dimension.
    pub cluster: [u32; 3],
}

/// Is told what a grid does. Several worker threads may call at once; with a seed there is only one.
///
/// Every method does nothing unless it is implemented.
pub trait Observer: Sync {
    /// A grid starts.
    fn launch(&self, launch: &LaunchEvent<'_>) {
        let _ = launch;
    }

    /// Lanes are about to execute an instruction.
    fn step(&self, at: &At<'_>) {
        let _ = at;
    }

    /// Lanes have jumped: `at.lanes` of the lanes `of`.
    fn branch(&self, at: &At<'_>, of: u32) {
        let _ = (at, of);
    }

    /// Lanes are about to access memory.
    fn access(&self, at: &At<'_>, access: &Access<'_>) {
        let _ = (at, access);
    }

    /// Lanes have arrived at a barrier.
    fn barrier(&self, at: &At<'_>, arrival: &Arrival) {
        let _ = (at, arrival);
    }

    /// A grid has ended, also one that a fault has stopped: the last call for it.
    fn finished(&self, launch: &LaunchEvent<'_>, outcome: Result<Statistics, &Fault>) {
        let _ = (launch, outcome);
    }
}

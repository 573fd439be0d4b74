//! Running a grid: blocks are handed to the worker threads, clusters and cooperative grids stay co-resident.

use std::sync::Arc;

use super::{Environment, Fault, FaultKind, Kernel};

/// One launch. The caller has checked the device's limits (threads per block, grid dimensions, shared memory);
/// `run` checks again whatever would be unsafe to believe.
pub struct Launch<'a> {
    /// What to run.
    pub kernel: &'a Arc<Kernel>,
    /// Blocks in each dimension, none 0.
    pub grid: [u32; 3],
    /// Threads of a block in each dimension, none 0, product at most 1024.
    pub block: [u32; 3],
    /// Blocks of a cluster in each dimension; [1, 1, 1] without clusters. Divides the grid.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
    /// All blocks are co-resident.
    pub cooperative: bool,
    /// The parameter buffer, laid out as [`Kernel::parameters`] says.
    pub params: &'a [u8],
}

/// What a grid did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Instructions executed, counted once for each warp (or part of one) that executed them.
    pub warp_instructions: u64,
}

/// Runs a grid to its end, on the calling thread and helpers of its own.
pub fn run(launch: &Launch, environment: &Environment) -> Result<Statistics, Box<Fault>> {
    let _ = environment;
    Err(Box::new(Fault {
        kind: FaultKind::InvalidLaunch,
        message: "the executor has not landed yet".into(),
        kernel: launch.kernel.name.clone(),
        block: [0; 3],
        thread: [0; 3],
        location: None,
        notes: Vec::new(),
    }))
}

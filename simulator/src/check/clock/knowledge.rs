//! What the threads of a warp know.

use super::super::known::Known;

/// What a thread knows, or each thread of a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    /// The current epoch: what accesses are recorded with.
    pub now: u32,
    /// All accesses of the cluster with a lower epoch are ordered before ...
    pub cluster: u32,
    /// ... all of the block with a lower epoch than this ...
    pub block: u32,
    /// ... all of the warp ...
    pub warp: u32,
    /// ... and of single threads, and of asynchronous operations.
    pub known: Known,
    /// A number that changes when the lanes of a uniform warp learn something.
    pub version: u32,
}

/// What all lanes of a warp know.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct WarpView {
    /// Their epoch.
    pub now: u32,
    /// All accesses of the block with lower epochs are ordered before.
    pub floor: u32,
    /// All of the warp.
    pub of_warp: u32,
    /// Changes when they learn something.
    pub version: u32,
}

/// What one lane of a diverged warp knows.
#[derive(Clone, Debug)]
pub(super) struct LaneClock {
    pub knowledge: Knowledge,
    /// What it knows of single lanes of its warp.
    pub lanes: [u32; 32],
}

/// What the threads of a warp know.
#[derive(Clone, Debug)]
pub(super) enum WarpClock {
    /// All the same: since the last barrier they have synchronised together only.
    Uniform(Knowledge),
    /// Lane by lane.
    Diverged(Box<[LaneClock; 32]>),
}

impl WarpClock {
    pub fn lane(&self, lane: u32) -> &Knowledge {
        match self {
            WarpClock::Uniform(knowledge) => knowledge,
            WarpClock::Diverged(lanes) => &lanes[lane as usize].knowledge,
        }
    }

    pub fn diverge(&mut self) -> &mut [LaneClock; 32] {
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

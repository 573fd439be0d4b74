//! What a group of lanes waits for: when it is over, where the group goes on, and how a report names it.

use super::cluster::Cluster;

/// What a group waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing: it may run.
    Ready,
    /// The completion of a phase of a barrier of the block. A reduction's result goes to a register.
    Barrier {
        id: u8,
        phase: u64,
        reduction: Option<ReductionTarget>,
    },
    /// The completion of a phase of the cluster's barrier.
    Cluster { phase: u64 },
    /// All warps of a warpgroup of the block to have executed the instruction of this number in its sequence.
    Warpgroup { warpgroup: u32, number: u64 },
    /// Other lanes of the warp that are named by a member mask, at the same instruction or, if they exchange, at one like it.
    Lanes { members: u32 },
    /// Lanes named by a member mask, at any `bar.warp.sync`.
    WarpBarrier { members: u32 },
}

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndsBy {
    /// The state of the cluster: [`Wait::is_over`] tells.
    Cluster,
    /// Other lanes of the warp, which wake the group themselves.
    Lanes,
}

/// Where the result of a reduction barrier goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReductionTarget {
    pub reduction: Reduction,
    /// The offset of the register or predicate in the group's frame.
    pub register: u32,
}

/// Reductions of `barrier.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// Number of true predicates.
    Count,
    /// All true.
    And,
    /// Any true.
    Or,
}

impl Wait {
    /// What ends it.
    pub fn ends_by(self) -> EndsBy {
        match self {
            Wait::Ready | Wait::Lanes { .. } | Wait::WarpBarrier { .. } => EndsBy::Lanes,
            Wait::Barrier { .. } | Wait::Cluster { .. } | Wait::Warpgroup { .. } => EndsBy::Cluster,
        }
    }

    /// Whether a wait for the state of the cluster is over, for a warp of the block of this rank.
    pub fn is_over(self, cluster: &Cluster<'_>, block: u32) -> bool {
        match self {
            Wait::Barrier { id, phase, .. } => {
                cluster.blocks[block as usize].barriers[usize::from(id)].phase != phase
            }
            Wait::Cluster { phase } => cluster.barrier_phase != phase,
            Wait::Warpgroup { warpgroup, number } => {
                let block = &cluster.blocks[block as usize];
                block.warpgroups[warpgroup as usize].all_executed(number)
            }
            Wait::Ready => true,
            Wait::Lanes { .. } | Wait::WarpBarrier { .. } => false,
        }
    }

    /// Whether the group's pc is behind the instruction that waits: it does not execute it again.
    pub fn goes_on_behind(self) -> bool {
        matches!(
            self,
            Wait::Barrier { .. } | Wait::Cluster { .. } | Wait::WarpBarrier { .. }
        )
    }

    /// What is waited for, for a report; `instruction` is the one that waits.
    pub fn describe(self, instruction: &str) -> String {
        match self {
            Wait::Barrier { id, .. } => format!("barrier {id}"),
            Wait::Cluster { .. } => "the cluster's barrier".into(),
            Wait::Warpgroup { .. } => {
                format!("the other warps of the warpgroup, in {instruction}")
            }
            Wait::Lanes { members } | Wait::WarpBarrier { members } => {
                format!("lanes {members:#010x} of its warp, in {instruction}")
            }
            Wait::Ready => "memory to change".into(),
        }
    }
}

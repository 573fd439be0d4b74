//! What the checks of shared memory report.

use super::access::{RaceCause, Site, ThreadAccess};
use super::poison::Decision;
use warpsmith_isa::effect::ObjectUse;

/// The exit of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadExit {
    /// Rank of the block in its cluster.
    pub block: u32,
    /// Number of the thread in its block.
    pub thread: u32,
    /// The instruction.
    pub site: Site,
}

/// Something wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Two accesses that are not ordered.
    Race {
        /// The access that is being made.
        access: ThreadAccess,
        /// The earlier one that it conflicts with.
        earlier: ThreadAccess,
        /// Why they race.
        cause: RaceCause,
        /// Rank of the block whose shared memory it is.
        block: u32,
        /// The first byte that both touched.
        offset: u32,
        /// Bytes of the access being made.
        size: u32,
    },
    /// A read of uninitialised memory.
    Uninitialised {
        /// The read.
        access: ThreadAccess,
        /// Rank of the block whose shared memory it is.
        block: u32,
        /// The first uninitialised byte.
        offset: u32,
        /// Bytes of the read.
        size: u32,
        /// What the value decides; `None` where the read itself is not to be made.
        decision: Option<Decision>,
    },
    /// A register is used that belongs to an operation which its thread has not waited for.
    InFlight {
        /// The operation.
        access: ThreadAccess,
        /// What the register's value decides.
        decision: Decision,
    },
    /// An access to the shared memory of another block that is not ordered before that block's exit.
    Exit {
        /// The access.
        access: ThreadAccess,
        /// The exit of the block's last thread.
        exit: ThreadExit,
        /// The first byte of the block's shared memory, or of the word, that was accessed.
        offset: u32,
    },
    /// A write to an mbarrier that has been initialised and not invalidated, by something else than its operations.
    MbarrierOverwritten {
        /// The write.
        access: ThreadAccess,
        /// What it takes the bytes for: data, or a place for another mbarrier.
        object: ObjectUse,
        /// The initialisation.
        initialised: ThreadAccess,
        /// Rank of the block whose shared memory it is.
        block: u32,
        /// The first byte of the mbarrier that is written.
        offset: u32,
        /// Bytes of the write.
        size: u32,
    },
}

impl Finding {
    /// The access that was refused.
    pub fn access(&self) -> &ThreadAccess {
        match self {
            Finding::Race { access, .. }
            | Finding::Uninitialised { access, .. }
            | Finding::InFlight { access, .. }
            | Finding::Exit { access, .. }
            | Finding::MbarrierOverwritten { access, .. } => access,
        }
    }
}

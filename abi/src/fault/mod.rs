//! A fault on a simulated device, as data: why work was stopped, which thread did it and where in the source.
//!
//! It is what the simulator hands out through [`crate::extension`]: as text, which is [`Fault`]'s `Display`, and as JSON, which is its
//! `serde` form. A reader of another version than the writer still understands the JSON: fields that it lacks are empty, and a kind
//! that it does not know is [`FaultKind::Other`].

mod kind;
mod location;
mod note;
mod report;

use serde::{Deserialize, Serialize};

pub use kind::{AccessKind, FaultKind, MemorySpace};
pub use location::{Frame, InlinedCall, SourceLocation};
pub use note::{Note, NoteKind};

/// Why and where work on a device was stopped. `Display` is the full report, several lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// What happened, in one line, such as "invalid global write of 4 bytes at 0x7f..".
    pub message: String,
    /// The thread that failed; `None` where no kernel did: a copy on a stream, a condition of a graph.
    #[serde(default)]
    pub origin: Option<FaultOrigin>,
    /// The access that failed, if the fault is one of an access.
    #[serde(default)]
    pub access: Option<FaultAccess>,
    /// The other access of a race; the initialisation of an overwritten mbarrier.
    #[serde(default)]
    pub other: Option<OtherSide>,
    /// The pieces of work that conflict: the one that was found to do so, then the other.
    #[serde(default)]
    pub work: Vec<PieceOfWork>,
    /// Who waits where, if threads wait for each other.
    #[serde(default)]
    pub waiting: Vec<WaitingThreads>,
    /// Further lines: what was expected instead, what else is known.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A thread of a kernel, and the place in the source that it had reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultOrigin {
    /// The kernel's name, as the module spells it.
    pub kernel: String,
    /// Block index.
    pub block: [u32; 3],
    /// Thread index in the block.
    pub thread: [u32; 3],
    /// The functions that the thread is in, the innermost first; empty before the first instruction.
    #[serde(default)]
    pub frames: Vec<Frame>,
}

/// A memory access that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultAccess {
    /// What it would have done.
    pub kind: AccessKind,
    /// The state space that the access fell into.
    pub space: MemorySpace,
    /// The address: a device address in global and constant memory, else an offset in the space's window.
    pub address: u64,
    /// Bytes of one thread's access.
    pub size: u32,
    /// The allocation nearest to the address, if any is known.
    #[serde(default)]
    pub nearest: Option<NearestAllocation>,
}

/// An allocation near an address that belongs to none, or to a freed one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearestAllocation {
    /// What it is: "device allocation", "managed memory", "global variable `table`".
    pub what: String,
    /// The first byte's address.
    pub base: u64,
    /// Length in bytes.
    pub size: u64,
    /// Whether it has been freed.
    pub freed: bool,
}

/// The earlier of the two accesses of a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherSide {
    /// What it did: "write", "atomic operation".
    pub what: String,
    /// Block index.
    pub block: [u32; 3],
    /// Thread index in the block.
    pub thread: [u32; 3],
    /// Where it was: the innermost function first, as far as it is known.
    #[serde(default)]
    pub frames: Vec<Frame>,
}

/// A kernel, a copy or something else that a stream or a graph does as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceOfWork {
    /// What it is: "kernel `add`", "a copy of 64 bytes".
    pub what: String,
    /// Where it stands: "stream 0x40", "node 0x50 of a graph in stream 0x40".
    pub place: String,
    /// What it does to the memory: "reads", "frees".
    pub does: String,
}

/// Threads that wait at the same instruction for the same thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingThreads {
    /// What they wait for: "barrier 0", "memory to change".
    pub what: String,
    /// Where.
    #[serde(default)]
    pub location: Option<SourceLocation>,
    /// How many threads wait there.
    pub count: u32,
    /// The first one's block index.
    pub block: [u32; 3],
    /// The first one's thread index in its block.
    pub thread: [u32; 3],
}

impl std::error::Error for Fault {}

impl FaultOrigin {
    /// The number of the innermost frame that is the user's; 0 if all are a library's.
    fn users_frame(&self) -> usize {
        let users = self.frames.iter().position(|frame| !frame.is_library());
        users.unwrap_or(0)
    }
}

impl Fault {
    /// A fault of a kernel, with nothing but its message known yet.
    pub fn in_kernel(kind: FaultKind, message: impl Into<String>, origin: FaultOrigin) -> Self {
        Self {
            origin: Some(origin),
            ..Self::outside_kernels(kind, message)
        }
    }

    /// A fault of other work on a stream: a copy, a graph's condition.
    pub fn outside_kernels(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            origin: None,
            access: None,
            other: None,
            work: Vec::new(),
            waiting: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Where in the user's source it happened, if that is known: [`Frame::user_location`] of the innermost function that is the
    /// user's; of the innermost one if all are a library's.
    pub fn location(&self) -> Option<&SourceLocation> {
        let origin = self.origin.as_ref()?;
        origin.frames.get(origin.users_frame())?.user_location()
    }
}

#[cfg(test)]
mod tests;

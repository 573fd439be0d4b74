//! Faults: why a grid was stopped, and where. The types are those in which the simulator hands faults out.

pub use warpsmith_abi::fault::{
    AccessKind, Fault, FaultAccess, FaultKind, FaultOrigin, Frame, InlinedCall, MemorySpace,
    NearestAllocation, Note, NoteKind, OtherSide, SourceLocation, WaitingThreads,
};

/// What a fault says beside its kind, its message and its thread.
#[derive(Debug, Default)]
pub(crate) struct FaultDetails {
    /// The access that failed.
    pub access: Option<FaultAccess>,
    /// The other access of a race.
    pub other: Option<OtherSide>,
    /// Who waits where.
    pub waiting: Vec<WaitingThreads>,
    /// Further lines.
    pub notes: Vec<String>,
}

impl From<Vec<String>> for FaultDetails {
    fn from(notes: Vec<String>) -> Self {
        Self {
            notes,
            ..Self::default()
        }
    }
}

impl FaultDetails {
    /// The fault of a kernel's thread.
    pub fn into_fault(self, kind: FaultKind, message: String, origin: FaultOrigin) -> Fault {
        Fault {
            access: self.access,
            other: self.other,
            waiting: self.waiting,
            notes: self.notes,
            ..Fault::in_kernel(kind, message, origin)
        }
    }
}

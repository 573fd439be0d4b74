//! What kind of fault it is, and of what kind of access.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::driver::CUresult;

/// The kinds of fault; each has the driver's error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FaultKind {
    /// Access outside of any live allocation, or outside shared, local or parameter memory.
    IllegalAddress,
    /// Access through an allocation that was freed.
    UseAfterFree,
    /// Address not a multiple of the access's size.
    MisalignedAddress,
    /// An address of the wrong state space.
    InvalidAddressSpace,
    /// An instruction used against its rules.
    IllegalInstruction,
    /// A jump or call to something that is no function.
    InvalidProgramCounter,
    /// `trap`.
    Trap,
    /// `brkpt` without a debugger.
    Breakpoint,
    /// A device-side assertion.
    Assert,
    /// A barrier executed by a part of the threads that it is for.
    BarrierDivergence,
    /// No thread of a block can go on.
    Deadlock,
    /// Two unordered conflicting accesses.
    Race,
    /// Two pieces of work (kernels, copies, frees ...) that conflict and that nothing orders.
    StreamOrder,
    /// Memory that nobody has freed when its context or the process ended. It is only named: no call fails by it.
    Leak,
    /// A read of uninitialised memory, or, in a shuffle, of a lane that takes no part.
    Uninitialised,
    /// An initialised mbarrier written by something else than its operations.
    MbarrierOverwritten,
    /// The stack of a thread is exhausted.
    StackOverflow,
    /// The launch was cancelled by the host.
    Cancelled,
    /// Launch parameters that do not fit the kernel.
    InvalidLaunch,
    /// A graph's condition was evaluated before it had a value.
    UnsetCondition,
    /// A graph's loop did not end within the simulator's limit.
    EndlessLoop,
    /// A kind that a newer simulator has.
    #[serde(other)]
    Other,
}

impl FaultKind {
    /// The driver's error code for this fault.
    pub fn code(self) -> CUresult {
        match self {
            FaultKind::IllegalAddress | FaultKind::UseAfterFree => {
                CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            }
            FaultKind::MisalignedAddress => CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
            FaultKind::InvalidAddressSpace => CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
            FaultKind::IllegalInstruction => CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
            FaultKind::InvalidProgramCounter => CUresult::CUDA_ERROR_INVALID_PC,
            FaultKind::Assert => CUresult::CUDA_ERROR_ASSERT,
            FaultKind::StackOverflow => CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
            FaultKind::InvalidLaunch => CUresult::CUDA_ERROR_INVALID_VALUE,
            FaultKind::EndlessLoop => CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
            FaultKind::Trap
            | FaultKind::Breakpoint
            | FaultKind::BarrierDivergence
            | FaultKind::Deadlock
            | FaultKind::Race
            | FaultKind::StreamOrder
            | FaultKind::Uninitialised
            | FaultKind::MbarrierOverwritten
            | FaultKind::Cancelled
            | FaultKind::UnsetCondition => CUresult::CUDA_ERROR_LAUNCH_FAILED,
            FaultKind::Leak => CUresult::CUDA_SUCCESS,
            FaultKind::Other => CUresult::CUDA_ERROR_UNKNOWN,
        }
    }
}

/// What an access does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads and writes in one step.
    Atomic,
    /// A kind that a newer simulator has.
    #[serde(other)]
    Other,
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic operation",
            AccessKind::Other => "access",
        })
    }
}

/// A state space of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum MemorySpace {
    /// Global memory.
    Global,
    /// Constant memory.
    Constant,
    /// Shared memory of a block or cluster.
    Shared,
    /// A thread's local memory.
    Local,
    /// A kernel's parameters.
    Parameter,
    /// A space that a newer simulator has, or none: a generic address that belongs to no space.
    #[serde(other)]
    Other,
}

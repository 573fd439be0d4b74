//! A fault: why a grid was stopped, and where.

use std::fmt;

/// A place in the source of a kernel, from `.loc`; `file` is empty where the PTX has no line information and then
/// `line` is the PTX line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLocation {
    /// File as the compiler recorded it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// Line in the PTX text, from 1.
    pub ptx_line: u32,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            write!(f, "PTX line {}", self.ptx_line)
        } else if self.column == 0 {
            write!(f, "{}:{}", self.file, self.line)
        } else {
            write!(f, "{}:{}:{}", self.file, self.line, self.column)
        }
    }
}

/// The kinds of fault; each has the driver's error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// A read of memory nobody wrote.
    Uninitialised,
    /// The stack of a thread is exhausted.
    StackOverflow,
    /// The launch was cancelled by the host.
    Cancelled,
    /// Launch parameters that do not fit the kernel.
    InvalidLaunch,
}

impl FaultKind {
    /// The driver's error code (`CUresult`) for this fault.
    pub fn code(self) -> i32 {
        match self {
            FaultKind::IllegalAddress | FaultKind::UseAfterFree => 700,
            FaultKind::MisalignedAddress => 716,
            FaultKind::InvalidAddressSpace => 717,
            FaultKind::IllegalInstruction => 715,
            FaultKind::InvalidProgramCounter => 718,
            FaultKind::Assert => 710,
            FaultKind::StackOverflow => 714,
            FaultKind::InvalidLaunch => 1,
            FaultKind::Trap
            | FaultKind::Breakpoint
            | FaultKind::BarrierDivergence
            | FaultKind::Deadlock
            | FaultKind::Race
            | FaultKind::Uninitialised
            | FaultKind::Cancelled => 719,
        }
    }
}

/// Why and where a grid was stopped. `Display` is the full report, several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// What happened, in one line, such as "invalid global write of 4 bytes at 0x7f..".
    pub message: String,
    /// The kernel's name.
    pub kernel: String,
    /// Block index.
    pub block: [u32; 3],
    /// Thread index in the block.
    pub thread: [u32; 3],
    /// Where; `None` only before the first instruction.
    pub location: Option<SourceLocation>,
    /// Further lines: the nearest allocation, the other side of a race, where the other threads are.
    pub notes: Vec<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(
            f,
            "{}\n    in kernel {}, block ({bx},{by},{bz}), thread ({tx},{ty},{tz})",
            self.message, self.kernel
        )?;
        if let Some(location) = &self.location {
            write!(f, "\n    at {location}")?;
        }
        for note in &self.notes {
            write!(f, "\n    {note}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

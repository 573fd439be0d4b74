//! The warp: its hot state and the interpreter loop.

use super::super::environment::Checks;
use super::super::fault::{FaultDetails, FaultKind};
use super::block::Block;
use super::frame::Frame;
use super::lanes::predicate;
use super::schedule::{Group, Wait};
use crate::engine::ops::copy::Copy;
use crate::engine::program::Function;
use crate::engine::run::Grid;

/// A decoded instruction: 32 bytes. What the fields mean is up to the operation.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Inst {
    /// The operation.
    pub exec: Exec,
    /// The guard: 0 for none, else the predicate's offset; bit 31 negates.
    pub guard: u32,
    /// The destination.
    pub d: u32,
    /// Sources.
    pub a: u32,
    pub b: u32,
    pub c: u32,
    /// Anything else: flags, an index into the function's lists, a jump's target.
    pub x: u32,
}

/// Executes one instruction.
pub(crate) type Exec = unsafe fn(&mut Warp, &Inst) -> Flow;

/// How the warp goes on after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Flow {
    /// With the next instruction.
    Next,
    /// At `warp.pc`, in the same function; a jump was taken.
    Jump,
    /// The warp's state (group, frame, function) has changed: start over at `warp.pc`.
    Switch,
    /// The current group has stopped (it waits, has exited, or gives way); its state is saved.
    Leave,
    /// `warp.fault` is set.
    Fault,
}

/// Why the interpreter loop returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// All threads have exited.
    Done,
    /// All threads wait.
    Blocked,
    /// The time slice is used up; true if it went into spinning.
    Yield(bool),
    /// `warp.fault` is set.
    Fault,
}

/// A fault before it is made presentable.
#[derive(Debug)]
pub(crate) struct RawFault {
    pub kind: FaultKind,
    pub lane: u32,
    pub message: String,
    pub details: FaultDetails,
}

/// A cached range of memory that may be accessed without asking.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cached {
    pub base: u64,
    /// Readable bytes.
    pub len: u64,
    /// Writable bytes: `len` or 0.
    pub writable: u64,
}

/// How many extents a warp remembers; an instruction uses the one of its number.
pub(crate) const EXTENTS: usize = 16;
/// Taken jumps in a time slice; memory operations that may be polling count more.
pub(crate) const SLICE: i32 = 4096;
/// What a polling operation costs of a time slice.
pub(crate) const POLL: i32 = 64;

/// A warp.
pub(crate) struct Warp {
    /// The current frame's registers, and the function's constants.
    pub bases: [*mut u8; 2],
    /// The current function's instructions.
    pub code: *const Inst,
    /// Lanes that execute the current instruction.
    pub mask: u32,
    /// Lanes of the current group.
    pub active: u32,
    /// Where the current group is (kept up to date at jumps and calls only).
    pub pc: u32,
    /// The current group stops when its pc reaches this.
    pub limit: u32,
    /// What is left of the time slice.
    pub fuel: i32,
    /// How much of it went into polling.
    pub polled: i32,
    /// Carry flags of the extended-precision instructions.
    pub carry: u32,
    /// Lanes that have not exited.
    pub live: u32,
    /// The current function.
    pub function: *const Function,
    /// The current frame's index.
    pub frame: u32,
    /// Number of the warp in its block.
    pub index: u32,
    /// Remembered extents of global memory.
    pub extents: [Cached; EXTENTS],
    /// The block's shared memory.
    pub shared: *mut u8,
    /// Its size.
    pub shared_size: u32,
    /// Whether shared accesses are watched.
    pub watched: bool,
    /// Local memory: `local_stride` bytes for each lane.
    pub local: Vec<u8>,
    pub local_stride: u32,
    /// The grid.
    pub grid: *const Grid<'static>,
    /// The block.
    pub block: *mut Block,
    /// Lanes that exist.
    pub exists: u32,
    /// All frames; the current one is `frames[frame]`.
    pub frames: Vec<Frame>,
    /// Frames that are free.
    pub free_frames: Vec<u32>,
    /// The groups that are not running.
    pub groups: Vec<Group>,
    /// Counts scheduling decisions.
    pub tick: u64,
    /// True while the current group runs for fairness, not because it is the furthest behind.
    pub rotated: bool,
    /// Instructions executed.
    pub count: u64,
    /// Stores, and atomic operations that changed what they found.
    pub changes: u64,
    /// Asynchronous copies that are not done, and for each lane how many groups of them it has committed.
    pub copies: Vec<Copy>,
    pub copy_groups: [u32; 32],
    /// Set when the warp failed.
    pub fault: Option<Box<RawFault>>,
    /// The checks that are on.
    pub checks: Checks,
    /// Lanes that have arrived at the cluster barrier, in its phase `cluster_phase`.
    pub cluster_arrived: u32,
    pub cluster_phase: u64,
    /// The generation of the memory that the extents belong to.
    pub generation: u64,
    /// Scratch: addresses of the lanes of a memory access.
    pub pointers: [*mut u8; 32],
}

impl Warp {
    /// Runs until all groups wait or have exited, or the time slice is used up.
    ///
    /// # Safety
    /// The warp was started by its block, and the grid, the module and the block live.
    pub unsafe fn run(&mut self) -> Stop {
        let grid = self.grid();
        // With a seed, slices are short and of different lengths, so that warps interleave in many ways.
        let slice = match grid.seed {
            0 => SLICE,
            // SAFETY: the block outlives its warps; nothing else refers to its cluster's choices.
            seed => unsafe { (*self.block).cluster_mut().choose(seed, 64) as i32 + 1 },
        };
        self.fuel = slice;
        self.polled = 0;
        loop {
            if !self.pick() {
                return if self.live == 0 {
                    Stop::Done
                } else {
                    Stop::Blocked
                };
            }
            // SAFETY: the caller's promise.
            if unsafe { self.interpret() } {
                return Stop::Fault;
            }
            if self.fuel <= 0 {
                if self.live == 0 {
                    return Stop::Done;
                }
                // Fairness: whoever has waited longest goes first next time.
                self.rotated = !self.groups.is_empty();
                return Stop::Yield(self.polled * 2 > slice);
            }
        }
    }

    /// The interpreter loop: runs the current group until it leaves; true on a fault.
    unsafe fn interpret(&mut self) -> bool {
        let mut pc = self.pc;
        let mut count = 0u64;
        let fault = loop {
            if pc >= self.limit {
                self.pc = pc;
                if !self.meet() {
                    break false;
                }
                pc = self.pc;
            }
            // SAFETY: every function's code ends with an instruction that leaves it.
            let inst = unsafe { &*self.code.add(pc as usize) };
            count += 1;
            self.mask = self.active;
            if inst.guard != 0 {
                // SAFETY: guards are predicates of the frame.
                let bits = unsafe { predicate(self, inst.guard & !(1 << 31)) };
                self.mask &= if inst.guard >> 31 != 0 { !bits } else { bits };
                if self.mask == 0 {
                    pc += 1;
                    continue;
                }
            }
            self.pc = pc;
            // SAFETY: the lowering gave the instruction the operands its operation expects.
            match unsafe { (inst.exec)(self, inst) } {
                Flow::Next => pc += 1,
                Flow::Jump => {
                    pc = self.pc;
                    self.fuel -= 1;
                    if self.fuel <= 0 {
                        // The next slice is for whoever has waited longest.
                        self.rotated = true;
                        self.park(Wait::Ready);
                        break false;
                    }
                }
                Flow::Switch => pc = self.pc,
                Flow::Leave => break false,
                Flow::Fault => break true,
            }
        };
        self.count += count;
        fault
    }

    /// Records a fault of one lane.
    #[cold]
    pub fn fail(&mut self, kind: FaultKind, lane: usize, message: impl Into<String>) -> Flow {
        self.fail_with(kind, lane, message, FaultDetails::default())
    }

    /// Records a fault of one lane with what else is known about it.
    #[cold]
    pub fn fail_with(
        &mut self,
        kind: FaultKind,
        lane: usize,
        message: impl Into<String>,
        details: impl Into<FaultDetails>,
    ) -> Flow {
        let fault = RawFault {
            kind,
            lane: lane as u32,
            message: message.into(),
            details: details.into(),
        };
        self.fault = Some(Box::new(fault));
        Flow::Fault
    }

    /// The grid.
    #[inline(always)]
    pub fn grid(&self) -> &Grid<'static> {
        // SAFETY: the grid outlives its warps.
        unsafe { &*self.grid }
    }

    /// The current function.
    #[inline(always)]
    pub fn function(&self) -> &Function {
        // SAFETY: functions live as long as their module, which the launch holds.
        unsafe { &*self.function }
    }

    /// A list of operands of the current function.
    ///
    /// # Safety
    /// `at` is the start of a list of at least `len` entries.
    #[inline(always)]
    pub unsafe fn list<'a>(&self, at: u32, len: usize) -> &'a [u32] {
        // SAFETY: lists live as long as the module; the caller's promise gives the range.
        unsafe {
            let function = &*self.function;
            std::slice::from_raw_parts(function.lists.as_ptr().add(at as usize), len)
        }
    }
}

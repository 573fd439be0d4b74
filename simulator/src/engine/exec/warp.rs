//! The warp: its hot state and the interpreter loop.

use super::async_copy::AsyncCopy;
use super::bulk_copy::BulkCopy;
use super::cluster::Cluster;
use super::frame::Frame;
use super::group::Group;
use super::group_queue::GroupQueue;
use super::issuer::Issuer;
use super::operand::{CONSTANT, Registers};
use super::product::PendingProduct;
use super::wait::Wait;
use crate::check::Poison;
use crate::engine::environment::Checks;
use crate::engine::fault::{FaultDetails, FaultKind};
use crate::engine::instruction::{Inst, Operation};
use crate::engine::observe::{At, Observer};
use crate::engine::program::{Function, Program};

/// Executes one instruction.
///
/// # Safety
/// The instruction was emitted with the operands of the operation that this was compiled from, the warp's current function is
/// the one it belongs to, and the warp is one of the cluster's.
pub(crate) type Exec = unsafe fn(&mut Warp, &mut Cluster<'_>, &Inst) -> Flow;

/// An operation as instructions hold it.
pub(crate) fn erase(exec: Exec) -> Operation {
    // SAFETY: a function pointer as another function pointer, which nobody calls: `typed` alone takes it out again.
    Operation::new(unsafe { std::mem::transmute::<Exec, unsafe fn()>(exec) })
}

/// The function of an operation.
///
/// # Safety
/// The operation was made by [`erase`].
#[inline(always)]
unsafe fn typed(operation: Operation) -> Exec {
    // SAFETY: the pointer was an `Exec` before `erase`, by the function's condition.
    unsafe { std::mem::transmute::<unsafe fn(), Exec>(operation.erased()) }
}

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

/// Why one of the interpreter's loops was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// The current group has stopped.
    Group,
    /// The current group goes on in another loop: values are followed from now on, or no more.
    Loop,
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
    /// Whose fault it is, if it is not the warp's at the instruction that is being executed.
    pub issuer: Option<Issuer>,
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
    /// The current function's lists of operands.
    pub lists: *const u32,
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
    /// Number of the current function.
    pub function: u32,
    /// The current frame's index.
    pub frame: u32,
    /// Number of the warp in its block.
    pub index: u32,
    /// Remembered extents of global memory.
    pub extents: [Cached; EXTENTS],
    /// Remembered variables of shared memory: where each starts and ends.
    pub shared_extents: [[u32; 2]; EXTENTS],
    /// The block's shared memory.
    pub shared: *mut u8,
    /// Its size.
    pub shared_size: u32,
    /// Whether a check or an observer is told of accesses.
    pub watched: bool,
    /// Whether a check is told of reads, too.
    pub watches_reads: bool,
    /// Whether an observer is.
    pub observed: bool,
    /// Whether somebody is told what it touches in global memory.
    pub recorded: bool,
    /// Whether it has waited for the grids before its own, or need not.
    pub waited: bool,
    /// Local memory: `local_stride` bytes for each lane, aligned to the widest access.
    pub local: Vec<u128>,
    pub local_stride: u32,
    /// Bytes of local memory a thread may use.
    pub local_limit: u32,
    /// Rank of its block in the cluster.
    pub block: u32,
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
    /// Readings of a clock that counts them.
    pub clock_readings: u64,
    /// Stores, and atomic operations that changed what they found.
    pub changes: u64,
    /// `cp.async` copies that are not done.
    pub copies: GroupQueue<AsyncCopy>,
    /// `wgmma` products that are not done: lane 0's.
    pub products: GroupQueue<PendingProduct>,
    /// Bulk copies that are waited for by groups and are not done.
    pub bulk_copies: GroupQueue<BulkCopy>,
    /// Its uninitialised values, if it has any that are followed.
    pub poison: Option<Box<Poison>>,
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
    pub fn run(&mut self, cluster: &mut Cluster<'_>) -> Stop {
        // With a seed, slices are short and of different lengths, so that warps interleave in many ways.
        let slice = match cluster.grid.seed {
            0 => SLICE,
            _ => cluster.choose(64) as i32 + 1,
        };
        self.fuel = slice;
        self.polled = 0;
        loop {
            if !self.pick(cluster) {
                return if self.live == 0 {
                    Stop::Done
                } else {
                    Stop::Blocked
                };
            }
            let left = loop {
                let left = match (cluster.grid.observer.is_some(), self.poison.is_some()) {
                    (false, false) => self.interpret::<false, false>(cluster),
                    (false, true) => self.interpret::<false, true>(cluster),
                    (true, false) => self.interpret::<true, false>(cluster),
                    (true, true) => self.interpret::<true, true>(cluster),
                };
                if left != Left::Loop {
                    break left;
                }
            };
            if left == Left::Fault {
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

    /// The interpreter loop: runs the current group until it leaves. `OBSERVED`: somebody is told of each step. `FOLLOWED`: there are
    /// uninitialised values, which are followed.
    fn interpret<const OBSERVED: bool, const FOLLOWED: bool>(
        &mut self,
        cluster: &mut Cluster<'_>,
    ) -> Left {
        let mut pc = self.pc;
        let mut count = 0u64;
        let left = loop {
            if pc >= self.limit {
                self.pc = pc;
                if !FOLLOWED && self.poison.is_some() {
                    break Left::Loop;
                }
                if !self.reconverge(cluster) {
                    break Left::Group;
                }
                pc = self.pc;
            }
            if FOLLOWED && self.poison.as_ref().is_none_or(|poison| poison.is_empty()) {
                self.pc = pc;
                self.poison = None;
                break Left::Loop;
            }
            // SAFETY: `code` is the current function's (`enter_frame`), which lives as long as the grid; `pc` is inside, as every
            // function's code ends with an instruction that leaves it and jumps go to its labels (`allocate::finish`).
            let inst = unsafe { &*self.code.add(pc as usize) };
            count += 1;
            self.mask = self.active;
            if inst.guard != 0 {
                // SAFETY: a guard is the offset of a predicate of the frame (`allocate::finish`).
                let bits = unsafe { *self.operand(inst.guard & !(1 << 31)).cast::<u32>() };
                self.mask &= if inst.guard >> 31 != 0 { !bits } else { bits };
                if FOLLOWED {
                    self.pc = pc;
                    self.follow(cluster, inst);
                }
                if self.mask == 0 {
                    pc += 1;
                    continue;
                }
            }
            self.pc = pc;
            if FOLLOWED && inst.guard == 0 {
                self.follow(cluster, inst);
            }
            if OBSERVED {
                self.observe(cluster, |observer, at| observer.step(at));
            }
            let executing = if OBSERVED {
                (self.mask, self.active)
            } else {
                (0, 0)
            };
            // SAFETY: the operations of a program's instructions are made by `erase` (`op::vector`, `op::scalar`).
            let exec = unsafe { typed(inst.operation) };
            // SAFETY: the instruction is of the current function, was emitted with its operation's operands
            // (`Builder::emit`), and `run` is called with the warp's own cluster (`Resident::turn`).
            match unsafe { exec(self, cluster, inst) } {
                Flow::Next => pc += 1,
                Flow::Jump => {
                    if OBSERVED {
                        let (taken, of) = executing;
                        self.observe(cluster, |observer, at| {
                            let at = At {
                                lanes: taken,
                                instruction: pc,
                                ..*at
                            };
                            observer.branch(&at, of);
                        });
                    }
                    pc = self.pc;
                    self.fuel -= 1;
                    if self.fuel <= 0 {
                        // The next slice is for whoever has waited longest.
                        self.rotated = true;
                        self.park(Wait::Ready);
                        break Left::Group;
                    }
                }
                Flow::Switch => pc = self.pc,
                Flow::Leave => break Left::Group,
                Flow::Fault => break Left::Fault,
            }
        };
        self.count += count;
        left
    }

    /// Tells the observer, if there is one, of something at the current instruction.
    #[cold]
    #[inline(never)]
    pub fn observe(&self, cluster: &Cluster<'_>, tell: impl FnOnce(&dyn Observer, &At<'_>)) {
        if let Some(observer) = cluster.grid.observer {
            let at = At {
                launch: cluster.grid.number,
                block: cluster.blocks[self.block as usize].index,
                warp: self.index,
                lanes: self.mask,
                function: self.function,
                instruction: self.pc,
                program: cluster.grid.program,
            };
            tell(observer, &at);
        }
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
            issuer: None,
        };
        self.fault = Some(Box::new(fault));
        Flow::Fault
    }

    /// Who executes the current instruction.
    pub fn issuer(&self) -> Issuer {
        Issuer {
            block: self.block,
            warp: self.index,
            site: Program::site(self.function, self.pc),
        }
    }

    /// The current function.
    pub fn function_of<'p>(&self, program: &'p Program) -> &'p Function {
        &program.functions[self.function as usize]
    }
}

impl Registers for Warp {
    #[inline(always)]
    fn mask(&self) -> u32 {
        self.mask
    }

    /// Where an operand lies that is a register or a constant.
    #[inline(always)]
    fn operand(&self, word: u32) -> *mut u8 {
        self.bases[(word >> 31) as usize].wrapping_add((word & !CONSTANT) as usize)
    }

    /// Where a register of the current frame lies.
    #[inline(always)]
    fn register(&mut self, word: u32) -> *mut u8 {
        self.bases[0].wrapping_add(word as usize)
    }

    /// A word of the current function's lists.
    #[inline(always)]
    fn list_word(&self, index: u32) -> u32 {
        // SAFETY: list operands stay inside the lists of the function they were emitted for (`Builder::list`, `allocate::finish`),
        // and an instruction is executed only while its function is the current one.
        unsafe { *self.lists.add(index as usize) }
    }
}

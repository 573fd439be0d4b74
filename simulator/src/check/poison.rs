//! Uninitialised values in a warp: which lanes of which registers hold one, and which bytes of local memory.
//!
//! A value is *poison* if it was read from uninitialised memory, or computed from such a value so that it may differ with it. Poison may
//! be moved, computed with, selected away and stored again; it is reported where it decides something ([`Decision`]), as
//! Valgrind's memcheck (Seward and Nethercote, USENIX 2005) and MemorySanitizer (Stepanov and Serebryany, CGO 2015) do. Those keep a
//! bit of shadow for each bit; here a register of a lane is poison as a whole, with exact rules where programs rely on them: a bit that
//! absorbs (`and` with 0, `or` with ones), and a selection.
//!
//! Registers are known by the frame of the call they belong to and their offset in it; nothing here knows instructions.

use rustc_hash::FxHashMap;

use super::access::{Site, ThreadAccess};

/// Where poison comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoisonOrigin {
    /// The read, or the operation.
    pub access: ThreadAccess,
    /// Why its value is none.
    pub source: PoisonSource,
}

/// Why a value is poison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoisonSource {
    /// Uninitialised memory was read.
    Memory {
        /// Rank of the block whose shared memory it is.
        block: u32,
        /// The first uninitialised byte.
        offset: u32,
        /// Bytes of the read.
        size: u32,
    },
    /// The register belongs to an operation that the thread has not waited for.
    InFlight,
}

/// Where poison decides something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What it decides.
    pub kind: DecisionKind,
    /// Rank of the thread's block in its cluster.
    pub block: u32,
    /// The thread, by number in its block.
    pub thread: u32,
    /// The instruction.
    pub site: Site,
}

/// What poison decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionKind {
    /// Whether an instruction with an effect is executed: a branch, an exit, a store.
    Guard,
    /// What address is accessed.
    Address,
    /// What is written to memory that others than the block can read.
    Output,
    /// What an instruction does that is more than a computation: an atomic operation, a barrier, an indexed branch.
    Operand,
}

/// The lanes of a register that are poison, each with its origin's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    lanes: u32,
    origins: [u32; 32],
}

impl Marks {
    /// None.
    pub const NONE: Marks = Marks {
        lanes: 0,
        origins: [0; 32],
    };

    /// The lanes.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// A lane is poison from here on.
    pub fn mark(&mut self, lane: usize, origin: u32) {
        self.lanes |= 1 << lane;
        self.origins[lane] = origin;
    }

    /// The origin of a lane that is poison.
    pub fn origin(&self, lane: usize) -> Option<u32> {
        (self.lanes >> lane & 1 != 0).then(|| self.origins[lane])
    }

    /// The first of some lanes that is poison, with its origin.
    pub fn first_of(&self, lanes: u32) -> Option<(usize, u32)> {
        let found = self.lanes & lanes;
        (found != 0).then(|| {
            let lane = found.trailing_zeros() as usize;
            (lane, self.origins[lane])
        })
    }

    /// Those of these lanes.
    pub fn within(mut self, lanes: u32) -> Marks {
        self.lanes &= lanes;
        self
    }

    /// What is computed from two values, lane by lane: poison if either is.
    pub fn with(mut self, other: &Marks) -> Marks {
        let more = other.lanes & !self.lanes;
        for lane in 0..32 {
            if more >> lane & 1 != 0 {
                self.mark(lane, other.origins[lane]);
            }
        }
        self
    }

    /// The values of two operands of which either may absorb the other, in the lanes that are given with it: there the result does
    /// not depend on the other one.
    pub fn absorbed(a: (&Marks, u32), b: (&Marks, u32)) -> Marks {
        let absorbed = a.1 & !a.0.lanes | b.1 & !b.0.lanes;
        a.0.with(b.0).within(!absorbed)
    }

    /// The selection of `a` in the lanes of `first`, of `b` elsewhere. Where the selector is poison, so is the result, unless the two
    /// are equal.
    pub fn selected(a: &Marks, b: &Marks, selector: &Marks, first: u32, equal: u32) -> Marks {
        let undecided = selector.lanes & !(equal & !a.lanes & !b.lanes);
        let decided = a.within(first).with(&b.within(!first));
        decided
            .within(!selector.lanes)
            .with(&selector.within(undecided))
    }

    /// What is computed from the values of these lanes together, in each of them.
    pub fn spread(&self, lanes: u32) -> Marks {
        let mut spread = Marks::NONE;
        if let Some((_, origin)) = self.first_of(lanes) {
            spread.lanes = lanes;
            spread.origins = [origin; 32];
        }
        spread
    }

    /// Those of the lanes with these origins.
    pub fn of(origins: &[Option<u32>; 32]) -> Marks {
        let mut marks = Marks::NONE;
        for (lane, origin) in origins.iter().enumerate() {
            if let Some(origin) = *origin {
                marks.mark(lane, origin);
            }
        }
        marks
    }

    /// The values of other lanes: of each lane, the one that it reads.
    pub fn gathered(&self, from: &[usize; 32]) -> Marks {
        let mut gathered = Marks::NONE;
        for (lane, &source) in from.iter().enumerate() {
            if let Some(origin) = self.origin(source) {
                gathered.mark(lane, origin);
            }
        }
        gathered
    }
}

/// What tells origins apart: the instruction and thread that read, by block and number, and the first byte, of its block; of an
/// operation, no byte.
type OriginKey = (Site, u32, u32, Option<(u32, u32)>);

/// The poison of a warp.
#[derive(Debug, Default)]
pub struct Poison {
    origins: Vec<PoisonOrigin>,
    numbers: FxHashMap<OriginKey, u32>,
    /// By frame and offset.
    registers: FxHashMap<(u32, u32), Marks>,
    /// By frame and offset: the registers of operations in flight, with the number of the latest operation and its origin's.
    in_flight: FxHashMap<(u32, u32), (u64, u32)>,
    /// By lane and offset in its local memory.
    local: FxHashMap<(usize, u64), u32>,
    /// The carry flags.
    pub carry: Marks,
}

impl Poison {
    /// Whether nothing is poison.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty() && !self.has_values()
    }

    /// Whether anything is poison besides the registers of operations in flight.
    #[inline]
    pub fn has_values(&self) -> bool {
        !self.registers.is_empty() || !self.local.is_empty() || self.carry.lanes != 0
    }

    /// The number of an origin.
    pub fn number(&mut self, origin: PoisonOrigin) -> u32 {
        let origins = &mut self.origins;
        let PoisonOrigin { access, source } = origin;
        let byte = match source {
            PoisonSource::Memory { block, offset, .. } => Some((block, offset)),
            PoisonSource::InFlight => None,
        };
        let key = (access.site, access.block, access.thread, byte);
        *self.numbers.entry(key).or_insert_with(|| {
            origins.push(origin);
            origins.len() as u32 - 1
        })
    }

    /// The origin of this number.
    pub fn origin(&self, number: u32) -> PoisonOrigin {
        self.origins[number as usize]
    }

    /// The poison of a register, for an instruction that reads it.
    pub fn marks(&self, frame: u32, offset: u32) -> Marks {
        match self.in_flight.get(&(frame, offset)) {
            Some(&(_, origin)) => Marks {
                lanes: u32::MAX,
                origins: [origin; 32],
            },
            None => self.contents(frame, offset),
        }
    }

    /// The poison of what a register holds, whomever it belongs to.
    pub fn contents(&self, frame: u32, offset: u32) -> Marks {
        let found = self.registers.get(&(frame, offset));
        found.copied().unwrap_or(Marks::NONE)
    }

    /// A register belongs to the operation of this number from here on.
    pub fn hold(&mut self, frame: u32, offset: u32, operation: u64, origin: PoisonOrigin) {
        let origin = self.number(origin);
        self.in_flight.insert((frame, offset), (operation, origin));
    }

    /// The operation of this number is done: the registers are the thread's again, but for those that a later one has.
    pub fn release(&mut self, operation: u64) {
        self.in_flight.retain(|_, held| held.0 != operation);
    }

    /// A register is written in these lanes.
    pub fn write(&mut self, frame: u32, offset: u32, lanes: u32, marks: &Marks) {
        let old = self.contents(frame, offset);
        let new = old.within(!lanes).with(&marks.within(lanes));
        if new.lanes != 0 {
            self.registers.insert((frame, offset), new);
        } else if old.lanes != 0 {
            self.registers.remove(&(frame, offset));
        }
    }

    /// A register, or memory of so many bytes a lane, is copied to one of another frame in these lanes.
    pub fn copy(&mut self, from: (u32, u32), to: (u32, u32), bytes: u32, lanes: u32) {
        for at in 0..bytes.max(1) {
            let marks = self.marks(from.0, from.1 + at);
            self.write(to.0, to.1 + at, lanes, &marks);
        }
    }

    /// Lanes move from a frame to another one of the same function.
    pub fn transfer(&mut self, from: u32, to: u32, lanes: u32) {
        let found = self.registers.iter();
        let moved: Vec<(u32, Marks)> = found
            .filter(|((frame, _), marks)| *frame == from && marks.lanes & lanes != 0)
            .map(|((_, offset), marks)| (*offset, *marks))
            .collect();
        for (offset, marks) in moved {
            let there = self.contents(to, offset).with(&marks.within(lanes));
            self.write(to, offset, lanes, &there);
        }
        self.leave_frame(from, lanes);
    }

    /// Lanes leave a frame.
    pub fn leave_frame(&mut self, frame: u32, lanes: u32) {
        self.registers.retain(|(other, _), marks| {
            if *other == frame {
                marks.lanes &= !lanes;
            }
            marks.lanes != 0
        });
    }

    /// Lanes exit.
    pub fn exit(&mut self, lanes: u32) {
        self.registers.retain(|_, marks| {
            marks.lanes &= !lanes;
            marks.lanes != 0
        });
        self.local.retain(|(lane, _), _| lanes >> *lane & 1 == 0);
        self.carry.lanes &= !lanes;
    }

    /// A lane writes bytes of its local memory: poison of this origin, or none.
    pub fn write_local(&mut self, lane: usize, offset: u64, bytes: u64, origin: Option<u32>) {
        for at in offset..offset + bytes {
            match origin {
                Some(origin) => {
                    self.local.insert((lane, at), origin);
                }
                None => {
                    self.local.remove(&(lane, at));
                }
            }
        }
    }

    /// The origin of the first byte of a lane's local memory that is poison.
    pub fn read_local(&self, lane: usize, offset: u64, bytes: u64) -> Option<u32> {
        let mut bytes = offset..offset + bytes;
        bytes.find_map(|at| self.local.get(&(lane, at)).copied())
    }
}

//! Call frames. A frame belongs to the lanes that made the call together, and to those that came to an instruction of the callee where
//! the lanes wait for each other (see [`transfer`](super::transfer)); the registers of all of them lie in it, lane by lane, so groups that
//! diverge inside the callee share it. It is free when the last of them has returned.

use super::operand::{CONSTANT, FULL, LANES, Registers, lanes_of};
use crate::engine::memory::Aligned;
use crate::engine::program::Function;

/// The parent of the kernel's own frame.
pub(crate) const NO_FRAME: u32 = u32::MAX;

/// Where lanes of a frame come from, and where their local memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The frame that they made the call in.
    pub parent: u32,
    /// Where they go on there.
    pub return_pc: u32,
    /// Number of the call site there: where results go.
    pub site: u32,
    /// Where their local variables start.
    pub local_base: u32,
    /// How far their dynamic allocations reach.
    pub local_top: u32,
}

impl Caller {
    /// Whether lanes of both go on at the same place.
    pub fn is_same_place(&self, other: &Caller) -> bool {
        (self.parent, self.return_pc) == (other.parent, other.return_pc)
    }
}

/// A frame.
#[derive(Default)]
pub(crate) struct Frame {
    /// Number of the function.
    pub function: u32,
    pub registers_memory: Aligned,
    /// Lanes that have not returned.
    pub lanes: u32,
    /// Calls between the kernel and this frame, the most that any of the lanes has made.
    pub depth: u32,
    /// The callers of those lanes: each of the lanes is in one entry.
    pub callers: Vec<(u32, Caller)>,
}

impl Frame {
    /// The registers.
    pub fn registers(&self) -> *mut u8 {
        self.registers_memory.as_ptr()
    }

    /// Whether it is the kernel's own.
    pub fn is_kernels(&self) -> bool {
        self.depth == 0
    }

    /// Adds lanes with the same caller.
    pub fn enter(&mut self, lanes: u32, caller: Caller) {
        self.lanes |= lanes;
        match self.callers.iter_mut().find(|(_, known)| *known == caller) {
            Some((with, _)) => *with |= lanes,
            None => self.callers.push((lanes, caller)),
        }
    }

    /// Takes lanes out.
    pub fn leave(&mut self, lanes: u32) {
        self.lanes &= !lanes;
        self.callers.retain_mut(|(with, _)| {
            *with &= !lanes;
            *with != 0
        });
    }

    /// The caller of a lane.
    pub fn caller(&self, lane: usize) -> Option<&Caller> {
        let entry = self
            .callers
            .iter()
            .find(|(lanes, _)| lanes >> lane & 1 != 0);
        entry.map(|(_, caller)| caller)
    }

    /// A value of each lane's caller; any for lanes that are not here.
    #[inline(always)]
    pub fn each_lane(&self, value: impl Fn(&Caller) -> u32) -> [u32; LANES] {
        if let [(_, all)] = self.callers.as_slice() {
            return [value(all); LANES];
        }
        let mut values = [0; LANES];
        for (lanes, caller) in &self.callers {
            for lane in lanes_of(*lanes) {
                values[lane] = value(caller);
            }
        }
        values
    }
}

/// The operands of a function's instructions in one of its frames, whichever is the current one: for an instruction of the whole
/// warp that completes later.
pub(crate) struct FrameRegisters<'p> {
    registers: *mut u8,
    function: &'p Function,
}

impl<'p> FrameRegisters<'p> {
    /// Those of a frame; `None` if it is another function's by now. A frame is always as large as its function asks for
    /// (`Warp::new_frame`), so that the operands of this function's instructions lie inside it.
    pub fn of(frame: &Frame, number: u32, function: &'p Function) -> Option<Self> {
        (frame.function == number).then(|| FrameRegisters {
            registers: frame.registers(),
            function,
        })
    }
}

impl Registers for FrameRegisters<'_> {
    fn mask(&self) -> u32 {
        FULL
    }

    fn operand(&self, word: u32) -> *mut u8 {
        let base = if word & CONSTANT != 0 {
            self.function.constants.as_ptr()
        } else {
            self.registers
        };
        base.wrapping_add((word & !CONSTANT) as usize)
    }

    fn register(&mut self, word: u32) -> *mut u8 {
        self.registers.wrapping_add(word as usize)
    }

    fn list_word(&self, index: u32) -> u32 {
        self.function.lists[index as usize]
    }
}

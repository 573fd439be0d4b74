//! Call frames. A frame belongs to the lanes that made the call together; the registers of all of them lie in it, lane by
//! lane, so groups that diverge inside the callee share it. It is free when the last of them has returned.

use super::operand::{CONSTANT, FULL, Registers};
use crate::engine::memory::Aligned;
use crate::engine::program::Function;

/// The parent of the kernel's own frame.
pub(crate) const NO_FRAME: u32 = u32::MAX;

/// A frame.
pub(crate) struct Frame {
    /// Number of the function.
    pub function: u32,
    pub registers_memory: Aligned,
    pub parent: u32,
    /// Where the caller goes on.
    pub return_pc: u32,
    /// Lanes that have not returned.
    pub lanes: u32,
    pub depth: u32,
    /// Where the frame's local variables start.
    pub local_base: u32,
    /// How far dynamic allocations reach.
    pub local_top: u32,
    /// Number of the caller's call site: where results go.
    pub site: u32,
}

impl Frame {
    /// The registers.
    pub fn registers(&self) -> *mut u8 {
        self.registers_memory.as_ptr()
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

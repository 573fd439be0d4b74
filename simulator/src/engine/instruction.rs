//! An instruction as the interpreter reads it. What its operation does with which machine is not known here: a program is made of
//! instructions, and the machine that runs it knows the program, so the operation's type is erased
//! (`exec::warp` gives it back).

use super::slot::Slot;

/// Words of an instruction's operands that lie in the instruction itself; more lie in the function's lists.
pub(crate) const INLINE_WORDS: usize = 5;

/// An operation: a function on the machine, without its type.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Operation(unsafe fn());

impl Operation {
    /// This function, whatever it takes.
    pub fn new(erased: unsafe fn()) -> Operation {
        Operation(erased)
    }

    /// The function.
    #[inline(always)]
    pub fn erased(self) -> unsafe fn() {
        self.0
    }
}

/// A decoded instruction: 32 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Inst {
    /// The operation.
    pub operation: Operation,
    /// The guard: 0 for none, else the predicate's offset; bit 31 negates.
    pub guard: u32,
    /// The operands, or where they start in the function's lists.
    pub words: [u32; INLINE_WORDS],
}

impl Inst {
    /// The words of its operands, which are in these slots; `lists` are the function's.
    pub fn operand_words<'w>(&'w self, slots: &[Slot], lists: &'w [u32]) -> &'w [u32] {
        let count = slots.iter().map(|slot| slot.words()).sum();
        if count <= INLINE_WORDS {
            &self.words[..count]
        } else {
            &lists[self.words[0] as usize..][..count]
        }
    }
}

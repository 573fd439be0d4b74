//! What the instructions of several opcodes have in common: who divides, who gives one of several values, who accesses memory.

use super::opcode;
use super::value::{Value, ValueKind};

/// Operations of integers that may be executed where their results are not used: none divides.
const PLAIN_ARITHMETIC: [i32; 8] = [
    opcode::ADD,
    opcode::SUB,
    opcode::MUL,
    opcode::SHL,
    opcode::LSHR,
    opcode::AND,
    opcode::OR,
    opcode::XOR,
];

impl<'c> Value<'c> {
    /// Whether an instruction is an operation of integers that may be executed where its result is not used.
    pub fn is_plain_arithmetic(self) -> bool {
        PLAIN_ARITHMETIC.contains(&self.opcode())
    }

    /// Whether an instruction is a quotient or a remainder of unsigned numbers.
    pub fn is_unsigned_division(self) -> bool {
        matches!(self.opcode(), opcode::UDIV | opcode::UREM)
    }

    /// Whether an instruction gives an integer in another width.
    pub fn is_resizing(self) -> bool {
        matches!(self.opcode(), opcode::TRUNC | opcode::ZEXT | opcode::SEXT)
    }

    /// Whether an instruction gives one of several values.
    pub fn is_choice(self) -> bool {
        matches!(self.opcode(), opcode::PHI | opcode::SELECT)
    }

    /// Whether an instruction that is no call and no plain access does something with memory that other threads see.
    pub fn is_atomic_access(self) -> bool {
        matches!(
            self.opcode(),
            opcode::ATOMIC_RMW | opcode::COMPARE_EXCHANGE | opcode::FENCE
        )
    }

    /// Whether a value is what a function gives whose name begins with one of these.
    pub fn is_call_of(self, names: &[&str]) -> bool {
        let is_call = self.is_instruction() && self.is_call();
        let callee = is_call.then(|| self.callee()).flatten();
        let function = callee.filter(|callee| callee.kind() == ValueKind::Function);
        function.is_some_and(|function| {
            let name = function.name();
            names.iter().any(|known| name.starts_with(known))
        })
    }
}

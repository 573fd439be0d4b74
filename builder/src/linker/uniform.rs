//! Values that all threads of a block have in common that come to an instruction together.
//!
//! Threads come to an instruction together if they have gone through as many rounds of each loop around it. What is computed from the
//! kernel's parameters, constants, and the block's place and size alone is then the same for all of them. So is a phi at the head of a loop, if what
//! it begins with is and each round makes the next one of such values: by induction over the rounds. Any other phi is not: which
//! value it has says by which way a thread came, or, behind a loop, after how many rounds the thread left. Functions must have the form that
//! LLVM's `lcssa` gives them, by which what is made in a loop is used behind it through such a phi only.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::launch_facts::REGISTERS;
use super::{is_kernel, loops};
use crate::llvm::{Block, Value, ValueKind, opcode};

/// The special registers that a block's threads have in common, by the beginnings of their names.
const OF_BLOCK: [&str; 3] = ["ctaid.", "nctaid.", "ntid."];

/// Intrinsics that compute from their arguments alone, by the beginnings of their names.
const ARITHMETIC: [&str; 4] = ["llvm.umin.", "llvm.umax.", "llvm.smin.", "llvm.smax."];

/// What is known of a function.
pub(super) struct Uniform<'c> {
    is_kernel: bool,
    /// The blocks from which each loop's first block is reached: from before, and from its end.
    heads: HashMap<Block<'c>, [Block<'c>; 2]>,
}

impl<'c> Uniform<'c> {
    pub(super) fn of(function: Value<'c>) -> Uniform<'c> {
        let loops = loops::all(function).into_iter();
        Uniform {
            is_kernel: is_kernel(function),
            heads: loops
                .map(|found| (found.header, [found.before, found.latch]))
                .collect(),
        }
    }

    /// Whether a value is one of these for certain.
    pub(super) fn contains(&self, value: Value<'c>) -> bool {
        let mut seen = HashSet::from_iter([value]);
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            let Some(from) = self.made_of(value) else {
                return false;
            };
            open.extend(from.into_iter().filter(|from| seen.insert(*from)));
        }
        true
    }

    /// What must be the same for all threads for this value to be; `None` if that would not be enough.
    fn made_of(&self, value: Value<'c>) -> Option<Vec<Value<'c>>> {
        let first = |count| (0..count).map(|n| value.operand(n)).collect();
        if !value.is_instruction() {
            let is_parameter = self.is_kernel && value.parameter_of().is_some();
            let is_constant = value.as_integer().is_some() || value.kind() == ValueKind::Global;
            return (is_parameter || is_constant).then(Vec::new);
        }
        match value.opcode() {
            opcode::PHI => {
                let ways = self.heads.get(&value.block())?;
                ways.iter().map(|from| value.incoming_from(*from)).collect()
            }
            opcode::CALL => {
                let name = value.callee()?.name();
                if ARITHMETIC.iter().any(|start| name.starts_with(start)) {
                    return first(value.argument_count());
                }
                let register = name.strip_prefix(REGISTERS)?;
                let is_of_block = OF_BLOCK.iter().any(|start| register.starts_with(start));
                is_of_block.then(Vec::new)
            }
            opcode::ADD
            | opcode::SUB
            | opcode::MUL
            | opcode::UDIV
            | opcode::SDIV
            | opcode::UREM
            | opcode::SREM
            | opcode::SHL
            | opcode::LSHR
            | opcode::ASHR
            | opcode::AND
            | opcode::OR
            | opcode::XOR
            | opcode::TRUNC
            | opcode::ZEXT
            | opcode::SEXT
            | opcode::ICMP
            | opcode::SELECT
            | opcode::FREEZE
            | opcode::GET_ELEMENT_POINTER
            | opcode::PTR_TO_INT
            | opcode::ADDRESS_SPACE_CAST => first(value.operand_count()),
            _ => None,
        }
    }
}

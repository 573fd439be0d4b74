//! The loops whose rounds decide which elements of a local array are accessed.

use rustc_hash::FxHashSet as HashSet;

use super::nest::Nest;
use crate::linker::stack_slots;
use crate::llvm::{Block, Value, ValueKind, opcode};

/// The loops that must be unrolled, by their first blocks, for every access of a stack slot to be of a constant element; `None` if that does
/// not suffice.
pub(super) fn of<'c>(slot: Value<'c>, nest: &Nest<'c>) -> Option<HashSet<Block<'c>>> {
    let mut needs = Needs {
        nest,
        loops: HashSet::default(),
        seen: HashSet::default(),
        walked: HashSet::default(),
    };
    needs.accesses(slot)?;
    // A loop's end may depend on rounds of loops around it.
    let mut done = HashSet::default();
    while let Some(header) = needs.loops.difference(&done).next().copied() {
        done.insert(header);
        for condition in needs.nest.conditions(header) {
            let mut with = Needs {
                nest,
                loops: needs.loops.clone(),
                seen: needs.seen.clone(),
                walked: HashSet::default(),
            };
            if with.number(condition).is_some() {
                needs = with;
            }
        }
    }
    Some(needs.loops)
}

struct Needs<'n, 'c> {
    nest: &'n Nest<'c>,
    loops: HashSet<Block<'c>>,
    /// Numbers that were followed.
    seen: HashSet<Value<'c>>,
    /// Pointers whose users were.
    walked: HashSet<Value<'c>>,
}

impl<'c> Needs<'_, 'c> {
    /// Follows the users of a pointer into the slot; `None` if one of them does more than to access elements.
    fn accesses(&mut self, pointer: Value<'c>) -> Option<()> {
        if !self.walked.insert(pointer) {
            return Some(());
        }
        for user in pointer.users() {
            if user.kind() != ValueKind::Instruction {
                return None;
            }
            let is_operand = |n| user.operand(n) == Some(pointer);
            match user.opcode() {
                opcode::LOAD => {}
                opcode::STORE if !is_operand(0) => {}
                opcode::ICMP => {
                    self.number(user)?;
                }
                opcode::GET_ELEMENT_POINTER | opcode::PHI => {
                    self.number(user)?;
                    self.accesses(user)?;
                }
                opcode::ADDRESS_SPACE_CAST => self.accesses(user)?,
                opcode::CALL if stack_slots::is_split(user) => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// Notes the loops by whose rounds a number or an address is known; `None` if it is not.
    fn number(&mut self, value: Value<'c>) -> Option<()> {
        if value.as_integer().is_some() || !self.seen.insert(value) {
            return Some(());
        }
        if value.kind() != ValueKind::Instruction {
            return value.is_pointer().then_some(());
        }
        match value.opcode() {
            opcode::ALLOCA => {}
            opcode::PHI => {
                let found = self.nest.begins(value.block())?;
                self.loops.insert(found.header);
                let (before, latch) = (found.before, found.latch);
                self.number(value.incoming_from(before)?)?;
                self.number(value.incoming_from(latch)?)?;
            }
            opcode::LOAD if is_of_constant(value) => self.operands(value)?,
            opcode::ZEXT
            | opcode::SEXT
            | opcode::TRUNC
            | opcode::FREEZE
            | opcode::SELECT
            | opcode::ICMP
            | opcode::ADDRESS_SPACE_CAST
            | opcode::GET_ELEMENT_POINTER => self.operands(value)?,
            operation if opcode::UNSIGNED_ARITHMETIC.contains(&operation) => {
                self.operands(value)?
            }
            _ => return None,
        }
        Some(())
    }

    fn operands(&mut self, value: Value<'c>) -> Option<()> {
        (0..value.operand_count()).try_for_each(|n| self.number(value.operand(n)?))
    }
}

/// Whether a load is of a constant, so that it is known where its address is.
fn is_of_constant(load: Value<'_>) -> bool {
    let mut address = load.operand(0);
    while let Some(inner) = address.filter(|one| one.is_instruction()) {
        let is_part = matches!(
            inner.opcode(),
            opcode::GET_ELEMENT_POINTER | opcode::ADDRESS_SPACE_CAST
        );
        address = is_part.then(|| inner.operand(0)).flatten();
    }
    address.is_some_and(|one| {
        one.kind() == ValueKind::Global && one.is_constant_global() && one.initialiser().is_some()
    })
}

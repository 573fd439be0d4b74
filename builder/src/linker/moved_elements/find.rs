//! Where elements of a local array are moved whose places are constant on each way there.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::linker::copies::{SIZE, TO};
use crate::linker::long_copies::alignment;
use crate::linker::narrow::dominators::Dominators;
use crate::linker::offsets::whole;
use crate::linker::stack_slots;
use crate::llvm::{Block, Module, Value, ValueKind, opcode};

/// The bytes of an array, and the words that are moved apart, as each is in a register of its own.
const MOST_BYTES: u64 = 128;
const MOST_WORDS: u64 = 32;

/// The ways that get a copy of their own.
pub(super) const MOST_WAYS: usize = 8;

/// The instructions of a block that is copied.
const MOST_INSTRUCTIONS: usize = 24;

/// Whether a slot is small, and a copy begins or ends in it that has no constant length.
pub(super) fn is_moved_in(module: &Module<'_>, slot: Value<'_>) -> bool {
    let bytes = module.size_of(slot.allocated_type());
    let is_moved = |call: Value<'_>| {
        let is_variable = |size: Value<'_>| size.as_integer().is_none();
        let word = alignment(call, TO);
        stack_slots::is_copy(call)
            && call.operand(SIZE).is_some_and(is_variable)
            && word > 1
            && bytes / word <= MOST_WORDS
    };
    is_small(module, slot) && calls(slot).into_iter().any(is_moved)
}

/// Whether a slot has so few bytes that registers may hold them.
pub(super) fn is_small(module: &Module<'_>, slot: Value<'_>) -> bool {
    let is_one = slot.operand(0).and_then(Value::as_integer) == Some(1);
    is_one && module.size_of(slot.allocated_type()) <= MOST_BYTES
}

/// The calls that are given an address that is computed from a slot's.
pub(super) fn calls(slot: Value<'_>) -> Vec<Value<'_>> {
    let mut pointers = vec![slot];
    let mut seen = HashSet::default();
    let mut calls = Vec::new();
    while let Some(pointer) = pointers.pop() {
        for user in pointer.users() {
            match user.opcode() {
                opcode::CALL if seen.insert(user) => calls.push(user),
                opcode::GET_ELEMENT_POINTER | opcode::PHI if seen.insert(user) => {
                    pointers.push(user);
                }
                _ => {}
            }
        }
    }
    calls
}

/// The blocks to be copied so that all that is accessed of a slot is constant, each after those that lead to it; `None` if that does not suffice or
/// costs too much.
pub(super) fn blocks<'c>(
    module: &Module<'c>,
    slot: Value<'c>,
    dominators: &Dominators<'c>,
) -> Option<Vec<Block<'c>>> {
    let mut choices = Choices::default();
    choices.users(slot, None)?;
    let mut blocks = dominators.order().to_vec();
    blocks.retain(|block| choices.blocks.contains(block));
    let mut ways: HashMap<Block<'c>, usize> = HashMap::default();
    for &block in &blocks {
        let before = before(block);
        let is_loop = before.iter().any(|from| dominators.dominates(block, *from));
        let count = before.iter().map(|from| ways.get(from).unwrap_or(&1)).sum();
        if is_loop || count > MOST_WAYS || !can_be_copied(block) {
            return None;
        }
        ways.insert(block, count);
    }
    let mut phis = choices.phis.iter();
    let are_constant = phis.all(|phi| {
        let mut incoming = phi.incoming().into_iter();
        incoming.all(|(value, from)| {
            let is_of_copy = value.is_instruction() && value.block() == from;
            value.as_integer().is_some()
                || is_place(module, value, slot)
                || is_of_copy && choices.found.contains(&value)
        })
    });
    are_constant.then_some(blocks)
}

/// The blocks that lead to one with phis.
pub(super) fn before(block: Block<'_>) -> Vec<Block<'_>> {
    let phis = block.phis();
    let incoming = phis.first().map(|phi| phi.incoming()).unwrap_or_default();
    let mut before: Vec<Block<'_>> = Vec::new();
    for (_, from) in incoming {
        if !before.contains(&from) {
            before.push(from);
        }
    }
    before
}

/// What decides which places of a slot are accessed.
#[derive(Default)]
struct Choices<'c> {
    /// The phis of addresses, of lengths and of indices.
    phis: HashSet<Value<'c>>,
    /// These phis' blocks.
    blocks: HashSet<Block<'c>>,
    /// The phis of addresses and numbers, and addresses that are computed from them.
    found: HashSet<Value<'c>>,
}

impl<'c> Choices<'c> {
    /// Follows the users of an address, which is one of a phi in `block` or always the same; `None` if one does more than to access memory
    /// there.
    fn users(&mut self, address: Value<'c>, block: Option<Block<'c>>) -> Option<()> {
        for user in address.users() {
            if user.opcode() == opcode::PHI {
                self.choice(user);
                if self.found.insert(user) {
                    self.users(user, Some(user.block()))?;
                }
                continue;
            }
            if block.is_some_and(|block| user.block() != block) {
                return None;
            }
            match user.opcode() {
                opcode::LOAD if !user.is_volatile() && !user.is_atomic() => {}
                opcode::STORE if !user.is_volatile() && !user.is_atomic() => {
                    (user.operand(0) != Some(address)).then_some(())?;
                }
                opcode::CALL if stack_slots::is_split(user) => {}
                opcode::CALL if stack_slots::is_copy(user) => {
                    self.number(user.operand(SIZE)?, user.block())?;
                }
                opcode::GET_ELEMENT_POINTER => {
                    let indices = (1..user.operand_count()).map(|n| user.operand(n));
                    let mut variable =
                        indices.filter(|index| index.and_then(Value::as_integer).is_none());
                    let is_variable = variable.try_fold(false, |_, index| {
                        self.number(index?, user.block())?;
                        Some(true)
                    })?;
                    let block = block.or(is_variable.then(|| user.block()));
                    if block.is_some() {
                        self.found.insert(user);
                    }
                    self.users(user, block)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Follows a number that is computed in a block from its phis and from constants; `None` if it is not.
    fn number(&mut self, number: Value<'c>, block: Block<'c>) -> Option<()> {
        if number.as_integer().is_some() {
            return Some(());
        }
        if !number.is_instruction() || number.block() != block {
            return None;
        }
        match number.opcode() {
            opcode::PHI => {
                self.choice(number);
                self.found.insert(number);
                Some(())
            }
            operation if is_computed(operation) => {
                (0..number.operand_count()).try_for_each(|n| self.number(number.operand(n)?, block))
            }
            _ => None,
        }
    }

    fn choice(&mut self, phi: Value<'c>) {
        self.phis.insert(phi);
        self.blocks.insert(phi.block());
    }
}

/// Whether an operation computes a constant of constants.
fn is_computed(operation: i32) -> bool {
    matches!(operation, opcode::ZEXT | opcode::SEXT | opcode::TRUNC)
        || opcode::UNSIGNED_ARITHMETIC.contains(&operation)
}

/// Whether an address is always the same one in a slot.
fn is_place<'c>(module: &Module<'c>, address: Value<'c>, slot: Value<'c>) -> bool {
    address.kind() == ValueKind::Instruction && whole(module, address).0 == slot
}

/// Whether a block is short, without anything that may be there only once, and gives its values to no others but to phis behind it.
fn can_be_copied(block: Block<'_>) -> bool {
    let behind = block.successors();
    let instructions = block.instructions();
    let is_short = instructions.len() <= MOST_INSTRUCTIONS && !behind.is_empty();
    let is_known = |one: &Value<'_>| match one.opcode() {
        opcode::ALLOCA => false,
        _ if one.is_call() => stack_slots::is_copy(*one) || one.is_call_of(&HARMLESS),
        _ => true,
    };
    let stays = |one: &Value<'_>| {
        one.users().into_iter().all(|user| {
            let is_behind = user.opcode() == opcode::PHI && behind.contains(&user.block());
            user.block() == block || is_behind && is_from(user, *one, block)
        })
    };
    is_short && instructions.iter().all(|one| is_known(one) && stays(one))
}

/// Calls that may be copied.
const HARMLESS: [&str; 2] = ["llvm.lifetime.", "llvm.experimental.noalias.scope.decl"];

/// Whether a phi has a value from this block alone.
fn is_from<'c>(phi: Value<'c>, value: Value<'c>, block: Block<'c>) -> bool {
    let mut incoming = phi.incoming().into_iter();
    incoming.all(|(other, from)| other != value || from == block)
}

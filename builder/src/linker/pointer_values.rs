//! Makes pointers of what goes from block to block as the integer of a pointer.
//!
//! `mem::swap` of two pointers copies eight bytes, which LLVM makes a load and a store of an integer. In a loop that swaps two buffers, the variables are
//! phis of integers then: each round begins with `inttoptr`, and where the pointer leads cannot be known. LLVM's `instcombine` makes pointers of such phis
//! one at a time, which does not help where one depends on the other. So all are looked at together here: phis and selections that have only addresses
//! of pointers and each other as values get a pointer beside them, and it takes the place of the pointer that is made of the integer.

use std::collections::{HashMap, HashSet};

use crate::llvm::{Module, Place, Value, opcode};

/// Makes pointers of integers in all functions.
pub(super) fn restore(module: &Module<'_>) {
    for function in module.functions() {
        in_function(function);
    }
}

fn in_function(function: Value<'_>) {
    let instructions = function.instructions();
    let mut addresses: HashSet<_> = instructions
        .iter()
        .copied()
        .filter(|instruction| instruction.is_choice() && instruction.integer_bits() == Some(64))
        .filter(|instruction| !instruction.is_pointer())
        .collect();
    // What has another value is none, and what has that one neither.
    loop {
        let other: Vec<_> = addresses
            .iter()
            .copied()
            .filter(|choice| {
                let mut values = values(*choice).into_iter();
                values.any(|value| !addresses.contains(&value) && pointer_of(value).is_none())
            })
            .collect();
        if other.is_empty() {
            break;
        }
        for choice in other {
            addresses.remove(&choice);
        }
    }
    let mut pointers = Pointers::new(addresses);
    for instruction in instructions {
        if instruction.opcode() == opcode::INT_TO_PTR
            && instruction.address_space() == 0
            && let Some(integer) = instruction.operand(0)
            && let Some(pointer) = pointers.of_choice(integer, instruction)
        {
            instruction.replace_by(pointer);
        }
    }
    pointers.finish();
}

/// The values of which it gives one.
fn values(choice: Value<'_>) -> Vec<Value<'_>> {
    let first = u32::from(choice.opcode() == opcode::SELECT);
    let all = first..choice.operand_count();
    all.filter_map(|n| choice.operand(n)).collect()
}

/// The generic pointer whose address an integer is.
fn pointer_of(integer: Value<'_>) -> Option<Value<'_>> {
    let opcode = match integer.is_instruction() {
        true => Some(integer.opcode()),
        false => integer.constant_opcode(),
    };
    if opcode != Some(opcode::PTR_TO_INT) {
        return None;
    }
    let pointer = integer.operand(0)?;
    (pointer.is_pointer() && pointer.address_space() == 0).then_some(pointer)
}

/// The pointers beside integers that are addresses.
struct Pointers<'c> {
    addresses: HashSet<Value<'c>>,
    made: HashMap<Value<'c>, Value<'c>>,
    /// Phis that have no values yet, and the integers beside them.
    unfinished: Vec<(Value<'c>, Value<'c>)>,
}

impl<'c> Pointers<'c> {
    fn new(addresses: HashSet<Value<'c>>) -> Pointers<'c> {
        Pointers {
            addresses,
            made: HashMap::new(),
            unfinished: Vec::new(),
        }
    }

    /// The pointer, of the type of `like`, beside a choice among addresses.
    fn of_choice(&mut self, integer: Value<'c>, like: Value<'c>) -> Option<Value<'c>> {
        if !self.addresses.contains(&integer) {
            return None;
        }
        if let Some(made) = self.made.get(&integer) {
            return Some(*made);
        }
        let pointer = match integer.opcode() {
            opcode::PHI => {
                let phi = integer.build_phi_before(like);
                self.unfinished.push((phi, integer));
                phi
            }
            _ => {
                let condition = integer.operand(0)?;
                let (yes, no) = (integer.operand(1)?, integer.operand(2)?);
                let (yes, no) = (self.of(yes, like)?, self.of(no, like)?);
                Place::before(integer).select(condition, yes, no)
            }
        };
        self.made.insert(integer, pointer);
        Some(pointer)
    }

    fn of(&mut self, integer: Value<'c>, like: Value<'c>) -> Option<Value<'c>> {
        pointer_of(integer).or_else(|| self.of_choice(integer, like))
    }

    /// Gives the phis their values.
    fn finish(&mut self) {
        while let Some((phi, integer)) = self.unfinished.pop() {
            for (value, from) in integer.incoming() {
                if let Some(pointer) = self.of(value, phi) {
                    phi.add_incoming(pointer, from);
                }
            }
        }
    }
}

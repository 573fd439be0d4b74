//! Pointers that are one of several stack slots, and what is accessed through them.

use std::collections::HashSet;

use crate::linker::stack_slots;
use crate::llvm::sys::TypeRef;
use crate::llvm::{Block, Module, Value, ValueKind, opcode};

/// More places are not compared one by one.
const MOST_PLACES: usize = 4;

/// A constant place in a stack slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Place<'c> {
    pub slot: Value<'c>,
    pub offset: i64,
}

/// An access through a pointer that is chosen.
pub(super) struct Access<'c> {
    pub instruction: Value<'c>,
    /// The phi or select that chooses.
    pub choice: Value<'c>,
    /// How many bytes behind the chosen place.
    pub offset: i64,
}

/// Phis and selects of pointers that choose among the same places.
pub(super) struct Group<'m, 'c> {
    module: &'m Module<'c>,
    /// The block in which slots are made that live as long as the function runs.
    entry: Block<'c>,
    pub places: Vec<Place<'c>>,
    pub choices: Vec<Value<'c>>,
    pub accesses: Vec<Access<'c>>,
    /// Addresses computed from a choice, each after what it is computed from.
    pub derived: Vec<Value<'c>>,
}

impl<'m, 'c> Group<'m, 'c> {
    /// The group of a phi or select; `None` if something else than slots is chosen, or if a pointer does more than to access one.
    pub(super) fn of(
        module: &'m Module<'c>,
        entry: Block<'c>,
        choice: Value<'c>,
        seen: &mut HashSet<Value<'c>>,
    ) -> Option<Group<'m, 'c>> {
        let mut group = Group {
            module,
            entry,
            places: Vec::new(),
            choices: Vec::new(),
            accesses: Vec::new(),
            derived: Vec::new(),
        };
        let mut open = vec![choice];
        let mut is_right = true;
        // To the end in any case: none of them is asked for again.
        while let Some(choice) = open.pop() {
            if !group.choices.contains(&choice) {
                seen.insert(choice);
                group.choices.push(choice);
                is_right &= group.chosen(choice, &mut open).is_some();
                is_right &= group.users(choice, choice, 0, &mut open).is_some();
            }
        }
        let fits = group.accesses.iter().all(|access| group.fits(access));
        let is_small = (1..=MOST_PLACES).contains(&group.places.len());
        let mut slots = group.places.iter().map(|place| place.slot);
        let is_right = is_right && is_small && fits && slots.all(|slot| group.is_split(slot));
        is_right.then_some(group)
    }

    /// What a choice chooses among.
    fn chosen(&mut self, choice: Value<'c>, open: &mut Vec<Value<'c>>) -> Option<()> {
        for option in options(choice) {
            let option = uncast(option)?;
            if is_choice(option) {
                open.push(option);
                continue;
            }
            let place = self.place(option)?;
            if !self.places.contains(&place) {
                self.places.push(place);
            }
        }
        Some(())
    }

    /// The place of a pointer that is always the same.
    pub(super) fn place(&self, pointer: Value<'c>) -> Option<Place<'c>> {
        let pointer = uncast(pointer)?;
        if pointer.kind() != ValueKind::Instruction {
            return None;
        }
        match pointer.opcode() {
            opcode::ALLOCA => {
                let is_one = pointer.operand(0).and_then(Value::as_integer) == Some(1);
                (is_one && pointer.block() == self.entry).then_some(Place {
                    slot: pointer,
                    offset: 0,
                })
            }
            opcode::GET_ELEMENT_POINTER => {
                let Place { slot, offset } = self.place(pointer.operand(0)?)?;
                let offset = offset.checked_add(self.bytes(pointer)?)?;
                Some(Place { slot, offset })
            }
            _ => None,
        }
    }

    /// The constant number of bytes by which a `getelementptr` moves.
    fn bytes(&self, pointer: Value<'c>) -> Option<i64> {
        let index = (pointer.operand_count() == 2).then(|| pointer.operand(1))??;
        let index = (index.integer_bits() == Some(64)).then(|| index.as_integer())?? as i64;
        let size = i64::try_from(self.module.size_of(pointer.element_type())).ok()?;
        index.checked_mul(size)
    }

    /// Notes what is done with a pointer so many bytes behind a choice.
    fn users(
        &mut self,
        pointer: Value<'c>,
        choice: Value<'c>,
        offset: i64,
        open: &mut Vec<Value<'c>>,
    ) -> Option<()> {
        for user in pointer.users() {
            match user.opcode() {
                opcode::LOAD | opcode::STORE => {
                    let is_store = user.opcode() == opcode::STORE;
                    let is_stored = is_store && user.operand(0) == Some(pointer);
                    if is_stored || user.is_atomic() || user.is_volatile() {
                        return None;
                    }
                    self.accesses.push(Access {
                        instruction: user,
                        choice,
                        offset,
                    });
                }
                opcode::GET_ELEMENT_POINTER if pointer.is_pointer() => {
                    let offset = offset.checked_add(self.bytes(user)?)?;
                    self.derived.push(user);
                    self.users(user, choice, offset, open)?;
                }
                _ if is_cast(user) => {
                    self.derived.push(user);
                    self.users(user, choice, offset, open)?;
                }
                opcode::PHI | opcode::SELECT if offset == 0 => open.push(user),
                _ => return None,
            }
        }
        Some(())
    }

    /// Whether nothing else keeps a slot in memory. An index that is not constant may become one, when a loop is unrolled.
    fn is_split(&self, pointer: Value<'c>) -> bool {
        pointer.users().into_iter().all(|user| match user.opcode() {
            opcode::LOAD => !user.is_volatile(),
            opcode::STORE => user.operand(0) != Some(pointer) && !user.is_volatile(),
            opcode::CALL => stack_slots::is_split(user),
            opcode::GET_ELEMENT_POINTER => self.is_split(user),
            _ if is_choice(user) => self.choices.contains(&user),
            _ => is_cast(user) && self.is_split(user),
        })
    }

    /// Whether an access is inside of each slot, whichever is chosen.
    fn fits(&self, access: &Access<'c>) -> bool {
        let size = self.module.size_of(accessed_type(access.instruction));
        self.places.iter().all(|place| {
            let start = place.offset.checked_add(access.offset);
            let start = start.and_then(|start| u64::try_from(start).ok());
            let end = start.and_then(|start| start.checked_add(size));
            end.is_some_and(|end| end <= self.module.size_of(place.slot.allocated_type()))
        })
    }
}

/// The pointers that a phi or select chooses among.
pub(super) fn options(choice: Value<'_>) -> Vec<Value<'_>> {
    match choice.opcode() {
        opcode::PHI => choice
            .incoming()
            .into_iter()
            .map(|(value, _)| value)
            .collect(),
        _ => [1, 2].iter().filter_map(|&n| choice.operand(n)).collect(),
    }
}

/// Whether a value is a phi or a select of pointers, or of numbers that may be some.
pub(super) fn is_choice(value: Value<'_>) -> bool {
    value.kind() == ValueKind::Instruction && value.is_choice() && value.integer_bits() == Some(64)
}

/// The type of what a load or store accesses.
pub(super) fn accessed_type(access: Value<'_>) -> TypeRef {
    match access.opcode() {
        opcode::STORE => access.operand(0).map_or(access.ty(), Value::ty),
        _ => access.ty(),
    }
}

/// Whether an instruction makes the same address of an address: in another address space, or as a number, as which references are swapped.
fn is_cast(value: Value<'_>) -> bool {
    matches!(
        value.opcode(),
        opcode::ADDRESS_SPACE_CAST | opcode::PTR_TO_INT | opcode::INT_TO_PTR
    ) && [Some(value), value.operand(0)]
        .into_iter()
        .all(|value| value.and_then(Value::integer_bits) == Some(64))
}

/// An address before all casts.
pub(super) fn uncast(mut address: Value<'_>) -> Option<Value<'_>> {
    while address.kind() == ValueKind::Instruction && is_cast(address) {
        address = address.operand(0)?;
    }
    Some(address)
}

//! A stack slot that holds the copy of a constant, and is only read, is the constant.
//!
//! ```text
//! memcpy(rows + 16, ORDER, 1280)
//! load rows + 16, i                     load ORDER, i
//! ```
//!
//! `for row in ROWS` takes the array by value: its iterator has a copy of it behind its two counters. LLVM leaves out the copy of a constant that fills its slot,
//! but not one that is behind something else. A thread's copy is in local memory, which each thread writes and reads by itself; a constant is there once, and what is loaded from it
//! at a known place is known.

use std::ops::Range;

use super::copies::{FROM, SIZE, TO, VOLATILE};
use super::offsets::whole;
use super::stack_slots::is_lifetime;
use crate::llvm::{Module, Value, ValueKind, opcode};

/// Copies of fewer bytes are made values.
const LEAST_BYTES: u64 = 32;

/// Replaces such slots in all functions; tells whether there were any.
pub(super) fn replace(module: &Module<'_>) -> bool {
    let functions = module.functions().into_iter();
    let copies = functions.filter(|function| function.name().starts_with("llvm.memcpy.p"));
    let calls: Vec<_> = copies.flat_map(Value::calls).collect();
    let mut is_changed = false;
    for call in calls {
        if let Some(found) = Copy::of(module, call) {
            found.replace();
            is_changed = true;
        }
    }
    is_changed
}

/// A copy of a constant, and what reads it.
struct Copy<'c> {
    call: Value<'c>,
    constant: Value<'c>,
    /// Addresses in the copy, each with its distance from the first byte.
    places: Vec<(Value<'c>, u64)>,
}

impl<'c> Copy<'c> {
    fn of(module: &Module<'c>, call: Value<'c>) -> Option<Copy<'c>> {
        let [to, from, size] = [TO, FROM, SIZE].map(|n| call.operand(n));
        let (constant, bytes) = (from?, size?.as_integer()?);
        let is_constant = constant.kind() == ValueKind::Global
            && constant.is_constant_global()
            && constant.initialiser().is_some()
            && module.size_of(constant.value_type()) == bytes
            && bytes >= LEAST_BYTES
            && call.operand(VOLATILE)?.as_integer() == Some(0);
        let (slot, first) = slot_of(module, to.filter(|_| is_constant)?)?;
        let mut uses = Uses {
            module,
            call,
            copied: first..first.checked_add(bytes)?,
            places: Vec::new(),
        };
        uses.of_slot(slot, 0)?;
        Some(Copy {
            call,
            constant,
            places: uses.places,
        })
    }

    fn replace(self) {
        for (place, distance) in self.places {
            for user in place.users() {
                if user.opcode() == opcode::LOAD || is_variable(user) {
                    let new = match distance {
                        0 => self.constant,
                        _ => user.build_offset_before(self.constant, distance),
                    };
                    give(user, new);
                }
            }
        }
        self.call.erase();
    }
}

/// Lets a load, or all loads behind an address, have an address in the constant.
fn give<'c>(user: Value<'c>, base: Value<'c>) {
    if user.opcode() == opcode::LOAD {
        user.set_operand(0, base);
    } else if let Some(index) = user.operand(1) {
        let address = user.build_address_before(user.element_type(), base, index);
        user.users()
            .into_iter()
            .for_each(|next| give(next, address));
    }
}

/// Whether an instruction is an address by one index that is no constant.
fn is_variable(instruction: Value<'_>) -> bool {
    is_element(instruction) && constant_index(instruction).is_none()
}

fn is_element(instruction: Value<'_>) -> bool {
    instruction.opcode() == opcode::GET_ELEMENT_POINTER && instruction.operand_count() == 2
}

fn constant_index(element: Value<'_>) -> Option<u64> {
    element.operand(1).and_then(Value::as_integer)
}

/// The slot that an address is in, and how many bytes behind its first one.
fn slot_of<'c>(module: &Module<'c>, address: Value<'c>) -> Option<(Value<'c>, u64)> {
    let (base, offset) = whole(module, address);
    if !base.is_instruction() {
        return None;
    }
    match base.opcode() {
        opcode::ALLOCA => Some((base, offset)),
        opcode::ADDRESS_SPACE_CAST => {
            let (slot, more) = slot_of(module, base.operand(0)?)?;
            Some((slot, more.checked_add(offset)?))
        }
        _ => None,
    }
}

/// Whether the uses of a slot leave the copy in it as it is.
struct Uses<'m, 'c> {
    module: &'m Module<'c>,
    call: Value<'c>,
    copied: Range<u64>,
    places: Vec<(Value<'c>, u64)>,
}

impl<'c> Uses<'_, 'c> {
    /// Those of an address that is so many bytes behind the slot's first one.
    fn of_slot(&mut self, address: Value<'c>, offset: u64) -> Option<()> {
        let is_copy = self.copied.contains(&offset);
        if is_copy {
            self.places.push((address, offset - self.copied.start));
        }
        for user in address.users() {
            match user.opcode() {
                opcode::CALL if user == self.call || is_lifetime(user) => {}
                opcode::LOAD if is_plain(user) => self.keeps_apart(offset, user)?,
                opcode::STORE if !is_copy && user.operand(1) == Some(address) => {
                    self.keeps_apart(offset, user.operand(0)?)?;
                }
                opcode::ADDRESS_SPACE_CAST => self.of_slot(user, offset)?,
                _ if is_element(user) => match constant_index(user) {
                    Some(index) => {
                        let size = self.module.size_of(user.element_type());
                        let more = index.checked_mul(size)?;
                        self.of_slot(user, offset.checked_add(more)?)?;
                    }
                    None if is_copy => self.of_element(user)?,
                    None => return None,
                },
                _ => return None,
            }
        }
        Some(())
    }

    /// Whether an access of such a value is of the copy alone, or not of the copy.
    fn keeps_apart(&self, offset: u64, value: Value<'c>) -> Option<()> {
        let end = offset.checked_add(self.module.size_of(value.ty()))?;
        let is_apart = match self.copied.contains(&offset) {
            true => end <= self.copied.end,
            false => end <= self.copied.start || offset >= self.copied.end,
        };
        is_apart.then_some(())
    }

    /// Those of an address of a variable element of the copy.
    fn of_element(&self, address: Value<'c>) -> Option<()> {
        address
            .users()
            .into_iter()
            .try_for_each(|user| match user.opcode() {
                opcode::LOAD if is_plain(user) => Some(()),
                _ if is_element(user) && user.operand(0) == Some(address) => self.of_element(user),
                _ => None,
            })
    }
}

fn is_plain(load: Value<'_>) -> bool {
    !load.is_volatile() && !load.is_atomic()
}

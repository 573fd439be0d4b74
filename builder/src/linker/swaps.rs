//! Exchanged elements of arrays go through registers.
//!
//! ```text
//! memcpy slot, a, 24                  x = load a
//! memmove a, b, 24                    memmove a, b, 24
//! memcpy b, slot, 24                  store x, b
//! ```
//!
//! `a.swap(i, j)` of elements such as `[f32; 6]` is that, with a slot in local memory: LLVM makes values of slots whose accesses have a type. Here the slot is only copied to,
//! and from there. All of it is loaded where it was copied from, and stored where it was copied to, so that both places may overlap or be one, and other
//! threads see the same accesses. It comes after all passes that know values which are not initialised: bytes between fields are copied with the others.

use super::copies::{FROM, SIZE, TO, VOLATILE};
use super::stack_slots::is_lifetime;
use crate::llvm::{Block, Module, Place, Value, opcode};

/// How many bytes go through registers.
const MOST: u64 = 64;

/// By how many accesses.
const MOST_ACCESSES: u64 = 16;

/// The widest access, in bytes.
const WIDEST: u64 = 16;

/// Replaces all slots of which each use is such a copy.
pub(super) fn through_registers(module: &Module<'_>) {
    for function in module.functions() {
        let first = function.blocks().into_iter().take(1);
        let mut slots: Vec<_> = first.flat_map(Block::instructions).collect();
        // All before the first copy is erased.
        slots.retain(|slot| slot.opcode() == opcode::ALLOCA);
        for slot in slots {
            if let Some(uses) = Uses::of(slot)
                && let Some(pairs) = uses.pairs()
            {
                pairs.into_iter().for_each(Pair::replace);
                uses.erase();
            }
        }
    }
}

/// What uses a slot.
struct Uses<'c> {
    /// The slot, and casts of its address, each behind what it is a cast of.
    addresses: Vec<Value<'c>>,
    lifetimes: Vec<Value<'c>>,
    copies: Vec<Value<'c>>,
}

impl<'c> Uses<'c> {
    /// `None` if there are others.
    fn of(slot: Value<'c>) -> Option<Uses<'c>> {
        let mut uses = Uses {
            addresses: vec![slot],
            lifetimes: Vec::new(),
            copies: Vec::new(),
        };
        let mut n = 0;
        while let Some(address) = uses.addresses.get(n).copied() {
            for user in address.users() {
                if !user.is_instruction() {
                    return None;
                } else if user.opcode() == opcode::ADDRESS_SPACE_CAST {
                    uses.addresses.push(user);
                } else if is_lifetime(user) {
                    uses.lifetimes.push(user);
                } else if is_short_copy(user) && !uses.copies.contains(&user) {
                    uses.copies.push(user);
                } else {
                    return None;
                }
            }
            n += 1;
        }
        (!uses.copies.is_empty()).then_some(uses)
    }

    fn is_slot(&self, copy: Value<'c>, operand: u32) -> bool {
        let address = copy.operand(operand);
        address.is_some_and(|address| self.addresses.contains(&address))
    }

    /// Each copy from the slot with the one that filled it, in its block; `None` if there is none for one, or if they cannot go through registers.
    fn pairs(&self) -> Option<Vec<Pair<'c>>> {
        let mut pairs = Vec::new();
        let mut blocks: Vec<Block<'c>> = Vec::new();
        for copy in &self.copies {
            if !blocks.contains(&copy.block()) {
                blocks.push(copy.block());
            }
        }
        for block in blocks {
            let mut filled = None;
            let all = block.instructions().into_iter();
            for copy in all.filter(|i| self.copies.contains(i)) {
                match (self.is_slot(copy, TO), self.is_slot(copy, FROM)) {
                    (true, false) => filled = Some(copy),
                    (false, true) => pairs.push(Pair::of(filled?, copy)?),
                    _ => return None,
                }
            }
        }
        Some(pairs)
    }

    /// Takes away the slot.
    fn erase(self) {
        let users = self.copies.into_iter().chain(self.lifetimes);
        users.for_each(Value::erase);
        self.addresses.into_iter().rev().for_each(Value::erase);
    }
}

/// Whether a call copies a few bytes, to and from one place each that is not the same.
fn is_short_copy(call: Value<'_>) -> bool {
    let number = |n| call.operand(n).and_then(Value::as_integer);
    call.is_call_of(&["llvm.memcpy.p", "llvm.memmove.p"])
        && number(SIZE).is_some_and(|bytes| (1..=MOST).contains(&bytes))
        && number(VOLATILE) == Some(0)
}

/// A copy to a slot, and one of the same bytes from there.
struct Pair<'c> {
    filled: Value<'c>,
    read: Value<'c>,
    bytes: u64,
    unit: u64,
}

impl<'c> Pair<'c> {
    fn of(filled: Value<'c>, read: Value<'c>) -> Option<Pair<'c>> {
        let size = |copy: Value<'c>| copy.operand(SIZE).and_then(Value::as_integer);
        let bytes = size(filled).filter(|bytes| size(read) == Some(*bytes))?;
        let from = filled.call_parameter_alignment(FROM);
        let unit = from.min(read.call_parameter_alignment(TO)).min(WIDEST);
        let is_short = bytes.is_multiple_of(unit) && bytes / unit <= MOST_ACCESSES;
        (unit > 1 && is_short).then_some(Pair {
            filled,
            read,
            bytes,
            unit,
        })
    }

    fn replace(self) {
        let (Some(from), Some(to)) = (self.filled.operand(FROM), self.read.operand(TO)) else {
            return;
        };
        let (filled, read, unit) = (self.filled, self.read, self.unit as u32);
        let ty = Place::before(filled).access_type(self.unit);
        let parts = (0..self.bytes).step_by(self.unit as usize);
        let loaded: Vec<_> = parts
            .map(|at| {
                let from = filled.build_offset_before(from, at);
                (filled.build_load_before(ty, from, unit), at)
            })
            .collect();
        for (value, at) in loaded {
            read.build_store_before(value, read.build_offset_before(to, at), unit);
        }
    }
}

//! Makes choices between values of choices between stack slots.
//!
//! `slice.get(i).copied().unwrap_or(other)` ends as a load through a phi of two stack slots. LLVM's SROA keeps both in local memory, unless
//! the load follows the phi directly; here a store to one of the slots lies between. InstCombine makes such loads of two loads before
//! a meeting point: it means not to where slots could become registers, but takes the marks of a slot's life for uses of its address.
//!
//! A slot is the thread's own, and accessible whether it is chosen or not. So which one is chosen becomes a number; a load through it becomes
//! loads of all and a selection, and a store becomes stores to all, of the old value where another is chosen:
//!
//! ```text
//! p = phi ptr [a, one], [b, other]        w = phi [0, one], [1, other]
//! x = load p                        =>    x = w == 1 ? load b : load a
//! store y, p                              store w == 0 ? y : load a, a; store w == 1 ? y : load b, b
//! ```
//!
//! Then nothing but accesses of constant places is left of the slots, and SROA makes values of them. What is chosen by a
//! constant offset in one slot is treated alike. The marks of such slots' lives go, since an access might lie outside of them.

mod group;

use std::collections::{HashMap, HashSet};

use super::stack_slots;
use crate::llvm::{self, Module, Value, opcode, predicate};
use group::{Access, Group, Place, accessed_type, is_choice, options, uncast};

/// Rewrites all such choices; whether there were some.
pub(super) fn resolve(module: &Module<'_>) -> bool {
    let mut is_changed = false;
    for function in module.functions() {
        let Some(entry) = function.blocks().first().copied() else {
            continue;
        };
        let mut choices = function.instructions();
        choices.retain(|one| is_choice(*one));
        // What is rewritten is gone: it has been seen.
        let mut seen = HashSet::new();
        for choice in choices {
            if !seen.contains(&choice)
                && let Some(group) = Group::of(module, entry, choice, &mut seen)
            {
                rewrite(&group);
                is_changed = true;
            }
        }
    }
    is_changed
}

fn rewrite(group: &Group<'_, '_>) {
    let numbers = Numbers::of(group);
    for access in &group.accesses {
        numbers.replace(access);
    }
    for value in group.derived.iter().rev().chain(&group.choices) {
        value.replace_by(Value::undefined(value.ty(), *value));
    }
    for place in &group.places {
        for user in place.slot.users() {
            if user.is_call() && stack_slots::is_lifetime(user) {
                user.erase();
            }
        }
    }
}

/// Which place each choice is.
struct Numbers<'g, 'm, 'c> {
    group: &'g Group<'m, 'c>,
    known: HashMap<Value<'c>, Value<'c>>,
}

impl<'g, 'm, 'c> Numbers<'g, 'm, 'c> {
    fn of(group: &'g Group<'m, 'c>) -> Numbers<'g, 'm, 'c> {
        let mut numbers = Numbers {
            group,
            known: HashMap::new(),
        };
        let phis = group.choices.iter().copied();
        let phis: Vec<_> = phis.filter(|one| one.opcode() == opcode::PHI).collect();
        for &phi in &phis {
            let number = phi.build_phi_before(Value::integer(0, phi));
            numbers.known.insert(phi, number);
        }
        for &choice in &group.choices {
            numbers.number(choice);
        }
        for phi in phis {
            for (option, from) in phi.incoming() {
                let (number, option) = (numbers.known[&phi], numbers.number(option));
                number.add_incoming(option, from);
            }
        }
        numbers
    }

    /// The number of the place that a pointer is.
    fn number(&mut self, pointer: Value<'c>) -> Value<'c> {
        let pointer = uncast(pointer).unwrap_or(pointer);
        if let Some(number) = self.known.get(&pointer) {
            return *number;
        }
        // Where no thread comes, a select may depend on itself.
        self.known.insert(pointer, Value::integer(0, pointer));
        let number = if is_choice(pointer)
            && let [yes, no] = *options(pointer)
            && let Some(condition) = pointer.operand(0)
        {
            let (yes, no) = (self.number(yes), self.number(no));
            llvm::Place::before(pointer).select(condition, yes, no)
        } else {
            let places = self.group.places.iter();
            let place = self.group.place(pointer);
            let number = places.take_while(|other| Some(**other) != place).count();
            Value::integer(number as u64, pointer)
        };
        self.known.insert(pointer, number);
        number
    }

    /// Accesses all places instead of the chosen one.
    fn replace(&self, access: &Access<'c>) {
        let at = access.instruction;
        let number = self.known[&access.choice];
        let ty = accessed_type(at);
        let all = self.group.places.iter().zip(0..).map(|(place, n)| {
            let offset = (place.offset + access.offset) as u64;
            let pointer = match offset {
                0 => place.slot,
                _ => at.build_offset_before(place.slot, offset),
            };
            let alignment = at.alignment().min(alignment(place, offset));
            let is_chosen = move || {
                let n = Value::integer(n, at);
                llvm::Place::before(at).comparison(predicate::EQUAL, number, n)
            };
            let value = at.build_load_before(ty, pointer, alignment);
            (pointer, alignment, is_chosen, value)
        });
        match at.operand(0).filter(|_| at.opcode() == opcode::STORE) {
            Some(stored) => {
                for (pointer, alignment, is_chosen, old) in all {
                    let value = llvm::Place::before(at).select(is_chosen(), stored, old);
                    at.build_store_before(value, pointer, alignment);
                }
            }
            None => {
                let values = all.map(|(_, _, is_chosen, value)| (is_chosen, value));
                let value = values.reduce(|(first, before), (is_chosen, value)| {
                    let value = llvm::Place::before(at).select(is_chosen(), value, before);
                    (first, value)
                });
                if let Some((_, value)) = value {
                    at.replace_uses_with(value);
                }
            }
        }
        at.erase();
    }
}

/// The alignment of so many bytes behind the start of a slot.
fn alignment(place: &Place<'_>, offset: u64) -> u32 {
    let alignment = place.slot.alignment();
    match offset {
        0 => alignment,
        _ => alignment.min(1 << offset.trailing_zeros().min(8)),
    }
}

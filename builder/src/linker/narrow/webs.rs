//! Computations of 64 bits whose results are numbers of 32: indices, counters and their sums.
//!
//! ```text
//! %i = phi i64 [ 0, .. ], [ %next, .. ]      %i = phi i32 ..
//! %next = add i64 %i, 1                      %next = add i32 %i, 1
//! %d = sub i64 %i, %t                        %d = sub i32 %i, %t
//! ```
//!
//! A GPU adds, selects and compares 64 bits in two instructions. Ranges prove that a result is an unsigned or a signed number of 32 bits;
//! then its lower half, which the lower halves of the operands make, is extended where 64 bits are used. LLVM narrows what is truncated in
//! the end; an index never is.

use std::collections::{HashMap, HashSet};

use super::dominators::Dominators;
use super::ranges::Range;
use super::rounds::Counter;
use super::values::Values;
use super::values::fallen::followed;
use crate::llvm::{Module, Place, Value, ValueKind, opcode};

/// How the lower half gives the whole number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Extension {
    Zero,
    Sign,
}

impl Extension {
    pub(super) fn of(range: Range) -> Option<Extension> {
        if range.is_unsigned_32() {
            Some(Extension::Zero)
        } else if range.is_signed_32() {
            Some(Extension::Sign)
        } else {
            None
        }
    }
}

/// Narrows what a function computes.
pub(super) fn run<'c>(module: &Module<'c>, dominators: &Dominators<'c>) {
    let values = Values::of(dominators);
    let all = dominators.instructions().into_iter();
    let found = all.filter_map(|i| Some((i, shortened(&values, i)?)));
    narrow(module, dominators, found.collect());
}

/// Narrows the counters of loops alone, and those only that are stepped as numbers of 32 bits, and what loops make smaller; whether there are any. A
/// loop that is unrolled ends by them.
pub(super) fn run_counters<'c>(module: &Module<'c>, dominators: &Dominators<'c>) -> bool {
    let values = Values::of(dominators);
    let all = dominators.instructions().into_iter();
    let phis = all.filter(|i| i.opcode() == opcode::PHI && !is_divided(*i));
    let found = phis.filter_map(|phi| {
        let short = shortened(&values, phi)?;
        let next = Counter::of(phi, dominators)?.next();
        let next_short = shortened(&values, next).filter(|next| next.is_exact)?;
        (short.extension == Extension::Zero && next_short.extension == Extension::Zero)
            .then_some([(phi, short), (next, next_short)])
    });
    let mut found: Vec<_> = found.flatten().collect();
    // What is left of a slice, before a freeze for the tests of unrolled rounds takes away that it never grows.
    let all = dominators.instructions().into_iter();
    let phis = all.filter(|i| i.opcode() == opcode::PHI && i.integer_bits() == Some(64));
    for phi in phis.filter(|phi| !phi.is_pointer() && !is_divided(*phi)) {
        let followed = followed(phi).into_iter().flatten();
        let short: Option<Vec<_>> = followed
            .map(|value| {
                let short = shortened(&values, value)?;
                let is_number = short.is_exact && short.extension == Extension::Zero;
                is_number.then_some((value, short))
            })
            .collect();
        for (value, short) in short.into_iter().flatten() {
            if found.iter().all(|(other, _)| *other != value) {
                found.push((value, short));
            }
        }
    }
    let is_any = !found.is_empty();
    narrow(module, dominators, found);
    is_any
}

/// Whether something is divided that a value is part of. [`counters`](super::counters) finds what a loop counts in 64 bits.
fn is_divided(value: Value<'_>) -> bool {
    let mut seen = HashSet::from([value]);
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        for user in value.users() {
            if user.is_unsigned_division() {
                return true;
            }
            let is_whole =
                may_be_short(user) || matches!(user.opcode(), opcode::TRUNC | opcode::ZEXT);
            if is_whole && seen.insert(user) {
                open.push(user);
            }
        }
    }
    false
}

fn narrow<'c>(module: &Module<'c>, dominators: &Dominators<'c>, found: Vec<(Value<'c>, Short)>) {
    let mut web = Web {
        module,
        short: HashMap::new(),
    };
    let is_phi = |value: Value<'c>| value.opcode() == opcode::PHI;
    let (phis, operations): (Vec<_>, Vec<_>) = found.into_iter().partition(|(i, _)| is_phi(*i));
    for (phi, _) in &phis {
        let like = Place::before(*phi).constant(32, 0);
        web.short.insert(*phi, phi.build_phi_before(like));
    }
    for block in dominators.order() {
        for (value, short) in operations.iter().filter(|(i, _)| i.block() == *block) {
            web.narrow(*value, short);
        }
    }
    for (phi, _) in &phis {
        web.complete(*phi);
    }
    for (value, short) in phis.iter().chain(&operations) {
        web.replace(*value, short.extension);
    }
    for (value, _) in operations.iter().rev().chain(&phis) {
        if value.is_unused() {
            value.erase();
        }
    }
}

/// How an operation of 64 bits is made of 32.
struct Short {
    extension: Extension,
    /// Whether the operands are numbers of that kind, and the result of them without wrapping around.
    is_exact: bool,
}

/// Whether the operation may be one of these.
pub(super) fn may_be_short(value: Value<'_>) -> bool {
    value.integer_bits() == Some(64)
        && !value.is_pointer()
        && (value.is_plain_arithmetic()
            || value.is_choice()
            || value.is_unsigned_division()
            || minimum_of(value).is_some())
}

/// Whether it moves bits by places that 32 bits do not have.
fn is_far_shift(value: Value<'_>) -> bool {
    let places = || value.operand(1).and_then(Value::as_integer);
    matches!(value.opcode(), opcode::SHL | opcode::LSHR) && places().is_none_or(|n| n >= 32)
}

/// Whether it is made of 32 bits.
pub(super) fn is_short<'c>(values: &Values<'_, 'c>, value: Value<'c>) -> bool {
    shortened(values, value).is_some()
}

/// How it is made of 32 bits, if its result is a number of so many.
fn shortened<'c>(values: &Values<'_, 'c>, value: Value<'c>) -> Option<Short> {
    if !may_be_short(value) || is_far_shift(value) {
        return None;
    }
    let block = value.block();
    let extension = Extension::of(values.at(value, block)?)?;
    let fits = |range: Range| match extension {
        Extension::Zero => range.is_unsigned_32(),
        Extension::Sign => range.is_signed_32(),
    };
    let operand = |n| values.at(value.operand(n)?, block);
    let operation = value.opcode();
    let both =
        || Some([operand(0)?, operand(1)?]).filter(|both| both.iter().all(|range| fits(*range)));
    let is_exact = match operation {
        opcode::PHI | opcode::SELECT => true,
        // The order of signed numbers is that of their lower halves only if these are read as signed, too.
        opcode::CALL if is_signed_minimum(value) => {
            both().filter(|both| both.iter().all(|range| range.is_signed_32()))?;
            true
        }
        // Of the upper halves, too.
        opcode::LSHR | opcode::UDIV | opcode::UREM | opcode::CALL => {
            both()?;
            true
        }
        // One of such numbers that is no number where it would wrap around is none of 32 bits then, either.
        opcode::SUB if extension == Extension::Zero && value.never_wraps() => both().is_some(),
        _ => both().is_some_and(|[a, b]| a.combined(operation, b).is_some_and(fits)),
    };
    Some(Short {
        extension,
        is_exact,
    })
}

/// The name of the intrinsic for 32 bits, if it is the minimum or maximum of numbers.
fn minimum_of(value: Value<'_>) -> Option<String> {
    let callee = value.is_call().then(|| value.callee())??;
    let name = (callee.kind() == ValueKind::Function).then(|| callee.name())?;
    let is_known = ["llvm.umin.", "llvm.umax.", "llvm.smin.", "llvm.smax."]
        .iter()
        .any(|known| name.starts_with(known));
    is_known.then(|| name.replace(".i64", ".i32"))
}

fn is_signed_minimum(value: Value<'_>) -> bool {
    minimum_of(value).is_some_and(|name| name.starts_with("llvm.s"))
}

struct Web<'m, 'c> {
    module: &'m Module<'c>,
    /// What computes the lower half.
    short: HashMap<Value<'c>, Value<'c>>,
}

impl<'c> Web<'_, 'c> {
    /// The lower half of a value, computed at a place if nothing else computes it.
    fn half(&self, value: Value<'c>, place: Place<'c>) -> Value<'c> {
        if let Some(short) = self.short.get(&value) {
            return *short;
        }
        if let Some(number) = value.as_integer() {
            return place.constant(32, number & u64::from(u32::MAX));
        }
        let is_extended = value.kind() == ValueKind::Instruction
            && (value.opcode() == opcode::ZEXT || value.opcode() == opcode::SEXT);
        match is_extended.then(|| value.operand(0)).flatten() {
            Some(narrow) if narrow.integer_bits() == Some(32) => narrow,
            Some(narrow) if value.opcode() == opcode::ZEXT => place.resized(narrow, 32),
            _ => place.resized(value, 32),
        }
    }

    fn narrow(&mut self, value: Value<'c>, short: &Short) {
        let place = Place::before(value);
        let half = |n| Some(self.half(value.operand(n)?, place));
        let made = match value.opcode() {
            opcode::SELECT => (|| Some(place.select(value.operand(0)?, half(1)?, half(2)?)))(),
            opcode::CALL => (|| {
                let ty = place.constant(32, 0).ty();
                let intrinsic = self.module.declaration(&minimum_of(value)?, ty, &[ty, ty]);
                Some(value.build_call_before(intrinsic, &[half(0)?, half(1)?]))
            })(),
            operation => (|| Some(place.binary(operation, half(0)?, half(1)?)))(),
        };
        let Some(made) = made else {
            return;
        };
        let may_wrap = [opcode::ADD, opcode::SUB, opcode::MUL, opcode::SHL];
        // Constants are folded.
        if short.is_exact && made.is_instruction() && may_wrap.contains(&made.opcode()) {
            match short.extension {
                Extension::Zero => made.set_never_wraps(),
                Extension::Sign => made.set_never_wraps_signed(),
            }
        }
        self.short.insert(value, made);
    }

    /// Gives a phi of 32 bits what the phi of 64 has.
    fn complete(&self, phi: Value<'c>) {
        let short = self.short[&phi];
        for (value, from) in phi.incoming() {
            let end = from.terminator().unwrap_or(phi);
            short.add_incoming(self.half(value, Place::before(end)), from);
        }
    }

    /// Lets users of 64 bits have the extended half.
    fn replace(&self, value: Value<'c>, extension: Extension) {
        let Some(short) = self.short.get(&value) else {
            return;
        };
        let block = value.block().instructions();
        let place = match value.opcode() {
            opcode::PHI => block.into_iter().find(|i| i.opcode() != opcode::PHI),
            _ => Some(value),
        };
        let Some(place) = place.map(Place::before) else {
            return;
        };
        let is_sum = match value.opcode() {
            opcode::ADD | opcode::SUB => true,
            opcode::OR => value.is_disjoint(),
            _ => false,
        };
        let is_offset = is_sum && value.operand(1).and_then(Value::as_integer).is_some();
        let users: Vec<_> = value
            .users()
            .into_iter()
            // The constant of such an index becomes part of the access.
            .filter(|user| !(is_offset && user.opcode() == opcode::GET_ELEMENT_POINTER))
            .collect();
        if users.is_empty() {
            return;
        }
        let whole = match extension {
            Extension::Zero => place.resized(*short, 64),
            Extension::Sign => place.sign_extended(*short, 64),
        };
        for user in users {
            for n in 0..user.operand_count() {
                if user.operand(n) == Some(value) {
                    user.set_operand(n, whole);
                }
            }
        }
    }
}

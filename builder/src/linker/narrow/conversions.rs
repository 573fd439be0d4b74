//! Conversions of integers of 64 bits to floating point, of numbers that 32 bits hold.
//!
//! ```text
//! d: -3..=3                             h = trunc d
//! x = sitofp i64 (d * d + 9)            x = uitofp i32 (h * h + 9)
//! ```
//!
//! A GPU converts 64 bits in a quarter of the speed. `widths` does it for unsigned numbers, as part of what it looks at anyway; here are the signed ones. A value
//! is the same number in both widths, so the result is rounded in the same way. What is computed for such conversions alone is computed of 32 bits,
//! too: the lower half of a sum or a product depends on the lower halves alone.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::dominators::Dominators;
use super::values::Values;
use super::webs::Extension;
use crate::llvm::{Place, Value, opcode};

/// Whether an instruction converts a signed integer of 64 bits.
pub(super) fn is_wide(instruction: Value<'_>) -> bool {
    let bits = || instruction.operand(0).and_then(Value::integer_bits);
    instruction.opcode() == opcode::SI_TO_FP && bits() == Some(64)
}

/// Shortens those of a function.
pub(super) fn run(dominators: &Dominators<'_>) {
    let values = Values::of(dominators);
    let all = dominators.instructions().into_iter();
    // All before the first is replaced: what is known of values stays known while they do.
    let short = all.filter(|i| is_wide(*i)).filter_map(|conversion| {
        let range = values.at(conversion.operand(0)?, conversion.block())?;
        Some((conversion, Extension::of(range)?))
    });
    let short: Vec<_> = short.collect();
    let mut halves = Halves::of(short.iter().map(|(conversion, _)| *conversion));
    for (conversion, extension) in short {
        let Some(number) = conversion.operand(0) else {
            continue;
        };
        let half = halves.half(number, conversion);
        let place = Place::before(conversion);
        let result = match extension {
            Extension::Zero => place.float(half, conversion.ty()),
            Extension::Sign => place.signed_float(half, conversion.ty()),
        };
        conversion.replace_by(result);
    }
    halves.erase_whole();
}

/// Whether the lower half of an operation's result is that operation of the lower halves.
fn is_of_halves(operation: Value<'_>) -> bool {
    matches!(
        operation.opcode(),
        opcode::ADD | opcode::SUB | opcode::MUL | opcode::AND | opcode::OR | opcode::XOR
    )
}

/// The lower halves of values.
struct Halves<'c> {
    /// What is computed for conversions alone that become short.
    whole: Vec<Value<'c>>,
    made: HashMap<Value<'c>, Value<'c>>,
}

impl<'c> Halves<'c> {
    fn of(conversions: impl Iterator<Item = Value<'c>>) -> Halves<'c> {
        let mut short: HashSet<_> = conversions.collect();
        let mut open: Vec<_> = short.iter().filter_map(|i| i.operand(0)).collect();
        let mut whole = Vec::new();
        while let Some(value) = open.pop() {
            let is_one = value.is_instruction()
                && is_of_halves(value)
                && !short.contains(&value)
                && value.users().iter().all(|user| short.contains(user));
            if is_one {
                short.insert(value);
                whole.push(value);
                open.extend((0..2).filter_map(|n| value.operand(n)));
            }
        }
        Halves {
            whole,
            made: HashMap::default(),
        }
    }

    fn half(&mut self, value: Value<'c>, user: Value<'c>) -> Value<'c> {
        if let Some(half) = self.made.get(&value) {
            return *half;
        }
        let place = Place::before(user);
        if let Some(number) = value.as_integer() {
            return place.constant(32, u64::from(number as u32));
        }
        let (true, Some(left), Some(right)) = (
            self.whole.contains(&value),
            value.operand(0),
            value.operand(1),
        ) else {
            return place.resized(value, 32);
        };
        let (left, right) = (self.half(left, value), self.half(right, value));
        let half = Place::before(value).binary(value.opcode(), left, right);
        self.made.insert(value, half);
        half
    }

    /// Takes away what nothing uses any more; each was found behind all that used it.
    fn erase_whole(self) {
        for value in self.whole {
            if value.is_unused() {
                value.erase();
            }
        }
    }
}

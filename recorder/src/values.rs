//! Inputs of instructions, by the types of their operands.

use warpsmith_isa::operand::type_bits;
use warpsmith_testkit::Random;

use crate::floats::{self, Format};

/// What an operand's register is loaded with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// An integer, or bits, of so many.
    Integer(u32),
    /// An integer in this range.
    Range(i64, i64),
    /// A number.
    Float(Format),
    /// Two numbers, one above the other.
    Pair(Format),
    /// Numbers of 16 bits, one or two, some of them NaNs that stand for what is out of bounds: so many bits.
    Guarded(u32),
    /// A predicate, as zero or one.
    Predicate,
}

impl Domain {
    /// The domain of a type in a register of so many bits.
    pub fn of(ty: &str, register: u32) -> Domain {
        if ty == "pred" {
            return Domain::Predicate;
        }
        if let Some(format) = floats::format(ty) {
            return Domain::Float(format);
        }
        match ty.strip_suffix("x2").and_then(floats::format) {
            Some(format) if type_bits(ty) == 32 => Domain::Pair(format),
            _ => Domain::Integer(register),
        }
    }
}

/// The value of an integer operand.
fn integer(random: &mut Random, bits: u32) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let value = match random.below(6) {
        // Amounts of shifts, lengths of fields.
        0 | 1 => u64::from(random.below(71)),
        // Powers of two, and what is near them.
        2 => {
            let power = 1u64 << random.below(bits);
            let near = power
                .wrapping_add(u64::from(random.below(5)))
                .wrapping_sub(2);
            if random.below(2) == 0 {
                near
            } else {
                near.wrapping_neg()
            }
        }
        3 => {
            let ends = [
                0,
                1,
                mask,
                mask - 1,
                mask >> 1,
                (mask >> 1) + 1,
                (mask >> 1) - 1,
                (mask >> 1) + 2,
            ];
            ends[random.index(ends.len())]
        }
        4 => random.bits() >> random.below(64),
        _ => random.bits(),
    };
    value & mask
}

/// A NaN that stands for what is out of bounds, a NaN beside it, or any number of 16 bits.
fn guarded(random: &mut Random) -> u64 {
    let near = [
        0x7ff7, 0xfff7, 0x7ff6, 0x7ff8, 0xfff6, 0x7fff, 0x7ef7, 0x7f77, 0x7df7, 0xffff,
    ];
    match random.below(3) {
        0 => near[random.index(2)],
        1 => near[random.index(near.len())],
        _ => random.bits() & 0xffff,
    }
}

/// The operands of one input of an instruction. `case` counts them.
pub fn operands(random: &mut Random, case: usize, domains: &[Domain]) -> Vec<u64> {
    let formats = |wanted: Format| {
        let is_of = move |domain: &&Domain| {
            **domain == Domain::Float(wanted) || **domain == Domain::Pair(wanted)
        };
        domains.iter().filter(is_of).count()
    };
    let mut values = Vec::new();
    // Numbers of one format are drawn together, integers next to the one before.
    let mut drawn: Vec<(Format, [std::vec::IntoIter<u64>; 2])> = Vec::new();
    let mut draw = |random: &mut Random, format: Format, half: usize| -> u64 {
        let found = drawn.iter().position(|(other, _)| *other == format);
        let at = found.unwrap_or_else(|| {
            let count = formats(format);
            let low = format.operands(random, case, count).into_iter();
            // The upper halves of pairs go through the edges in another order.
            let high = format
                .operands(random, case.wrapping_mul(5) % 4096, count)
                .into_iter();
            drawn.push((format, [low, high]));
            drawn.len() - 1
        });
        drawn[at].1[half].next().expect("one for each operand")
    };
    let mut before: Option<u64> = None;
    for &domain in domains {
        let value = match domain {
            Domain::Integer(bits) => {
                let mask = u64::MAX >> (64 - bits);
                let related = random.below(8);
                let value = match (before, related) {
                    (Some(before), 0) => before,
                    (Some(before), 1) => before.wrapping_neg(),
                    (Some(before), 2) => before
                        .wrapping_add(u64::from(random.below(3)))
                        .wrapping_sub(1),
                    (Some(before), 3) => !before,
                    _ => integer(random, bits),
                } & mask;
                before = Some(value);
                value
            }
            Domain::Range(lowest, highest) => {
                (lowest + i64::from(random.below((highest - lowest + 1) as u32))) as u64
            }
            Domain::Float(format) => draw(random, format, 0),
            Domain::Pair(format) => {
                let (low, high) = (draw(random, format, 0), draw(random, format, 1));
                low | high << 16
            }
            Domain::Guarded(bits) => {
                let low = guarded(random);
                if bits == 16 {
                    low
                } else {
                    low | guarded(random) << 16
                }
            }
            Domain::Predicate => u64::from(random.below(2)),
        };
        values.push(value);
    }
    values
}

//! Ranges of integers, and what operations make of them.

use crate::llvm::{opcode, predicate};

/// The lowest and the highest number that a value can be. Values of 64 bits are read as signed numbers, so that a difference of small numbers
/// is a small range; narrower ones as unsigned numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub low: i128,
    pub high: i128,
}

impl Range {
    /// All numbers of a type.
    pub(super) fn of_type(bits: u32) -> Range {
        match bits {
            64 => Range::new(i64::MIN.into(), i64::MAX.into()),
            _ => Range::new(0, (1 << bits) - 1),
        }
    }

    /// A constant of a type.
    pub(super) fn constant(number: u64, bits: u32) -> Range {
        let number = match bits {
            64 => (number as i64).into(),
            _ => number.into(),
        };
        Range::new(number, number)
    }

    pub(super) fn new(low: i128, high: i128) -> Range {
        Range { low, high }
    }

    /// Whether all numbers are unsigned ones of 32 bits.
    pub(super) fn is_unsigned_32(self) -> bool {
        self.is_in(Range::new(0, u32::MAX.into()))
    }

    /// Whether all numbers are signed ones of 32 bits.
    pub(super) fn is_signed_32(self) -> bool {
        self.is_in(Range::new(i32::MIN.into(), i32::MAX.into()))
    }

    pub(super) fn is_in(self, other: Range) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    pub(super) fn is_non_negative(self) -> bool {
        self.low >= 0
    }

    pub(super) fn union(self, other: Range) -> Range {
        Range::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// What is in both; this one, if nothing is, as where no thread comes.
    pub(super) fn and(self, other: Range) -> Range {
        let both = Range::new(self.low.max(other.low), self.high.min(other.high));
        if both.low <= both.high { both } else { self }
    }

    /// The numbers of this range that are PREDICATE some number of `other`; all, if that says nothing. Both are of so many bits.
    pub(super) fn compared(self, predicate: i32, other: Range, bits: u32) -> Range {
        let all = Range::of_type(bits);
        let below = |high| self.and(Range::new(all.low, high));
        let above = |low| self.and(Range::new(low, all.high));
        // A number of 64 bits from 2^63 on is read as a negative one, and is greater than those that are not.
        let is_unsigned = bits < 64 || other.is_non_negative();
        let stays = self.is_non_negative();
        let half = Range::new(0, (1 << (bits - 1)) - 1);
        let is_signed = bits == 64 || (self.is_in(half) && other.is_in(half));
        match predicate {
            predicate::EQUAL => self.and(other),
            predicate::NOT_EQUAL if other.low == other.high => match other.low {
                number if number == self.low => above(number + 1),
                number if number == self.high => below(number - 1),
                _ => self,
            },
            predicate::LESS if is_unsigned => self.and(Range::new(0, other.high - 1)),
            predicate::LESS_OR_EQUAL if is_unsigned => self.and(Range::new(0, other.high)),
            // What is greater than a number is none that is read as a negative one here, and neither is that number.
            predicate::GREATER if stays => above(other.low.max(0) + 1),
            predicate::GREATER_OR_EQUAL if stays => above(other.low.max(0)),
            predicate::SIGNED_LESS if is_signed => below(other.high - 1),
            predicate::SIGNED_LESS_OR_EQUAL if is_signed => below(other.high),
            predicate::SIGNED_GREATER if is_signed => above(other.low + 1),
            predicate::SIGNED_GREATER_OR_EQUAL if is_signed => above(other.low),
            _ => self,
        }
    }

    /// `self OPERATION other` as whole numbers of any size; `None` if nothing is known of it. Divisors are not zero.
    pub(super) fn combined(self, operation: i32, other: Range) -> Option<Range> {
        let (a, b) = (self, other);
        let both = a.is_non_negative() && b.is_non_negative();
        let power = || {
            let places = u32::try_from(b.low).ok().filter(|places| *places < 64)?;
            (b.low == b.high).then_some(1_i128 << places)
        };
        Some(match operation {
            opcode::ADD => Range::new(a.low + b.low, a.high + b.high),
            opcode::SUB => Range::new(a.low - b.high, a.high - b.low),
            opcode::MUL => a.product(b)?,
            opcode::SHL => a.product(Range::new(power()?, power()?))?,
            opcode::LSHR if a.is_non_negative() => Range::new(a.low / power()?, a.high / power()?),
            // Of numbers of 64 bits: no others are read as negative ones.
            opcode::LSHR => match power()? {
                1 => return None,
                power => Range::new(0, i128::from(u64::MAX) / power),
            },
            opcode::UDIV if both => Range::new(a.low / b.high.max(1), a.high / b.low.max(1)),
            opcode::UDIV if a.is_non_negative() => Range::new(0, a.high),
            opcode::UREM if both => Range::new(0, a.high.min(b.high - 1).max(0)),
            opcode::UREM if b.is_non_negative() => Range::new(0, (b.high - 1).max(0)),
            opcode::UREM if a.is_non_negative() => Range::new(0, a.high),
            opcode::AND if a.loses_low_bits(b) => {
                let lost = 1 << b.low.trailing_zeros();
                Range::new(a.low - a.low % lost, a.high - a.high % lost)
            }
            opcode::AND if both => Range::new(0, a.high.min(b.high)),
            opcode::AND if a.is_non_negative() => Range::new(0, a.high),
            opcode::AND if b.is_non_negative() => Range::new(0, b.high),
            opcode::OR if both => Range::new(a.low.max(b.low), ones(a.high | b.high)),
            // `!a`.
            opcode::XOR if b == Range::new(-1, -1) => Range::new(-1 - a.high, -1 - a.low),
            opcode::XOR if both => Range::new(0, ones(a.high | b.high)),
            _ => return None,
        })
    }

    /// Whether an `and` with this constant clears low bits alone.
    fn loses_low_bits(self, mask: Range) -> bool {
        let lost = mask.low | (mask.low - 1);
        let keeps_all = mask.low < 0 || self.high <= lost;
        // One bit above the highest one that is kept, or none.
        let is_without_gap = (lost + 1).count_ones() <= 1;
        self.is_non_negative()
            && mask.low == mask.high
            && mask.low != 0
            && keeps_all
            && is_without_gap
    }

    fn product(self, other: Range) -> Option<Range> {
        let ends = [self.low, self.high].map(|a| {
            let [low, high] = [other.low, other.high].map(|b| a.checked_mul(b));
            Some((low?, high?))
        });
        let [(a, b), (c, d)] = [ends[0]?, ends[1]?];
        Some(Range::new(a.min(b).min(c).min(d), a.max(b).max(c).max(d)))
    }
}

/// The highest number of as many bits.
fn ones(number: i128) -> i128 {
    match number {
        0 => 0,
        _ => (1 << (128 - number.leading_zeros())) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: Range = Range { low: 0, high: 99 };

    #[test]
    fn differences_are_small_numbers_of_either_sign() {
        let difference = INDEX.combined(opcode::SUB, INDEX).unwrap();
        assert_eq!(difference, Range::new(-99, 99));
        assert!(difference.is_signed_32() && !difference.is_unsigned_32());
    }

    #[test]
    fn an_unsigned_comparison_with_what_may_be_huge_says_nothing() {
        let all = Range::of_type(64);
        assert_eq!(all.compared(predicate::LESS, INDEX, 64), Range::new(0, 98));
        assert_eq!(all.compared(predicate::LESS, Range::new(-1, 5), 64), all);
        // What is above 99 may be 2^63.
        assert_eq!(all.compared(predicate::GREATER, INDEX, 64), all);
        let positive = Range::new(0, i64::MAX.into());
        assert_eq!(positive.compared(predicate::GREATER, all, 64).low, 1);
        assert_eq!(
            positive
                .compared(predicate::GREATER, Range::new(7, 9), 64)
                .low,
            8
        );
    }

    #[test]
    fn signed_comparisons_of_narrow_numbers_need_their_sign() {
        let all = Range::of_type(32);
        let low = Range::new(0, 10);
        assert_eq!(all.compared(predicate::SIGNED_LESS, low, 32), all);
        let half = Range::new(0, i32::MAX.into());
        assert_eq!(
            half.compared(predicate::SIGNED_LESS, low, 32),
            Range::new(0, 9)
        );
    }

    #[test]
    fn operations_keep_to_the_ends() {
        let combined = |operation, other| INDEX.combined(operation, other).unwrap();
        let number = |n| Range::new(n, n);
        assert_eq!(combined(opcode::SHL, number(3)), Range::new(0, 99 * 8));
        assert_eq!(combined(opcode::LSHR, number(3)), Range::new(0, 12));
        assert_eq!(combined(opcode::UDIV, Range::new(0, 4)), Range::new(0, 99));
        assert_eq!(combined(opcode::UREM, Range::new(0, 4)), Range::new(0, 3));
        assert_eq!(
            combined(opcode::OR, Range::new(128, 128)),
            Range::new(128, 255)
        );
        assert_eq!(combined(opcode::AND, Range::of_type(64)), Range::new(0, 99));
        let from_ten = Range::new(10, 99);
        let rounded = |mask| from_ten.combined(opcode::AND, number(mask)).unwrap();
        assert_eq!(rounded(-4), Range::new(8, 96));
        assert_eq!(rounded(0x7c), Range::new(8, 96));
        assert_eq!(rounded(0x3c), Range::new(0, 0x3c));
        assert_eq!(rounded(0x6c), Range::new(0, 99));
        assert_eq!(rounded(0), Range::new(0, 0));
        assert_eq!(
            combined(opcode::MUL, Range::new(-2, 3)),
            Range::new(-198, 297)
        );
        assert_eq!(Range::of_type(64).combined(opcode::UDIV, INDEX), None);
        assert_eq!(INDEX.combined(opcode::SHL, Range::new(0, 1)), None);
    }
}

//! The scalar video instructions (`vadd`, `vshl`, `vmad`, ...): a part of each operand, computed in wide arithmetic.
//!
//! The parts are widened as their types say. The result is clamped (`.sat`) or truncated to 32 bits; a second operation may
//! join it with the third operand, or it becomes a part of this operand.

use super::compare::Comparison;

/// The part of a register that an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    Word,
    /// `.b0` to `.b3`
    Byte(u8),
    /// `.h0`, `.h1`
    Half(u8),
}

impl Part {
    /// The part by its name without the dot.
    pub fn parse(name: &str) -> Option<Part> {
        Some(match name {
            "b0" => Part::Byte(0),
            "b1" => Part::Byte(1),
            "b2" => Part::Byte(2),
            "b3" => Part::Byte(3),
            "h0" => Part::Half(0),
            "h1" => Part::Half(1),
            _ => return None,
        })
    }

    /// How many bits it has, and the number of the lowest.
    fn place(self) -> (u32, u32) {
        match self {
            Part::Word => (32, 0),
            Part::Byte(index) => (8, 8 * u32::from(index)),
            Part::Half(index) => (16, 16 * u32::from(index)),
        }
    }

    /// The part of a register's value, extended as the type says.
    fn of(self, value: u32, signed: bool) -> i64 {
        let (bits, at) = self.place();
        let low = u64::from(value >> at) << (64 - bits);
        if signed {
            low as i64 >> (64 - bits)
        } else {
            (low >> (64 - bits)) as i64
        }
    }

    /// A register's value with another part.
    fn replaced(self, value: u32, part: u32) -> u32 {
        let (bits, at) = self.place();
        let mask = u32::MAX >> (32 - bits) << at;
        value & !mask | part << at & mask
    }
}

/// An operand: the part of its register, and whether that is signed (`.atype`, `.btype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The part.
    pub part: Part,
    /// Whether its sign is extended.
    pub signed: bool,
}

impl Source {
    fn of(self, value: u32) -> i64 {
        self.part.of(value, self.signed)
    }
}

/// How `vshl` and `vshr` take a count beyond 31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// `.clamp`: as 32.
    Clamp,
    /// `.wrap`: its low five bits.
    Wrap,
}

impl Count {
    fn of(self, count: i64) -> u32 {
        match self {
            Count::Clamp => count.clamp(0, 32) as u32,
            Count::Wrap => count as u32 & 31,
        }
    }
}

/// What is computed of the two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `vadd`
    Add,
    /// `vsub`
    Sub,
    /// `vabsdiff`
    AbsoluteDifference,
    /// `vmin`
    Min,
    /// `vmax`
    Max,
    /// `vshl`
    ShiftLeft(Count),
    /// `vshr`
    ShiftRight(Count),
    /// `vset`: one where the comparison holds.
    Set(Comparison),
}

/// What is done with the third operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Third {
    /// It is not looked at.
    Unused,
    /// `.add`
    Add,
    /// `.min`
    Min,
    /// `.max`
    Max,
    /// `d.b0`: this part of it becomes the result, which is clamped to as many bits.
    Merge(Part),
}

/// Clamps to a type of so many bits.
fn clamp(value: i128, bits: u32, signed: bool) -> u32 {
    if signed {
        value.clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1) as u32
    } else {
        value.clamp(0, (1 << bits) - 1) as u32
    }
}

/// All scalar video instructions but `vmad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarVideo {
    /// What is computed of `a` and `b`.
    pub operation: Operation,
    /// Whether the result is signed (`.dtype`).
    pub signed: bool,
    /// `a` and `b`.
    pub sources: [Source; 2],
    /// `.sat`
    pub sat: bool,
    /// What is done with `c`.
    pub third: Third,
}

impl ScalarVideo {
    /// Executes it.
    pub fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let (x, y) = (self.sources[0].of(a), self.sources[1].of(b));
        let value = match self.operation {
            Operation::Add => i128::from(x + y),
            Operation::Sub => i128::from(x - y),
            Operation::AbsoluteDifference => i128::from((x - y).abs()),
            Operation::Min => x.min(y).into(),
            Operation::Max => x.max(y).into(),
            Operation::ShiftLeft(count) => i128::from(x) << count.of(y),
            Operation::ShiftRight(count) => i128::from(x) >> count.of(y),
            Operation::Set(comparison) => comparison.integers(x, y).into(),
        };
        let (bits, _) = match self.third {
            Third::Merge(part) => part.place(),
            _ => Part::Word.place(),
        };
        let value = if self.sat {
            clamp(value, bits, self.signed)
        } else {
            value as u32
        };
        let smaller = if self.signed {
            (value as i32) < c as i32
        } else {
            value < c
        };
        match self.third {
            Third::Unused => value,
            Third::Add => value.wrapping_add(c),
            Third::Min if smaller => value,
            Third::Max if !smaller => value,
            Third::Min | Third::Max => c,
            Third::Merge(part) => part.replaced(c, value),
        }
    }
}

/// What `vmad` changes of its sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Nothing.
    None,
    /// `.po`: it is one more.
    PlusOne,
    /// `-a` or `-b`: the product is subtracted.
    NegateProduct,
    /// `-c`: the addend is subtracted.
    NegateAddend,
}

/// `vmad`: `a * b + c`, shifted right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarProduct {
    /// `a` and `b`. The sum is signed where one of them is, or where something is negated.
    pub sources: [Source; 2],
    /// What changes the sum.
    pub change: Change,
    /// `.sat`
    pub sat: bool,
    /// `.shr7`, `.shr15`: the bits that are shifted out.
    pub shift: u32,
}

impl ScalarProduct {
    /// Executes it.
    pub fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let negates = matches!(self.change, Change::NegateProduct | Change::NegateAddend);
        let signed = negates || self.sources.iter().any(|source| source.signed);
        let product = i128::from(self.sources[0].of(a)) * i128::from(self.sources[1].of(b));
        let c = if signed {
            i128::from(c as i32)
        } else {
            c.into()
        };
        let sum = match self.change {
            Change::None => product + c,
            Change::PlusOne => product + c + 1,
            Change::NegateProduct => c - product,
            Change::NegateAddend => product - c,
        };
        let value = sum >> self.shift;
        if self.sat {
            clamp(value, 32, signed)
        } else {
            value as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: Source = Source {
        part: Part::Word,
        signed: false,
    };

    fn video(operation: Operation, signed: bool) -> ScalarVideo {
        let source = Source { signed, ..WORD };
        ScalarVideo {
            operation,
            signed,
            sources: [source; 2],
            sat: false,
            third: Third::Unused,
        }
    }

    #[test]
    fn parts_are_extended_as_their_types_say() {
        let of = |name, signed| Part::parse(name).expect("a part").of(0x80f0_7f01, signed);
        assert_eq!((of("b0", true), of("b3", true)), (1, -128));
        assert_eq!((of("b3", false), of("b2", true)), (128, -16));
        assert_eq!((of("h1", true), of("h1", false)), (-32528, 0x80f0));
        assert_eq!(Part::Word.of(u32::MAX, true), -1);
        assert_eq!(Part::Word.of(u32::MAX, false), 0xffff_ffff);
        assert_eq!((Part::parse("b4"), Part::parse("h10")), (None, None));
    }

    #[test]
    fn results_are_clamped_or_truncated() {
        let sat = |video: ScalarVideo| ScalarVideo { sat: true, ..video };
        let add = video(Operation::Add, true);
        assert_eq!(add.apply(0x7fff_ffff, 1, 0), 0x8000_0000);
        assert_eq!(sat(add).apply(0x7fff_ffff, 1, 0), 0x7fff_ffff);
        let sub = video(Operation::Sub, false);
        assert_eq!(sub.apply(1, 2, 0), u32::MAX);
        assert_eq!(sat(sub).apply(1, 2, 0), 0);
        let difference = video(Operation::AbsoluteDifference, true);
        assert_eq!(difference.apply(0x8000_0000, 0x7fff_ffff, 0), u32::MAX);
        assert_eq!(
            sat(difference).apply(0x8000_0000, 0x7fff_ffff, 0),
            0x7fff_ffff
        );
    }

    #[test]
    fn counts_of_shifts_are_clamped_or_wrapped() {
        let left = |count| video(Operation::ShiftLeft(count), false).apply(3, 33, 0);
        assert_eq!((left(Count::Clamp), left(Count::Wrap)), (0, 6));
        let right = |count| ScalarVideo {
            sources: [
                Source {
                    signed: true,
                    ..WORD
                },
                WORD,
            ],
            ..video(Operation::ShiftRight(count), true)
        };
        assert_eq!(right(Count::Clamp).apply(0x8000_0000, 40, 0), u32::MAX);
        assert_eq!(right(Count::Wrap).apply(0x8000_0000, 40, 0), 0xff80_0000);
    }

    #[test]
    fn the_second_operation_has_the_type_of_the_result() {
        let with = |third, signed| ScalarVideo {
            third,
            ..video(Operation::Add, signed)
        };
        assert_eq!(with(Third::Add, false).apply(1, 2, 3), 6);
        assert_eq!(with(Third::Min, false).apply(1, 2, u32::MAX), 3);
        assert_eq!(with(Third::Min, true).apply(1, 2, u32::MAX), u32::MAX);
        assert_eq!(with(Third::Max, true).apply(1, 2, u32::MAX), 3);
        let set = video(Operation::Set(Comparison::Lt), false);
        assert_eq!((set.apply(1, 2, 9), set.apply(2, 1, 9)), (1, 0));
    }

    #[test]
    fn a_merged_result_is_clamped_to_its_part() {
        let merged = |name, signed, sat| ScalarVideo {
            sat,
            third: Third::Merge(Part::parse(name).expect("a part")),
            ..video(Operation::Add, signed)
        };
        let c = 0x1122_3344;
        assert_eq!(merged("b0", false, false).apply(0x180, 1, c), 0x1122_3381);
        assert_eq!(merged("b2", false, true).apply(0x180, 1, c), 0x11ff_3344);
        assert_eq!(merged("b3", true, true).apply(0x180, 1, c), 0x7f22_3344);
        assert_eq!(
            merged("b1", true, true).apply(u32::MAX - 300, 0, c),
            0x1122_8044
        );
        assert_eq!(
            merged("h1", false, false).apply(0x1_2345, 0, c),
            0x2345_3344
        );
        assert_eq!(merged("h0", true, true).apply(0x1_2345, 0, c), 0x1122_7fff);
    }

    #[test]
    fn products_are_shifted_before_they_are_clamped() {
        let product = ScalarProduct {
            sources: [WORD; 2],
            change: Change::None,
            sat: false,
            shift: 7,
        };
        assert_eq!(product.apply(1 << 20, 1 << 18, 128), (1 << 31) + 1);
        assert_eq!(product.apply(1 << 20, 1 << 20, 0), 0);
        let sat = ScalarProduct {
            sat: true,
            ..product
        };
        assert_eq!(sat.apply(1 << 20, 1 << 20, 0), u32::MAX);
        let plus_one = ScalarProduct {
            change: Change::PlusOne,
            ..product
        };
        assert_eq!(
            (product.apply(127, 1, 0), plus_one.apply(127, 1, 0)),
            (0, 1)
        );
        let signed = ScalarProduct {
            sources: [
                Source {
                    signed: true,
                    ..WORD
                },
                WORD,
            ],
            ..product
        };
        assert_eq!(signed.apply(u32::MAX, 1, 0), u32::MAX);
    }

    #[test]
    fn what_is_negated_is_signed() {
        let with = |change, sat| ScalarProduct {
            sources: [WORD; 2],
            change,
            sat,
            shift: 0,
        };
        let (product, addend) = (Change::NegateProduct, Change::NegateAddend);
        assert_eq!(with(product, false).apply(3, 5, 1), -14i32 as u32);
        assert_eq!(with(addend, false).apply(3, 5, 1), 14);
        assert_eq!(with(product, true).apply(1 << 20, 1 << 20, 0), 1 << 31);
        assert_eq!(with(addend, true).apply(0, 0, 1 << 31), (1 << 31) - 1);
        // -1, not 2^32 - 1.
        assert_eq!(with(addend, true).apply(1, 1, u32::MAX), 2);
    }
}

//! Exact arithmetic on binary floating point of any format, with one rounding at the end.
//!
//! A [`Number`] is an exact value: a sign, a 128-bit significand and an exponent, with a sticky flag for what lies below the
//! last bit. [`Format`] says how a number is stored; [`Format::decode`] is exact and [`Format::encode`] rounds. All
//! directed roundings, and every format for which the host has no arithmetic, go through here; the host's own operations
//! are used elsewhere only where they provably give the same bits.

use super::Rounding;

/// A value before rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Not a number; formats have one canonical encoding for it.
    Nan,
    /// An infinity.
    Infinity {
        /// Whether it is minus infinity.
        negative: bool,
    },
    /// `significand * 2^exponent`, plus something less than one unit of that exponent if `sticky`.
    Finite {
        /// The sign, also of zero.
        negative: bool,
        /// The exponent of the significand's last bit.
        exponent: i32,
        /// The significand; zero for zero.
        significand: u128,
        /// Whether the exact value lies strictly between this and the next significand.
        sticky: bool,
    },
}

/// How a value is stored: sign, exponent, fraction, from the top bit down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Number of exponent bits.
    pub exponent_bits: u32,
    /// Number of fraction bits.
    pub fraction_bits: u32,
    /// Unused bits below the fraction (tf32 lives in the upper 19 bits of a 32-bit word).
    pub padding: u32,
    /// Whether the top exponent means infinity and NaN, as in IEEE 754. If not (e4m3), only all ones is NaN.
    pub ieee: bool,
}

/// IEEE binary16.
pub const F16: Format = Format::ieee(5, 10);
/// bfloat16: the upper half of an f32.
pub const BF16: Format = Format::ieee(8, 7);
/// IEEE binary32.
pub const F32: Format = Format::ieee(8, 23);
/// IEEE binary64.
pub const F64: Format = Format::ieee(11, 52);
/// tf32: the range of f32 with ten fraction bits, in a 32-bit word whose last 13 bits are zero.
pub const TF32: Format = Format {
    exponent_bits: 8,
    fraction_bits: 10,
    padding: 13,
    ieee: true,
};
/// The 8-bit format with five exponent bits.
pub const E5M2: Format = Format::ieee(5, 2);
/// The 8-bit format with four exponent bits: no infinity, one NaN, largest value 448.
pub const E4M3: Format = Format {
    exponent_bits: 4,
    fraction_bits: 3,
    padding: 0,
    ieee: false,
};

impl Format {
    const fn ieee(exponent_bits: u32, fraction_bits: u32) -> Format {
        Format {
            exponent_bits,
            fraction_bits,
            padding: 0,
            ieee: true,
        }
    }

    /// What the exponent of one is written as.
    pub(crate) const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    const fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.fraction_bits + self.padding)
    }

    /// The canonical NaN: in formats narrower than f64 all ones but for the sign.
    pub const fn nan(self) -> u64 {
        if self.fraction_bits == 52 {
            0xfff8_0000_0000_0000
        } else {
            (self.sign_bit() - 1) >> self.padding << self.padding
        }
    }

    /// Infinity of the given sign, or in a format without one, its NaN.
    pub const fn infinity(self, negative: bool) -> u64 {
        let magnitude = if self.ieee {
            ((1u64 << self.exponent_bits) - 1) << (self.fraction_bits + self.padding)
        } else {
            self.nan()
        };
        magnitude | if negative { self.sign_bit() } else { 0 }
    }

    /// The finite value of the largest magnitude.
    pub const fn largest(self, negative: bool) -> u64 {
        let magnitude = (self.infinity(false) >> self.padding).wrapping_sub(1) << self.padding;
        magnitude | if negative { self.sign_bit() } else { 0 }
    }

    /// The exact value of an encoding. Padding bits are ignored.
    pub fn decode(self, bits: u64) -> Number {
        let negative = bits & self.sign_bit() != 0;
        let magnitude = (bits & (self.sign_bit() - 1)) >> self.padding;
        let fraction = magnitude & ((1 << self.fraction_bits) - 1);
        let exponent = (magnitude >> self.fraction_bits) as i32;
        let top = (1 << self.exponent_bits) - 1;
        if self.ieee && exponent == top {
            return if fraction == 0 {
                Number::Infinity { negative }
            } else {
                Number::Nan
            };
        }
        if !self.ieee && magnitude << self.padding == self.nan() {
            return Number::Nan;
        }
        let lowest = 1 - self.bias() - self.fraction_bits as i32;
        let (significand, exponent) = if exponent == 0 {
            (fraction, lowest)
        } else {
            (fraction | 1 << self.fraction_bits, lowest + exponent - 1)
        };
        Number::Finite {
            negative,
            exponent,
            significand: significand.into(),
            sticky: false,
        }
    }

    /// Rounds a value into this format. With `saturate`, what would become infinite becomes the largest finite value
    /// (`.satfinite`; NaN stays NaN).
    pub fn encode(self, number: Number, rounding: Rounding, saturate: bool) -> u64 {
        let (negative, exponent, significand, sticky) = match number {
            Number::Nan => return self.nan(),
            Number::Infinity { negative } if saturate => return self.largest(negative),
            Number::Infinity { negative } => return self.infinity(negative),
            Number::Finite {
                negative,
                exponent,
                significand,
                sticky,
            } => (negative, exponent, significand, sticky),
        };
        let sign = if negative { self.sign_bit() } else { 0 };
        if significand == 0 && !sticky {
            return sign;
        }
        let lowest = 1 - self.bias() - self.fraction_bits as i32;
        let top_bit = 127 - significand.leading_zeros() as i32;
        let last = (exponent + top_bit - self.fraction_bits as i32).max(lowest);
        let cut = last - exponent;
        let (mut kept, half, rest) = match cut {
            ..=0 => {
                debug_assert!(
                    !sticky,
                    "an inexact value needs more bits than the format keeps"
                );
                (significand << -cut, false, false)
            }
            1..=127 => {
                let half = significand >> (cut - 1) & 1 != 0;
                let rest = significand & ((1 << (cut - 1)) - 1) != 0 || sticky;
                (significand >> cut, half, rest)
            }
            128 => (0, significand >> 127 != 0, significand << 1 != 0 || sticky),
            _ => (0, false, true),
        };
        if rounding.away(negative, kept & 1 != 0, half, rest) {
            kept += 1;
        }
        // The hidden bit and a carry out of the fraction both add into the exponent field.
        let biased = (last - lowest) as u64;
        let magnitude = kept as u64 + (biased << self.fraction_bits);
        let limit = self.infinity(false) >> self.padding;
        if magnitude < limit {
            return sign | magnitude << self.padding;
        }
        let to_largest = saturate
            || match rounding {
                Rounding::NearestEven | Rounding::NearestAway => false,
                Rounding::Zero => true,
                Rounding::Down => !negative,
                Rounding::Up => negative,
            };
        if to_largest {
            self.largest(negative)
        } else {
            self.infinity(negative)
        }
    }
}

/// A finite value with its significand moved so that its top bit is bit 125: room for a carry, and as many bits
/// below as there are.
fn normalise(exponent: i32, significand: u128) -> (i32, u128) {
    let shift = significand.leading_zeros() as i32 - 2;
    if shift >= 0 {
        (exponent - shift, significand << shift)
    } else {
        (exponent, significand)
    }
}

impl Number {
    /// The value with the opposite sign.
    pub fn negated(self) -> Number {
        match self {
            Number::Nan => Number::Nan,
            Number::Infinity { negative } => Number::Infinity {
                negative: !negative,
            },
            Number::Finite {
                negative,
                exponent,
                significand,
                sticky,
            } => Number::Finite {
                negative: !negative,
                exponent,
                significand,
                sticky,
            },
        }
    }

    /// An integer, exactly.
    pub fn integer(value: i128) -> Number {
        Number::Finite {
            negative: value < 0,
            exponent: 0,
            significand: value.unsigned_abs(),
            sticky: false,
        }
    }

    fn zero(negative: bool) -> Number {
        Number::Finite {
            negative,
            exponent: 0,
            significand: 0,
            sticky: false,
        }
    }

    /// The exact product of two values of at most 64 significant bits each.
    pub fn multiply(self, other: Number) -> Number {
        use Number::*;
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinity { negative: n }, Infinity { negative: m }) => Infinity { negative: n != m },
            (
                Infinity { negative: n },
                Finite {
                    negative: m,
                    significand,
                    ..
                },
            )
            | (
                Finite {
                    negative: m,
                    significand,
                    ..
                },
                Infinity { negative: n },
            ) => {
                if significand == 0 {
                    Nan
                } else {
                    Infinity { negative: n != m }
                }
            }
            (
                Finite {
                    negative: n,
                    exponent: e,
                    significand: a,
                    ..
                },
                Finite {
                    negative: m,
                    exponent: f,
                    significand: b,
                    ..
                },
            ) => Finite {
                negative: n != m,
                exponent: e + f,
                significand: a * b,
                sticky: false,
            },
        }
    }

    /// The sum. Exact but for the sticky flag, which is right as long as each operand has at most 106 significant bits.
    /// A zero sum of opposite signs is positive, or negative when rounding down.
    pub fn add(self, other: Number, rounding: Rounding) -> Number {
        use Number::*;
        let (n, e, a, m, f, b) = match (self, other) {
            (Nan, _) | (_, Nan) => return Nan,
            (Infinity { negative: n }, Infinity { negative: m }) => {
                return if n == m { self } else { Nan };
            }
            (Infinity { .. }, _) => return self,
            (_, Infinity { .. }) => return other,
            (
                Finite {
                    negative: n,
                    exponent: e,
                    significand: a,
                    ..
                },
                Finite {
                    negative: m,
                    exponent: f,
                    significand: b,
                    ..
                },
            ) => (n, e, a, m, f, b),
        };
        if a == 0 && b == 0 {
            return Number::zero(if n == m {
                n
            } else {
                rounding == Rounding::Down
            });
        }
        if a == 0 {
            return other;
        }
        if b == 0 {
            return self;
        }
        let (mut e, mut a) = normalise(e, a);
        let (mut f, mut b) = normalise(f, b);
        let (mut n, mut m) = (n, m);
        if (e, a) < (f, b) {
            (e, a, n, f, b, m) = (f, b, m, e, a, n);
        }
        let distance = e - f;
        let (b, sticky) = match distance {
            0 => (b, false),
            1..=127 => (b >> distance, b << (128 - distance) != 0),
            _ => (0, true),
        };
        let significand = if n == m {
            a + b
        } else {
            a - b - u128::from(sticky)
        };
        if significand == 0 && !sticky {
            return Number::zero(rounding == Rounding::Down);
        }
        Finite {
            negative: n,
            exponent: e,
            significand,
            sticky,
        }
    }

    /// The quotient of two values of at most 53 significant bits each.
    pub fn divide(self, other: Number) -> Number {
        use Number::*;
        match (self, other) {
            (Nan, _) | (_, Nan) | (Infinity { .. }, Infinity { .. }) => Nan,
            (Infinity { negative: n }, Finite { negative: m, .. }) => Infinity { negative: n != m },
            (Finite { negative: n, .. }, Infinity { negative: m }) => Number::zero(n != m),
            (
                Finite {
                    negative: n,
                    exponent: e,
                    significand: a,
                    ..
                },
                Finite {
                    negative: m,
                    exponent: f,
                    significand: b,
                    ..
                },
            ) => match (a, b) {
                (0, 0) => Nan,
                (0, _) => Number::zero(n != m),
                (_, 0) => Infinity { negative: n != m },
                _ => {
                    let (e, a) = normalise(e, a);
                    Finite {
                        negative: n != m,
                        exponent: e - f,
                        significand: a / b,
                        sticky: a % b != 0,
                    }
                }
            },
        }
    }

    /// The square root of a value of at most 53 significant bits.
    pub fn square_root(self) -> Number {
        match self {
            Number::Finite { significand: 0, .. } | Number::Infinity { negative: false } => self,
            Number::Finite {
                negative: false,
                exponent,
                significand,
                ..
            } => {
                let (mut exponent, mut significand) = normalise(exponent, significand);
                if exponent % 2 != 0 {
                    (exponent, significand) = (exponent - 1, significand << 1);
                }
                let root = significand.isqrt();
                Number::Finite {
                    negative: false,
                    exponent: exponent / 2,
                    significand: root,
                    sticky: root * root != significand,
                }
            }
            _ => Number::Nan,
        }
    }

    /// The value rounded to an integer, as an integer; `None` for NaN. Infinities and what does not fit saturate
    /// at the ends of `i128`.
    pub fn to_integer(self, rounding: Rounding) -> Option<i128> {
        match self {
            Number::Nan => None,
            Number::Infinity { negative } => Some(if negative { i128::MIN } else { i128::MAX }),
            Number::Finite {
                negative,
                exponent,
                significand,
                sticky,
            } => {
                if significand == 0 && !sticky {
                    return Some(0);
                }
                let magnitude = if exponent >= 0 {
                    if significand.leading_zeros() as i32 - 1 <= exponent {
                        return Some(if negative { i128::MIN } else { i128::MAX });
                    }
                    significand << exponent
                } else {
                    let cut = exponent.unsigned_abs();
                    let (mut kept, half, rest) = if cut < 128 {
                        let below = significand & ((1 << (cut - 1)) - 1);
                        (
                            significand >> cut,
                            significand >> (cut - 1) & 1 != 0,
                            below != 0 || sticky,
                        )
                    } else {
                        (0, cut == 128 && significand >> 127 != 0, true)
                    };
                    if rounding.away(negative, kept & 1 != 0, half, rest) {
                        kept += 1;
                    }
                    kept
                };
                let magnitude = magnitude as i128;
                Some(if negative { -magnitude } else { magnitude })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODES: [Rounding; 4] = [
        Rounding::NearestEven,
        Rounding::Zero,
        Rounding::Down,
        Rounding::Up,
    ];

    fn f64s() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            (-60i32..60, any::<u64>())
                .prop_map(|(e, m)| f64::from_bits((((1023 + e) as u64) << 52) | m >> 12)),
            prop_oneof![
                Just(0.0),
                Just(-0.0),
                Just(f64::INFINITY),
                Just(f64::MAX),
                Just(f64::from_bits(1)),
                Just(1.0)
            ],
        ]
    }

    fn same(expected: f64, bits: u64) -> bool {
        if expected.is_nan() {
            f64::from_bits(bits).is_nan()
        } else {
            expected.to_bits() == bits
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(warpsmith_testkit::cases(6_000)) })]

        /// Rounded to nearest, the soft operations are the host's.
        #[test]
        fn nearest_is_the_hosts(a in f64s(), b in f64s(), c in f64s()) {
            let rn = Rounding::NearestEven;
            let [x, y, z] = [a, b, c].map(|v| F64.decode(v.to_bits()));
            prop_assert!(same(a + b, F64.encode(x.add(y, rn), rn, false)));
            prop_assert!(same(a * b, F64.encode(x.multiply(y), rn, false)));
            prop_assert!(same(a / b, F64.encode(x.divide(y), rn, false)));
            prop_assert!(same(a.sqrt(), F64.encode(x.square_root(), rn, false)));
            prop_assert!(same(a.mul_add(b, c), F64.encode(x.multiply(y).add(z, rn), rn, false)));
        }

        /// The four modes bracket the exact value: down and up are neighbours (or equal when the result is exact), and
        /// nearest and towards zero are the right one of the two. The exact side is told by the residual, which
        /// is computed in whole numbers.
        #[test]
        fn directed_modes_bracket(a in -1_000_000_000_000i64..1_000_000_000_000, b in 1i64..1_000_000_000, op in 0..3) {
            let [x, y] = [a, b].map(|v| F32.decode((v as f32).to_bits().into()));
            let (a, b) = (a as f32 as i128, b as f32 as i128);
            let exact = match op { 0 => x.add(y, Rounding::Zero), 1 => x.multiply(y), _ => x.divide(y) };
            // Compares a candidate with the exact result; both are scaled by 2^200 / b or so, in whole numbers.
            let above = |v: f32| -> std::cmp::Ordering {
                let Number::Finite { negative, exponent, significand, .. } = F32.decode(v.to_bits().into()) else { panic!() };
                let exponent = if significand == 0 { 0 } else { exponent };
                let v = if negative { -(significand as i128) } else { significand as i128 };
                let scale = |n: i128, e: i32| if e >= 0 { n << e } else { n };
                let (wanted, factor) = match op { 0 => (a + b, 1), 1 => (a * b, 1), _ => (a, b) };
                scale(v * factor, exponent).cmp(&scale(wanted, -exponent))
            };
            let [near, zero, down, up] = MODES.map(|m| f32::from_bits(F32.encode(exact, m, false) as u32));
            prop_assert!(above(down).is_le() && above(up).is_ge());
            prop_assert!(down == up || down.next_up() == up);
            if above(down).is_eq() { prop_assert!(down == up); }
            prop_assert!(near == down || near == up);
            prop_assert_eq!(zero, if a < 0 && op != 0 || op == 0 && a + b < 0 { up } else { down });
        }
    }

    #[test]
    fn small_formats_round_trip() {
        for format in [F16, BF16, E5M2, E4M3] {
            let width = 1 + format.exponent_bits + format.fraction_bits;
            for bits in (0..1u64 << width).step_by(warpsmith_testkit::stride(1 << width)) {
                let number = format.decode(bits);
                if number == Number::Nan {
                    assert_eq!(
                        format.encode(number, Rounding::NearestEven, false),
                        format.nan()
                    );
                    continue;
                }
                for mode in MODES {
                    assert_eq!(format.encode(number, mode, false), bits);
                }
            }
        }
    }

    #[test]
    fn extremes_of_the_small_formats() {
        let big = Number::integer(1 << 60);
        assert_eq!(F16.encode(big, Rounding::NearestEven, false), 0x7c00);
        assert_eq!(F16.encode(big, Rounding::Zero, false), 0x7bff);
        assert_eq!(F16.encode(big.negated(), Rounding::Up, false), 0xfbff);
        assert_eq!(E4M3.encode(big, Rounding::NearestEven, true), 0x7e);
        assert_eq!(
            E4M3.encode(Number::integer(448), Rounding::NearestEven, true),
            0x7e
        );
        assert_eq!(
            E4M3.encode(Number::integer(464), Rounding::NearestEven, false),
            0x7e
        ); // a tie, to even
        assert_eq!(
            E4M3.encode(Number::integer(465), Rounding::NearestEven, false),
            0x7f
        );
        assert_eq!(E5M2.encode(big, Rounding::NearestEven, true), 0x7b);
        assert_eq!(
            TF32.encode(F32.decode(0x3f80_1000), Rounding::NearestAway, false),
            0x3f80_2000
        );
        assert_eq!(
            TF32.encode(F32.decode(0x3f80_1000), Rounding::NearestEven, false),
            0x3f80_0000
        );
    }
}

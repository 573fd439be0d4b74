//! `setp`, `set`, `slct`, `testp`, `min`, `max`: comparisons, with PTX's rules for NaN and signed zeros.

use super::float::{Float, abs};

/// The comparison operators of `set` and `setp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Unsigned less than, whatever the type says; likewise `Ls`, `Hi`, `Hs`.
    Lo,
    Ls,
    Hi,
    Hs,
    /// Equal or unordered; likewise the others in `u`.
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    /// Neither operand is NaN.
    Num,
    /// At least one operand is NaN.
    Nan,
}

impl Comparison {
    /// All of them, in order.
    pub const ALL: [Comparison; 18] = {
        use Comparison::*;
        [
            Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan,
        ]
    };

    /// The operator of this name, without the dot.
    pub fn parse(name: &str) -> Option<Comparison> {
        use Comparison::*;
        Some(match name {
            "eq" => Eq,
            "ne" => Ne,
            "lt" => Lt,
            "le" => Le,
            "gt" => Gt,
            "ge" => Ge,
            "lo" => Lo,
            "ls" => Ls,
            "hi" => Hi,
            "hs" => Hs,
            "equ" => Equ,
            "neu" => Neu,
            "ltu" => Ltu,
            "leu" => Leu,
            "gtu" => Gtu,
            "geu" => Geu,
            "num" => Num,
            "nan" => Nan,
            _ => return None,
        })
    }

    /// Compares two integers that are already extended to 64 bits according to their type (`lo` and its like need
    /// zero-extended operands, which is what unsigned and bit types have).
    #[inline]
    pub fn integers<T: Ord>(self, a: T, b: T) -> bool {
        use Comparison::*;
        match self {
            Eq | Equ => a == b,
            Ne | Neu => a != b,
            Lt | Lo | Ltu => a < b,
            Le | Ls | Leu => a <= b,
            Gt | Hi | Gtu => a > b,
            Ge | Hs | Geu => a >= b,
            Num => true,
            Nan => false,
        }
    }

    /// Compares two floating-point values. The plain operators are false when an operand is NaN (`ne` too), those in `u`
    /// are true.
    #[inline]
    pub fn floats<F: Float>(self, a: F, b: F, ftz: bool) -> bool {
        use Comparison::*;
        let (a, b) = (a.flush(ftz), b.flush(ftz));
        match self {
            Eq => a == b,
            Ne => a != b && !a.nan() && !b.nan(),
            Lt | Lo => a < b,
            Le | Ls => a <= b,
            Gt | Hi => a > b,
            Ge | Hs => a >= b,
            Equ => a == b || a.nan() || b.nan(),
            Neu => a != b,
            Ltu => a.nan() || b.nan() || a < b,
            Leu => a.nan() || b.nan() || a <= b,
            Gtu => a.nan() || b.nan() || a > b,
            Geu => a.nan() || b.nan() || a >= b,
            Num => !a.nan() && !b.nan(),
            Nan => a.nan() || b.nan(),
        }
    }
}

/// The modifiers of `min` and `max` on floating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// `.ftz`.
    pub ftz: bool,
    /// `.NaN`: the result is NaN if an operand is; otherwise a single NaN is ignored.
    pub propagate_nan: bool,
    /// `.xorsign.abs`: magnitudes are compared, and the result has the product of the signs.
    pub xorsign_abs: bool,
}

#[inline]
fn select<F: Float>(a: F, b: F, how: Selection, less: bool) -> F {
    let (mut a, mut b) = (a.flush(how.ftz), b.flush(how.ftz));
    let sign = 1u64 << (F::FORMAT.exponent_bits + F::FORMAT.fraction_bits);
    let signs = (a.bits() ^ b.bits()) & sign;
    if how.xorsign_abs {
        (a, b) = (abs(a, false), abs(b, false));
    }
    let chosen = match (a.nan(), b.nan()) {
        (true, true) => F::from_raw(F::FORMAT.nan()),
        (true, false) | (false, true) if how.propagate_nan => F::from_raw(F::FORMAT.nan()),
        (true, false) => b,
        (false, true) => a,
        // -0 is less than +0.
        (false, false) if a == b => {
            let take_a = (a.bits() & sign != 0) == less;
            if take_a { a } else { b }
        }
        (false, false) => {
            if (a < b) == less {
                a
            } else {
                b
            }
        }
    };
    if how.xorsign_abs && !chosen.nan() {
        F::from_raw(chosen.bits() | signs)
    } else {
        chosen
    }
}

/// `min`.
#[inline]
pub fn min<F: Float>(a: F, b: F, how: Selection) -> F {
    select(a, b, how, true)
}

/// `max`.
#[inline]
pub fn max<F: Float>(a: F, b: F, how: Selection) -> F {
    select(a, b, how, false)
}

/// The properties that `testp` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum Property {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

impl Property {
    /// The property of this name, without the dot.
    pub fn parse(name: &str) -> Option<Property> {
        Some(match name {
            "finite" => Property::Finite,
            "infinite" => Property::Infinite,
            "number" => Property::Number,
            "notanumber" => Property::NotANumber,
            "normal" => Property::Normal,
            "subnormal" => Property::Subnormal,
            _ => return None,
        })
    }

    /// Whether a value has it. Zero is a normal number here, as PTX has it.
    #[inline]
    pub fn test<F: Float>(self, a: F) -> bool {
        let infinite = abs(a, false).bits() == F::FORMAT.infinity(false);
        match self {
            Property::Finite => !a.nan() && !infinite,
            Property::Infinite => infinite,
            Property::Number => !a.nan(),
            Property::NotANumber => a.nan(),
            Property::Normal => !a.nan() && !infinite && !a.subnormal(),
            Property::Subnormal => a.subnormal(),
        }
    }
}

/// Whether `slct` with an f32 selector takes its first operand: `c >= 0`, which minus zero is and NaN is not.
#[inline]
pub fn selects_first(c: f32, ftz: bool) -> bool {
    c.flush(ftz) >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    const VALUES: [f32; 7] = [
        f32::NAN,
        f32::NEG_INFINITY,
        -1.0,
        -0.0,
        0.0,
        1.0,
        f32::INFINITY,
    ];

    // covers: MATH-18
    #[test]
    fn min_and_max_over_all_pairs() {
        for (i, a) in VALUES.into_iter().enumerate() {
            for (j, b) in VALUES.into_iter().enumerate() {
                let (low, high) = (
                    min(a, b, Selection::default()),
                    max(a, b, Selection::default()),
                );
                let strict = Selection {
                    propagate_nan: true,
                    ..Selection::default()
                };
                let expected = match (i, j) {
                    (0, 0) => (0x7fff_ffff, 0x7fff_ffff),
                    (0, _) => (b.to_bits(), b.to_bits()),
                    (_, 0) => (a.to_bits(), a.to_bits()),
                    // VALUES is in ascending order, -0 before +0.
                    _ => (VALUES[i.min(j)].to_bits(), VALUES[i.max(j)].to_bits()),
                };
                assert_eq!((low.to_bits(), high.to_bits()), expected, "{a} {b}");
                let strict = (min(a, b, strict).to_bits(), max(a, b, strict).to_bits());
                assert_eq!(
                    strict,
                    if i == 0 || j == 0 {
                        (0x7fff_ffff, 0x7fff_ffff)
                    } else {
                        expected
                    }
                );
            }
        }
    }

    #[test]
    fn xorsign_abs() {
        let how = Selection {
            xorsign_abs: true,
            ..Selection::default()
        };
        assert_eq!(min(-3.0f32, 2.0, how), -2.0);
        assert_eq!(max(-3.0f32, -2.0, how), 3.0);
        assert_eq!(
            max(f16::from_f32(-1.0), f16::from_f32(0.5), how).to_f32(),
            -1.0
        );
        assert_eq!(
            min(f32::from_bits(1), 1.0, Selection { ftz: true, ..how }).to_bits(),
            0
        );
    }

    #[test]
    fn comparisons_with_nan() {
        use Comparison::*;
        for (plain, unordered) in [
            (Eq, Equ),
            (Ne, Neu),
            (Lt, Ltu),
            (Le, Leu),
            (Gt, Gtu),
            (Ge, Geu),
        ] {
            for a in VALUES {
                for b in VALUES {
                    let either = a.is_nan() || b.is_nan();
                    let expected = match plain {
                        Eq => a == b,
                        Ne => a != b,
                        Lt => a < b,
                        Le => a <= b,
                        Gt => a > b,
                        _ => a >= b,
                    };
                    assert_eq!(
                        plain.floats(a, b, false),
                        expected && !either,
                        "{plain:?} {a} {b}"
                    );
                    assert_eq!(
                        unordered.floats(a, b, false),
                        expected || either,
                        "{unordered:?} {a} {b}"
                    );
                    assert_eq!(Num.floats(a, b, false), !either);
                    assert_eq!(Nan.floats(a, b, false), either);
                }
            }
        }
        assert!(
            Eq.floats(f32::from_bits(5), 0.0, true) && !Eq.floats(f32::from_bits(5), 0.0, false)
        );
        assert!(Lt.integers(-1i64, 0) && !Lo.integers(0xffff_ffffu64, 0) && Hs.integers(3u64, 3));
        assert_eq!(Comparison::parse("geu"), Some(Geu));
        assert_eq!(Comparison::parse("uge"), None);
        for (index, comparison) in Comparison::ALL.into_iter().enumerate() {
            assert_eq!(comparison as usize, index);
        }
    }

    #[test]
    fn testp_and_slct() {
        use Property::*;
        let table = [
            (1.0, [true, false, true, false, true, false]),
            (0.0, [true, false, true, false, true, false]),
            (f32::from_bits(7), [true, false, true, false, false, true]),
            (f32::NEG_INFINITY, [false, true, true, false, false, false]),
            (f32::NAN, [false, false, false, true, false, false]),
        ];
        for (value, expected) in table {
            let found =
                [Finite, Infinite, Number, NotANumber, Normal, Subnormal].map(|p| p.test(value));
            assert_eq!(found, expected, "{value}");
        }
        assert!(
            selects_first(-0.0, false)
                && !selects_first(f32::NAN, false)
                && !selects_first(-1.0, false)
        );
        assert!(
            selects_first(-f32::from_bits(1), true) && !selects_first(-f32::from_bits(1), false)
        );
    }
}

//! Rows of D against the rules, term by term, with integers of 128 bits.

use super::*;
use crate::numerics::Rounding;
use crate::numerics::matrix::factors::Order;
use crate::numerics::matrix::shape::Element;
use crate::numerics::soft::{self, Number};
use warpsmith_testkit::cases;

/// Bits from a fixed sequence.
struct Sequence(u64);
impl Sequence {
    fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 32) as u32
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }
}

fn format(element: Element) -> soft::Format {
    match element {
        Element::F16 => soft::F16,
        Element::Bf16 => soft::BF16,
        Element::Tf32 => soft::TF32,
        Element::E4m3 => soft::E4M3,
        Element::E5m2 => soft::E5M2,
        _ => soft::F32,
    }
}

/// A term of the plain model: a value and the exponent that the rules give it.
#[derive(Clone, Copy)]
struct Exact {
    value: Number,
    exponent: i32,
}

fn exact(format: soft::Format, bits: u32) -> Exact {
    let value = format.decode(bits.into());
    let exponent = match value {
        Number::Finite { exponent, .. } => exponent + format.fraction_bits as i32,
        _ => 0,
    };
    Exact { value, exponent }
}

/// The rules, one after the other.
fn model(sum: Sum, terms: &[(Exact, Exact)], c: Option<u32>) -> u32 {
    let stored = match sum.result {
        SumFormat::F16 => soft::F16,
        _ => soft::F32,
    };
    let mut all: Vec<Exact> = terms
        .iter()
        .map(|&(a, b)| Exact {
            value: a.value.multiply(b.value),
            exponent: a.exponent + b.exponent,
        })
        .collect();
    all.extend(c.map(|bits| exact(stored, bits)));
    let is = |wanted: Number| all.iter().any(|term| term.value == wanted);
    let (plus, minus) = (
        Number::Infinity { negative: false },
        Number::Infinity { negative: true },
    );
    if is(Number::Nan) || is(plus) && is(minus) {
        return stored.nan() as u32;
    }
    for infinity in [plus, minus] {
        if is(infinity) {
            return stored.encode(infinity, Rounding::Zero, false) as u32;
        }
    }
    let finite: Vec<(i128, i32, i32)> = all
        .iter()
        .filter_map(|term| match term.value {
            Number::Finite {
                negative,
                exponent,
                significand,
                ..
            } if significand != 0 => {
                let value = significand as i128;
                Some((
                    if negative { -value } else { value },
                    exponent,
                    term.exponent,
                ))
            }
            _ => None,
        })
        .collect();
    let Some(top) = finite.iter().map(|&(_, _, exponent)| exponent).max() else {
        return 0;
    };
    let unit = top - sum.fraction as i32;
    let total: i128 = finite
        .iter()
        .map(|&(value, last, _)| match last - unit {
            shift @ 0.. => value << shift,
            // Division cuts toward zero.
            shift => value / (1i128 << (-shift).min(100)),
        })
        .sum();
    if total == 0 {
        return 0;
    }
    let number = Number::Finite {
        negative: total < 0,
        exponent: unit,
        significand: total.unsigned_abs(),
        sticky: false,
    };
    if sum.result == SumFormat::F16 {
        return soft::F16.encode(number, Rounding::NearestEven, false) as u32;
    }
    let bits = soft::F32.encode(number, Rounding::Zero, false) as u32;
    let overflows = soft::F32.encode(number, Rounding::Zero, true) == u64::from(bits)
        && bits & 0x7fff_ffff == 0x7f7f_ffff
        && {
            let digits = 127 - total.unsigned_abs().leading_zeros() as i32;
            digits + unit > 127
        };
    match (overflows, sum.result) {
        (true, _) => bits & 0x8000_0000 | 0x7f80_0000,
        (false, SumFormat::F32Short) => bits & !0x3ff,
        (false, _) => bits,
    }
}

/// Puts elements given by their bits into a factor, 16 bytes at a time, along k or across lines.
fn factors(
    element: Element,
    order: Order,
    lines: usize,
    depth: usize,
    across: bool,
    bits: impl Fn(usize, usize) -> u32,
) -> Factors {
    let mut factors = Factors::new(element, order, lines, depth);
    let width = element.bits() as usize;
    let per_unit = 128 / width;
    let unit = |values: &mut dyn Iterator<Item = u32>| {
        let mut packed = 0u128;
        for (index, value) in values.enumerate() {
            packed |= u128::from(value) << (index * width);
        }
        packed.to_le_bytes()
    };
    if across {
        for k in 0..depth {
            for first in (0..lines).step_by(per_unit) {
                let bytes = unit(&mut (first..first + per_unit).map(|line| bits(line, k)));
                factors.put_along_lines(first, k, bytes);
            }
        }
    } else {
        for line in 0..lines {
            for first in (0..depth).step_by(per_unit) {
                let bytes = unit(&mut (first..first + per_unit).map(|k| bits(line, k)));
                factors.put_along_k(line, first * width / 8, bytes);
            }
        }
    }
    factors
}

/// Random bits of a number: of all kinds, or of a narrow range of exponents, so that sums cancel.
fn number(sequence: &mut Sequence, element: Element, narrow: bool) -> u32 {
    let format = format(element);
    let (fraction_bits, exponent_bits) = (format.fraction_bits, format.exponent_bits);
    let sign = sequence.below(2) << (fraction_bits + exponent_bits);
    let fraction = sequence.next() & ((1 << fraction_bits) - 1);
    let bias = (1 << (exponent_bits - 1)) - 1;
    let exponent = match (narrow, sequence.below(16)) {
        (true, _) => bias - 2 + sequence.below(4),
        (false, 0) => 0,
        (false, 1) => return sign << format.padding,
        (false, _) => sequence.below((1 << exponent_bits) - 1),
    };
    (sign | exponent << fraction_bits | fraction) << format.padding
}

const SHAPES: [(Element, Element, usize, u32); 7] = [
    (Element::F16, Element::F16, 16, 25),
    (Element::Bf16, Element::Bf16, 16, 25),
    (Element::Tf32, Element::Tf32, 8, 25),
    (Element::E4m3, Element::E4m3, 32, 13),
    (Element::E5m2, Element::E4m3, 32, 13),
    (Element::E4m3, Element::E5m2, 32, 13),
    (Element::E5m2, Element::E5m2, 32, 13),
];

fn formats(a: Element) -> &'static [SumFormat] {
    match a {
        Element::F16 => &[SumFormat::F32, SumFormat::F16],
        Element::E4m3 | Element::E5m2 => &[SumFormat::F32Short, SumFormat::F16],
        _ => &[SumFormat::F32],
    }
}

/// Compares a row with the model.
fn check(
    shape: (Element, Element, usize, u32),
    addend: Addend,
    mut a_bits: impl FnMut(usize) -> u32,
    mut b_bits: impl FnMut(usize, usize) -> u32,
    mut c_bits: impl FnMut(SumFormat) -> u32,
) {
    let (a_type, b_type, depth, fraction) = shape;
    // More than a block, and no multiple of one; fewer where Miri interprets the test.
    const COLUMNS: usize = if cfg!(miri) { 16 } else { 72 };
    let a: Vec<u32> = (0..depth).map(&mut a_bits).collect();
    let b: Vec<Vec<u32>> = (0..COLUMNS)
        .map(|column| (0..depth).map(|k| b_bits(column, k)).collect())
        .collect();
    let left = factors(a_type, Order::ByLine, 1, depth, false, |_, k| a[k]);
    for &format_of_sum in formats(a_type) {
        let sum = Sum::of(fraction, format_of_sum);
        let c: Vec<u32> = (0..COLUMNS).map(|_| c_bits(format_of_sum)).collect();
        // Both ways to fill a factor, where the type has them.
        for across in [false, b_type.bits() == 16] {
            let right = factors(b_type, Order::ByDepth, COLUMNS, depth, across, |n, k| {
                b[n][k]
            });
            let mut d = c.clone();
            sum.row(left.line(0), &right, |k| k, addend, &mut d);
            for column in 0..COLUMNS {
                let terms: Vec<(Exact, Exact)> = (0..depth)
                    .map(|k| {
                        (
                            exact(format(a_type), a[k]),
                            exact(format(b_type), b[column][k]),
                        )
                    })
                    .collect();
                let c = (addend == Addend::Accumulator).then_some(c[column]);
                let expected = model(sum, &terms, c);
                assert_eq!(
                    d[column], expected,
                    "{a_type:?} {b_type:?} {format_of_sum:?}: {:#x} instead of {expected:#x}, a {a:x?}, b {:x?}, c {c:x?}",
                    d[column], b[column],
                );
            }
        }
    }
}

fn addend(sequence: &mut Sequence, format: SumFormat, narrow: bool) -> u32 {
    match format {
        SumFormat::F16 => number(sequence, Element::F16, narrow),
        _ => number(sequence, Element::F32, narrow),
    }
}

#[test]
fn sums_of_all_kinds_of_numbers() {
    for shape in SHAPES {
        for round in 0..u64::from(cases(60)) {
            let narrow = round % 2 == 0;
            let mut a = Sequence(round);
            let mut b = Sequence(round + 1000);
            let mut c = Sequence(round + 2000);
            check(
                shape,
                if round % 5 == 4 {
                    Addend::None
                } else {
                    Addend::Accumulator
                },
                |_| number(&mut a, shape.0, narrow),
                |_, _| number(&mut b, shape.1, narrow),
                |format| addend(&mut c, format, narrow),
            );
        }
    }
}

#[test]
fn subnormal_factors_and_results() {
    for shape in SHAPES {
        let subnormal = |sequence: &mut Sequence, element: Element| {
            let format = format(element);
            let sign = sequence.below(2) << (format.fraction_bits + format.exponent_bits);
            let exponent = sequence.below(2) << format.fraction_bits;
            (sign | exponent | sequence.next() & ((1 << format.fraction_bits) - 1))
                << format.padding
        };
        for round in 0..u64::from(cases(20)) {
            let mut a = Sequence(round);
            let mut b = Sequence(round + 1000);
            let mut c = Sequence(round + 2000);
            check(
                shape,
                Addend::Accumulator,
                |_| subnormal(&mut a, shape.0),
                |_, _| subnormal(&mut b, shape.1),
                |format| match format {
                    SumFormat::F16 => subnormal(&mut c, Element::F16),
                    _ => subnormal(&mut c, Element::F32),
                },
            );
        }
    }
}

#[test]
fn infinities_and_nans() {
    for shape in SHAPES {
        for round in 0..u64::from(cases(40)) {
            let mut sequence = Sequence(round);
            // Each kind of term in one element, now and then.
            let special = |sequence: &mut Sequence, element: Element| -> u32 {
                let format = format(element);
                match sequence.below(24) {
                    0 => format.infinity(sequence.below(2) != 0) as u32,
                    1 => (format.nan() >> format.padding << format.padding) as u32,
                    2..6 => 0,
                    _ => number(sequence, element, true),
                }
            };
            let mut b = Sequence(round + 1000);
            let mut c = Sequence(round + 2000);
            check(
                shape,
                Addend::Accumulator,
                |_| match round % 2 {
                    0 => number(&mut sequence, shape.0, true),
                    _ => special(&mut sequence, shape.0),
                },
                |column, _| match column % 3 {
                    0 => number(&mut b, shape.1, true),
                    _ => special(&mut b, shape.1),
                },
                |format| match format {
                    SumFormat::F16 => special(&mut c, Element::F16),
                    _ => special(&mut c, Element::F32),
                },
            );
        }
    }
}

#[test]
fn the_largest_factors_do_not_overflow_the_sum() {
    for shape in SHAPES {
        let largest = |element| format(element).largest(false) as u32;
        let (a, b) = (largest(shape.0), largest(shape.1));
        let c = |format| match format {
            SumFormat::F16 => soft::F16.largest(false) as u32,
            _ => soft::F32.largest(false) as u32,
        };
        check(shape, Addend::Accumulator, |_| a, |_, _| b, c);
        let sign = |element| format(element).largest(true) as u32;
        let negative = sign(shape.0);
        check(shape, Addend::Accumulator, |_| negative, |_, _| b, c);
    }
}

#[test]
fn cancellation_leaves_a_positive_zero_and_what_is_cut_is_forgotten() {
    let sum = Sum::of(25, SumFormat::F32);
    let (one, minus_one, tiny) = (0x3c00, 0xbc00, 0x0001);
    let row = |a: [u32; 16], c: f32| {
        let left = factors(Element::F16, Order::ByLine, 1, 16, false, |_, k| a[k]);
        let right = factors(Element::F16, Order::ByDepth, 8, 16, false, |_, _| one);
        let mut d = [c.to_bits(); 8];
        sum.row(left.line(0), &right, |k| k, Addend::Accumulator, &mut d);
        f32::from_bits(d[0])
    };
    let mut a = [0; 16];
    (a[0], a[1]) = (one, minus_one);
    assert_eq!(row(a, 0.0).to_bits(), 0);
    assert_eq!(row(a, -0.0).to_bits(), 0);
    assert_eq!(
        row([0x8000; 16], -0.0).to_bits(),
        0,
        "minus zeros add up to zero"
    );
    // 2^-24 is a multiple of 2^-25, which is what terms are cut to beside one; 2^-26 is none.
    a[2] = tiny;
    assert_eq!(row(a, 0.0), 2f32.powi(-24));
    assert_eq!(row(a, 2f32.powi(-26)), 2f32.powi(-24));
    assert_eq!(row(a, 2f32.powi(-25)), 2f32.powi(-24) + 2f32.powi(-25));
}

#[test]
fn integers_wrap_or_saturate() {
    let mut sequence = Sequence(7);
    for (a_type, b_type) in [
        (Element::S8, Element::S8),
        (Element::S8, Element::U8),
        (Element::U8, Element::S8),
        (Element::U8, Element::U8),
    ] {
        let value = |element, bits: u32| match element {
            Element::S8 => i64::from(bits as i8),
            _ => i64::from(bits as u8),
        };
        let a: Vec<u32> = (0..32).map(|_| sequence.below(256)).collect();
        let b: Vec<Vec<u32>> = (0..16)
            .map(|_| (0..32).map(|_| sequence.below(256)).collect())
            .collect();
        let left = factors(a_type, Order::ByLine, 1, 32, false, |_, k| a[k]);
        let right = factors(b_type, Order::ByDepth, 16, 32, false, |n, k| b[n][k]);
        for overflow in [IntegerOverflow::Wrap, IntegerOverflow::Saturate] {
            for addend in [Addend::Accumulator, Addend::None] {
                let c: Vec<u32> = (0..16)
                    .map(|n| match n % 3 {
                        0 => i32::MAX as u32 - n,
                        1 => i32::MIN as u32 + n,
                        _ => sequence.next(),
                    })
                    .collect();
                let mut d = c.clone();
                integer_row(left.line(0), &right, |k| k, addend, overflow, &mut d);
                for n in 0..16 {
                    let mut sum: i64 = (0..32)
                        .map(|k| value(a_type, a[k]) * value(b_type, b[n][k]))
                        .sum();
                    if addend == Addend::Accumulator {
                        sum += i64::from(c[n] as i32);
                    }
                    let expected = match overflow {
                        IntegerOverflow::Wrap => sum as i32,
                        IntegerOverflow::Saturate => {
                            sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32
                        }
                    };
                    assert_eq!(d[n] as i32, expected, "{a_type:?} {b_type:?} column {n}");
                }
            }
        }
    }
}

#[test]
fn bits_count_where_both_are_set() {
    let mut sequence = Sequence(3);
    let a: Vec<u32> = (0..256).map(|_| sequence.below(2)).collect();
    let b: Vec<Vec<u32>> = (0..8)
        .map(|_| (0..256).map(|_| sequence.below(2)).collect())
        .collect();
    let left = factors(Element::B1, Order::ByLine, 1, 256, false, |_, k| a[k]);
    let right = factors(Element::B1, Order::ByDepth, 8, 256, false, |n, k| b[n][k]);
    let mut d = [100; 8];
    integer_row(
        left.line(0),
        &right,
        |k| k,
        Addend::Accumulator,
        IntegerOverflow::Wrap,
        &mut d,
    );
    for n in 0..8 {
        let both: u32 = (0..256).map(|k| a[k] & b[n][k]).sum();
        assert_eq!(d[n], 100 + both);
    }
}

#[test]
fn the_sign_of_a_factor_can_be_changed() {
    let mut sequence = Sequence(5);
    let bits: Vec<u32> = (0..16)
        .map(|_| number(&mut sequence, Element::F16, true))
        .collect();
    let mut left = factors(Element::F16, Order::ByLine, 1, 16, false, |_, k| bits[k]);
    left.negate();
    let negated = factors(Element::F16, Order::ByLine, 1, 16, false, |_, k| {
        bits[k] ^ 0x8000
    });
    assert_eq!(left.line(0).significands, negated.line(0).significands);
}

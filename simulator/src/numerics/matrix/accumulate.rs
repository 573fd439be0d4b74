//! D = A * B + C on factors that were taken apart ([`Factors`]), as a tensor core adds: whole rows of D at once.
//!
//! # Floating point
//!
//! All products of an element and its addend C are added in one step, whose rules were measured on a device of compute
//! capability 9.0. Some instructions take several such steps, or others: see [`order`](super::order).
//!
//! 1. A NaN among the factors or the addend, an infinity times zero, or infinities of both signs give a NaN (`0x7fffffff` in f32,
//!    `0x7fff` in f16); else an infinity wins.
//! 2. A product has the sum of its factors' exponents, and the product of their significands, which is not normalised even where
//!    it reaches 2. The largest exponent of all terms that are not zero counts.
//! 3. The magnitude of each term is cut, toward zero, to a multiple of 2^(that exponent - F), with [`Sum::fraction`] as F.
//! 4. The terms are added exactly. A sum of zero is +0.
//! 5. The sum becomes f32 toward zero (an overflow is an infinity), or f16 to nearest even.
//!
//! # Integers
//!
//! Sums are exact, and wrap or saturate at the end.

use half::f16;

use super::factors::{Factors, Line, SPECIAL_EXPONENT, fraction_bits};
use super::shape::Element;

/// Columns that are computed at once: their intermediate values stay in the first cache.
const BLOCK: usize = 64;
/// Columns that are computed at once of those that are left: each instruction has a multiple of them.
const LEAST: usize = 8;
/// The NaN of f32.
const NAN_F32: u32 = 0x7fff_ffff;
/// The NaN of f16.
const NAN_F16: u32 = 0x7fff;
/// Below the exponent of every term.
const NO_EXPONENT: i16 = -16384;

/// The type of the elements of C and D, and how a sum becomes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SumFormat {
    /// f32, toward zero.
    F32,
    /// f32, toward zero with 13 digits behind the point: the others are zero.
    F32Short,
    /// f16, to nearest even.
    F16,
}

/// How the terms of an element are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sum {
    /// Binary digits behind the point that terms keep, relative to the largest.
    pub fraction: u32,
    /// What C is.
    pub addend: SumFormat,
    /// What D becomes.
    pub result: SumFormat,
}

/// What becomes of a sum of integers beyond the range of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntegerOverflow {
    /// It wraps.
    Wrap,
    /// It becomes the nearest of the range (`.satfinite`).
    Saturate,
}

/// Whether the former contents of D are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addend {
    /// D = A * B + D
    Accumulator,
    /// D = A * B
    None,
}

/// A term's significand with its fraction digits, and its exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Term {
    Number { significand: i64, exponent: i16 },
    Infinity { negative: bool },
    Nan,
}

impl SumFormat {
    /// That of an accumulator with floating-point elements of this type.
    pub fn of(element: Element) -> SumFormat {
        match element {
            Element::F16 => SumFormat::F16,
            _ => SumFormat::F32,
        }
    }

    /// Binary digits behind the point of an addend's significand.
    fn fraction_bits(self) -> u32 {
        match self {
            SumFormat::F32 | SumFormat::F32Short => 23,
            SumFormat::F16 => 10,
        }
    }

    /// An addend of these bits.
    #[inline(always)]
    fn term(self, bits: u32) -> Term {
        let (fraction_bits, exponent_bits) = match self {
            SumFormat::F32 | SumFormat::F32Short => (23, 8),
            SumFormat::F16 => (10, 5),
        };
        let bias = (1i16 << (exponent_bits - 1)) - 1;
        let top = (1i16 << exponent_bits) - 1;
        let negative = bits >> (fraction_bits + exponent_bits) & 1 != 0;
        let exponent = (bits >> fraction_bits) as i16 & top;
        let fraction = i64::from(bits & ((1 << fraction_bits) - 1));
        if exponent == top {
            return match fraction {
                0 => Term::Infinity { negative },
                _ => Term::Nan,
            };
        }
        let (magnitude, exponent) = match (exponent, fraction) {
            (0, 0) => (0, NO_EXPONENT),
            (0, _) => (fraction, 1 - bias),
            _ => (fraction | 1 << fraction_bits, exponent - bias),
        };
        Term::Number {
            significand: if negative { -magnitude } else { magnitude },
            exponent,
        }
    }

    /// The bits of a sum in units of 2^`unit`.
    #[inline(always)]
    fn round(self, sum: i64, unit: i32) -> u32 {
        match self {
            SumFormat::F32 => to_f32(sum, unit),
            SumFormat::F32Short => {
                let bits = to_f32(sum, unit);
                bits & !((1 << 10) - 1)
            }
            SumFormat::F16 => to_f16(sum, unit),
        }
    }

    /// A number of this format, exactly.
    pub fn to_f32(self, bits: u32) -> f32 {
        match self {
            SumFormat::F32 | SumFormat::F32Short => f32::from_bits(bits),
            SumFormat::F16 => f16::from_bits(bits as u16).to_f32(),
        }
    }

    /// The bits of a number in this format, to nearest even.
    pub fn from_f32(self, value: f32) -> u32 {
        match self {
            _ if value.is_nan() => self.nan(),
            SumFormat::F32 | SumFormat::F32Short => value.to_bits(),
            SumFormat::F16 => f16::from_f32(value).to_bits().into(),
        }
    }

    fn nan(self) -> u32 {
        match self {
            SumFormat::F32 | SumFormat::F32Short => NAN_F32,
            SumFormat::F16 => NAN_F16,
        }
    }

    fn infinity(self, negative: bool) -> u32 {
        match self {
            SumFormat::F32 | SumFormat::F32Short => 0x7f80_0000 | u32::from(negative) << 31,
            SumFormat::F16 => 0x7c00 | u32::from(negative) << 15,
        }
    }
}

/// `sum * 2^unit` as f32, toward zero; an overflow is an infinity.
#[inline(always)]
fn to_f32(sum: i64, unit: i32) -> u32 {
    if sum == 0 {
        return 0;
    }
    let sign = u32::from(sum < 0) << 31;
    let magnitude = sum.unsigned_abs();
    let digits = 63 - magnitude.leading_zeros() as i32;
    let exponent = unit + digits;
    if exponent > 127 {
        return sign | 0x7f80_0000;
    }
    if exponent < -126 {
        let shift = unit + 149;
        let units = match shift {
            0.. => magnitude << shift,
            -63.. => magnitude >> -shift,
            _ => 0,
        };
        return sign | units as u32;
    }
    let significand = match digits {
        23.. => magnitude >> (digits - 23),
        _ => magnitude << (23 - digits),
    };
    sign | ((((exponent + 126) as u32) << 23) + significand as u32)
}

/// `sum * 2^unit` as f16, to nearest even.
#[inline(always)]
fn to_f16(sum: i64, unit: i32) -> u32 {
    if sum == 0 {
        return 0;
    }
    let sign = u32::from(sum < 0) << 15;
    let magnitude = sum.unsigned_abs();
    let exponent = unit + 63 - magnitude.leading_zeros() as i32;
    if exponent > 15 {
        return sign | 0x7c00;
    }
    // The place of the last digit that is kept.
    let last = (exponent - 10).max(-24);
    let shift = last - unit;
    let rounded = match shift {
        ..=0 => magnitude << -shift,
        1..=63 => {
            let (kept, rest) = (magnitude >> shift, magnitude & ((1 << shift) - 1));
            let half = 1 << (shift - 1);
            kept + u64::from(rest > half || rest == half && kept & 1 != 0)
        }
        _ => 0,
    };
    // A significand that rounds up to the next power of two carries into the exponent, and beyond the largest into infinity.
    let bits = match exponent {
        -14.. => (((exponent + 14) as u32) << 10) + rounded as u32,
        _ => rounded as u32,
    };
    sign | bits
}

/// So many values from `start` on.
#[inline(always)]
fn part<const COLUMNS: usize>(values: &[i16], start: usize) -> &[i16; COLUMNS] {
    let found = values[start..].first_chunk();
    found.expect("as many as D has columns")
}

impl Sum {
    /// Sums of this format, addend and result alike.
    pub fn of(fraction: u32, format: SumFormat) -> Sum {
        Sum {
            fraction,
            addend: format,
            result: format,
        }
    }

    /// Computes a row of D: `d` has the bits of an element of C for each line of `b`, and gets those of D. `place` says
    /// with which element of `b` along k each one of `a` is multiplied.
    ///
    /// `a` is so shallow that the products of the largest significands add up to less than 2^31 with [`Sum::fraction`]
    /// digits behind the point: up to 16 of 11 binary digits with 25, up to 32 of 4 with 13.
    ///
    /// # Panics
    /// If `d` is longer than `b` has lines, or does not come by eights, or a place lies outside of `b`.
    #[inline(always)]
    pub fn row(
        &self,
        a: Line<'_>,
        b: &Factors,
        place: impl Fn(usize) -> usize + Copy,
        addend: Addend,
        d: &mut [u32],
    ) {
        let (blocks, rest) = d.as_chunks_mut::<BLOCK>();
        let start = blocks.len() * BLOCK;
        for (number, block) in blocks.iter_mut().enumerate() {
            self.block(a, b, place, number * BLOCK, addend, block);
        }
        let (blocks, rest) = rest.as_chunks_mut::<LEAST>();
        assert!(rest.is_empty(), "columns come by eights");
        for (number, block) in blocks.iter_mut().enumerate() {
            self.block(a, b, place, start + number * LEAST, addend, block);
        }
    }

    /// As [`Sum::row`], for so many columns from `start` on.
    #[inline(always)]
    fn block<const COLUMNS: usize>(
        &self,
        a: Line<'_>,
        b: &Factors,
        place: impl Fn(usize) -> usize + Copy,
        start: usize,
        addend: Addend,
        d: &mut [u32; COLUMNS],
    ) {
        let former = *d;
        let special = &b.special()[start..start + COLUMNS];
        let mut is_special = a.is_special || special.contains(&true);
        let mut top = [NO_EXPONENT; COLUMNS];
        let mut added = [0i64; COLUMNS];
        let mut exponents = [NO_EXPONENT; COLUMNS];
        if addend == Addend::Accumulator {
            for n in 0..COLUMNS {
                match self.addend.term(former[n]) {
                    Term::Number {
                        significand,
                        exponent,
                    } => (added[n], exponents[n]) = (significand, exponent),
                    _ => is_special = true,
                }
            }
            top = exponents;
        }
        // The largest exponent.
        for (k, (&significand, &exponent)) in a.significands.iter().zip(a.exponents).enumerate() {
            if significand == 0 {
                continue;
            }
            let others: &[i16; COLUMNS] = part(b.exponents_at(place(k)), start);
            for n in 0..COLUMNS {
                top[n] = top[n].max(exponent + others[n]);
            }
        }
        // The products, cut.
        let digits = fraction_bits(a.element) + fraction_bits(b.element());
        let mut sums = [0i32; COLUMNS];
        for (k, (&significand, &exponent)) in a.significands.iter().zip(a.exponents).enumerate() {
            if significand == 0 {
                continue;
            }
            let significand = i32::from(significand) << (self.fraction - digits);
            let k = place(k);
            let others: &[i16; COLUMNS] = part(b.significands_at(k), start);
            let other_exponents: &[i16; COLUMNS] = part(b.exponents_at(k), start);
            for n in 0..COLUMNS {
                let product = significand * i32::from(others[n]);
                // A zero's exponent may be far below the largest.
                let cut = (top[n] - (exponent + other_exponents[n])).clamp(0, 31);
                let sign = product >> 31;
                sums[n] += ((product.unsigned_abs() >> cut) as i32 ^ sign) - sign;
            }
        }
        let fraction = i32::from(self.fraction as u16);
        let shift = fraction - self.addend.fraction_bits() as i32;
        for n in 0..COLUMNS {
            let cut = i32::from(top[n]) - i32::from(exponents[n]) - shift;
            let magnitude = added[n].unsigned_abs();
            let magnitude = match cut {
                ..=0 => magnitude << -cut,
                1..=63 => magnitude >> cut,
                _ => 0,
            } as i64;
            let sum = i64::from(sums[n]) + if added[n] < 0 { -magnitude } else { magnitude };
            d[n] = self.result.round(sum, i32::from(top[n]) - fraction);
        }
        if is_special {
            for n in 0..COLUMNS {
                let added = match addend {
                    Addend::Accumulator => self.addend.term(former[n]),
                    Addend::None => Term::ZERO,
                };
                if let Some(bits) = self.special(a, b, place, start + n, added) {
                    d[n] = bits;
                }
            }
        }
    }

    /// The bits of an element of D that is an infinity or a NaN because one is among its terms; `None` if none is.
    #[cold]
    #[inline(never)]
    fn special(
        &self,
        a: Line<'_>,
        b: &Factors,
        place: impl Fn(usize) -> usize,
        column: usize,
        added: Term,
    ) -> Option<u32> {
        let (mut plus, mut minus) = (false, false);
        let products = (0..a.significands.len()).map(|k| {
            let own = Term::factor(a.significands[k], a.exponents[k]);
            let k = place(k);
            own.times(Term::factor(
                b.significands_at(k)[column],
                b.exponents_at(k)[column],
            ))
        });
        for term in products.chain([added]) {
            match term {
                Term::Nan => return Some(self.result.nan()),
                Term::Infinity { negative: true } => minus = true,
                Term::Infinity { negative: false } => plus = true,
                Term::Number { .. } => {}
            }
        }
        match (plus, minus) {
            (true, true) => Some(self.result.nan()),
            (false, false) => None,
            _ => Some(self.result.infinity(minus)),
        }
    }
}

impl Term {
    const ZERO: Term = Term::Number {
        significand: 0,
        exponent: NO_EXPONENT,
    };

    /// A factor.
    fn factor(significand: i16, exponent: i16) -> Term {
        match (exponent == SPECIAL_EXPONENT, significand) {
            (true, 0) => Term::Nan,
            (true, sign) => Term::Infinity { negative: sign < 0 },
            (false, _) => Term::Number {
                significand: significand.into(),
                exponent,
            },
        }
    }

    /// What kind of term a product is; of a number only its sign and whether it is zero are right.
    fn times(self, other: Term) -> Term {
        let sign = |term: Term| match term {
            Term::Number { significand, .. } => significand.signum(),
            Term::Infinity { negative } => 1 - 2 * i64::from(negative),
            Term::Nan => 0,
        };
        let product = sign(self) * sign(other);
        match (self, other) {
            (Term::Number { .. }, Term::Number { .. }) => Term::Number {
                significand: product,
                exponent: 0,
            },
            (Term::Nan, _) | (_, Term::Nan) => Term::Nan,
            _ if product == 0 => Term::Nan,
            _ => Term::Infinity {
                negative: product < 0,
            },
        }
    }
}

/// Computes a row of D of integers: `d` has an element of C for each line of `b`, and gets those of D. `place` says
/// with which element of `b` along k each one of `a` is multiplied; of bits it is those of the same place.
///
/// # Panics
/// If `d` is longer than `b` has lines, or a place lies outside of `b`.
#[inline(always)]
pub fn integer_row(
    a: Line<'_>,
    b: &Factors,
    place: impl Fn(usize) -> usize,
    addend: Addend,
    overflow: IntegerOverflow,
    d: &mut [u32],
) {
    for (number, block) in d.chunks_mut(BLOCK).enumerate() {
        let columns = number * BLOCK..number * BLOCK + block.len();
        let mut sums = [0i32; BLOCK];
        for (k, &value) in a.significands.iter().enumerate() {
            let others = &b.significands_at(place(k))[columns.clone()];
            for (sum, &other) in sums.iter_mut().zip(others) {
                *sum += i32::from(value) * i32::from(other);
            }
        }
        for (k, &word) in a.words.iter().enumerate() {
            let others = &b.words_at(k)[columns.clone()];
            for (sum, &other) in sums.iter_mut().zip(others) {
                *sum += (word & other).count_ones() as i32;
            }
        }
        for (element, sum) in block.iter_mut().zip(sums) {
            let former = match addend {
                Addend::Accumulator => *element as i32,
                Addend::None => 0,
            };
            *element = match overflow {
                IntegerOverflow::Wrap => former.wrapping_add(sum),
                IntegerOverflow::Saturate => former.saturating_add(sum),
            } as u32;
        }
    }
}

#[cfg(test)]
#[path = "accumulate_tests.rs"]
mod tests;

//! `cvt` between every pair of scalar types, and the packed forms.
//!
//! A [`Conversion`] is decoded once from the instruction's modifiers and then applied to raw bits. Out of range means
//! clamped for float to integer, always; NaN becomes zero, except from f64 or to 64-bit integers, where the hardware
//! gives the integer with only its top bit set. Integer to integer truncates unless `.sat` says clamp.

use super::Rounding;
use super::float::{Float, bf16_from_f64, f16_from_f64};
use super::soft::{self, Number};
use half::{bf16, f16};

/// The scalar types that `cvt` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in PTX")]
pub enum Scalar {
    U2,
    U4,
    U8,
    U16,
    U32,
    U64,
    S2,
    S4,
    S8,
    S16,
    S32,
    S64,
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    E4m3,
    E5m2,
}

impl Scalar {
    /// All of them, in order.
    pub const ALL: [Scalar; 19] = {
        use Scalar::*;
        [
            U2, U4, U8, U16, U32, U64, S2, S4, S8, S16, S32, S64, F16, Bf16, Tf32, F32, F64, E4m3,
            E5m2,
        ]
    };

    /// The type of this PTX name, without the dot; bit types count as unsigned.
    pub fn parse(name: &str) -> Option<Scalar> {
        use Scalar::*;
        Some(match name {
            "u2" => U2,
            "u4" => U4,
            "u8" | "b8" => U8,
            "u16" | "b16" => U16,
            "u32" | "b32" => U32,
            "u64" | "b64" => U64,
            "s2" => S2,
            "s4" => S4,
            "s8" => S8,
            "s16" => S16,
            "s32" => S32,
            "s64" => S64,
            "f16" => F16,
            "bf16" => Bf16,
            "tf32" => Tf32,
            "f32" => F32,
            "f64" => F64,
            "e4m3" => E4m3,
            "e5m2" => E5m2,
            _ => return None,
        })
    }

    /// The width in bits.
    pub fn width(self) -> u32 {
        use Scalar::*;
        match self {
            U2 | S2 => 2,
            U4 | S4 => 4,
            U8 | S8 | E4m3 | E5m2 => 8,
            U16 | S16 | F16 | Bf16 => 16,
            U32 | S32 | Tf32 | F32 => 32,
            U64 | S64 | F64 => 64,
        }
    }

    /// Whether it is an integer type, and if so whether it is signed.
    pub fn signed(self) -> Option<bool> {
        use Scalar::*;
        match self {
            U2 | U4 | U8 | U16 | U32 | U64 => Some(false),
            S2 | S4 | S8 | S16 | S32 | S64 => Some(true),
            _ => None,
        }
    }

    /// The encoding of a floating-point type.
    pub fn format(self) -> Option<soft::Format> {
        use Scalar::*;
        Some(match self {
            F16 => soft::F16,
            Bf16 => soft::BF16,
            Tf32 => soft::TF32,
            F32 => soft::F32,
            F64 => soft::F64,
            E4m3 => soft::E4M3,
            E5m2 => soft::E5M2,
            _ => return None,
        })
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width())
    }

    /// The smallest and largest value of an integer type.
    fn range(self) -> (i128, i128) {
        let bits = self.width();
        if self.signed() == Some(true) {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }
}

/// A decoded `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// The destination's type.
    pub to: Scalar,
    /// The source's type.
    pub from: Scalar,
    /// The rounding. Between floating-point types with `integral` set it rounds to a whole number; without a modifier
    /// the conversion is exact and the direction does not matter.
    pub rounding: Rounding,
    /// `.rni` and its like between floating-point types: the result is a whole number.
    pub integral: bool,
    /// `.sat`: integers clamp to the destination's range, floating-point results to 0 ..= 1.
    pub sat: bool,
    /// `.satfinite`: what overflows becomes the largest finite value.
    pub satfinite: bool,
    /// `.ftz`: f32 subnormals become zero, as source and as result.
    pub ftz: bool,
    /// `.relu`: negative results become zero.
    pub relu: bool,
}

impl Conversion {
    /// A conversion without modifiers other than a rounding.
    pub const fn new(to: Scalar, from: Scalar, rounding: Rounding) -> Conversion {
        Conversion {
            to,
            from,
            rounding,
            integral: false,
            sat: false,
            satfinite: false,
            ftz: false,
            relu: false,
        }
    }

    /// The conversion as a number of 19 bits, for an instruction's immediate field.
    pub const fn code(self) -> u32 {
        self.to as u32
            | (self.from as u32) << 5
            | (self.rounding as u32) << 10
            | (self.integral as u32) << 14
            | (self.sat as u32) << 15
            | (self.satfinite as u32) << 16
            | (self.ftz as u32) << 17
            | (self.relu as u32) << 18
    }

    /// The conversion of a [`code`](Conversion::code).
    pub fn from_code(code: u32) -> Conversion {
        let scalar = |at: u32| Scalar::ALL[(code >> at & 31) as usize % Scalar::ALL.len()];
        let flag = |at: u32| code >> at & 1 != 0;
        Conversion {
            to: scalar(0),
            from: scalar(5),
            rounding: Rounding::ALL[(code >> 10 & 7) as usize % Rounding::ALL.len()],
            integral: flag(14),
            sat: flag(15),
            satfinite: flag(16),
            ftz: flag(17),
            relu: flag(18),
        }
    }

    /// Converts a value, given in the low bits. The result has the destination's width; signed integers are
    /// sign-extended to 64 bits, since PTX lets the destination register be wider than the type.
    #[inline]
    pub fn apply(&self, bits: u64) -> u64 {
        let bits = bits & self.from.mask();
        match (self.from.format(), self.to.format()) {
            (None, None) => self.integer_to_integer(bits),
            (None, Some(_)) => self.integer_to_float(bits),
            (Some(_), None) => self.float_to_integer(bits),
            (Some(_), Some(_)) => self.float_to_float(bits),
        }
    }

    /// The packed forms: converts both sources; the first goes to the upper half.
    pub fn pack(&self, high: u64, low: u64) -> u64 {
        let mask = self.to.mask();
        (self.apply(high) & mask) << self.to.width() | self.apply(low) & mask
    }

    /// The packed forms with a packed source: converts both halves.
    pub fn unpack(&self, pair: u64) -> u64 {
        self.pack(pair >> self.from.width(), pair)
    }

    fn integer_value(&self, bits: u64) -> i128 {
        if self.from.signed() == Some(true) {
            extend(bits, self.from.width()).into()
        } else {
            bits.into()
        }
    }

    fn as_destination(&self, value: i128) -> u64 {
        let bits = value as u64 & self.to.mask();
        if self.to.signed() == Some(true) {
            extend(bits, self.to.width()) as u64
        } else {
            bits
        }
    }

    fn integer_to_integer(&self, bits: u64) -> u64 {
        let value = self.integer_value(bits);
        let (lowest, highest) = self.to.range();
        self.as_destination(if self.sat {
            value.clamp(lowest, highest)
        } else {
            value
        })
    }

    fn integer_to_float(&self, bits: u64) -> u64 {
        let signed = self.from.signed() == Some(true);
        if self.rounding == Rounding::NearestEven && !self.sat {
            let wide = extend(bits, self.from.width());
            match self.to {
                Scalar::F32 if signed => return (wide as f32).bits(),
                Scalar::F32 => return (bits as f32).bits(),
                Scalar::F64 if signed => return (wide as f64).bits(),
                Scalar::F64 => return (bits as f64).bits(),
                _ => {}
            }
        }
        self.round(Number::integer(self.integer_value(bits)))
    }

    fn float_to_integer(&self, bits: u64) -> u64 {
        let value = self.flush_source(bits);
        if value.is_nan() {
            let top = self.from == Scalar::F64 || self.to.width() == 64;
            return if top {
                self.as_destination(1 << (self.to.width() - 1))
            } else {
                0
            };
        }
        let whole = match self.rounding {
            Rounding::NearestEven => value.round_ties_even(),
            Rounding::NearestAway => value.round(),
            Rounding::Zero => value.trunc(),
            Rounding::Down => value.floor(),
            Rounding::Up => value.ceil(),
        };
        let (lowest, highest) = self.to.range();
        // `as` saturates, also at infinities.
        self.as_destination((whole as i128).clamp(lowest, highest))
    }

    fn float_to_float(&self, bits: u64) -> u64 {
        if (self.to, self.from) == (Scalar::Tf32, Scalar::F32)
            && self.rounding == Rounding::NearestAway
        {
            return self.round_word_to_tf32(bits);
        }
        let value = self.flush_source(bits);
        if value.is_nan() {
            return self.finish(self.nan(bits));
        }
        if self.integral {
            let whole = match self.rounding {
                Rounding::NearestEven => value.round_ties_even(),
                Rounding::NearestAway => value.round(),
                Rounding::Zero => value.trunc(),
                Rounding::Down => value.floor(),
                Rounding::Up => value.ceil(),
            };
            return self.round(soft::F64.decode(whole.to_bits()));
        }
        if self.rounding == Rounding::NearestEven && !self.satfinite {
            let rounded = match self.to {
                Scalar::F16 => f16_from_f64(value).bits(),
                Scalar::Bf16 => bf16_from_f64(value).bits(),
                Scalar::F32 => (value as f32).bits(),
                Scalar::F64 => value.to_bits(),
                _ => return self.round(soft::F64.decode(value.to_bits())),
            };
            return self.finish(rounded);
        }
        self.round(soft::F64.decode(value.to_bits()))
    }

    /// `cvt.rna.tf32.f32`: an addition and a mask, also of a NaN, which may become an infinity. `.satfinite` then takes one step from
    /// all that are not finite.
    #[inline]
    fn round_word_to_tf32(&self, bits: u64) -> u64 {
        const STEP: u64 = 1 << 13;
        let size = ((bits & 0x7fff_ffff) + STEP / 2).min(0x7fff_ffff) & !(STEP - 1);
        let size = match self.satfinite && size >= 0x7f80_0000 {
            true => size - STEP,
            false => size,
        };
        bits & 0x8000_0000 | size
    }

    /// What a NaN becomes. To and from f64 it keeps its sign and the upper digits of its payload, and gets its quiet bit; a
    /// conversion that only moves bits leaves it as it is; all others make the canonical one.
    #[inline]
    fn nan(&self, bits: u64) -> u64 {
        use Scalar::*;
        let (to, from) = (
            self.to.format().unwrap_or(soft::F64),
            self.from.format().unwrap_or(soft::F64),
        );
        match (self.from, self.to) {
            // Flushing makes the canonical NaN of f32 first.
            (F32, F64) if self.ftz => 0x7fff_ffff_e000_0000,
            (F64, F32 | F16 | Bf16) | (F32 | F16 | Bf16, F64) => {
                let quiet = 1 << (to.fraction_bits - 1);
                let sign = bits >> (self.from.width() - 1) << (self.to.width() - 1);
                let fraction = bits & ((1 << from.fraction_bits) - 1);
                let payload = match to.fraction_bits.checked_sub(from.fraction_bits) {
                    Some(more) => fraction << more,
                    None => fraction >> (from.fraction_bits - to.fraction_bits),
                };
                sign | to.infinity(false) | quiet | payload
            }
            (Bf16, F32) if !self.ftz => bits << 16,
            (F64, F64) if self.integral => bits | 1 << 51,
            (F32, F32) | (F64, F64) if !self.integral && !self.ftz => bits,
            _ => to.nan(),
        }
    }

    /// Whether subnormal sources become zero. Those that are rounded down or up into f16 do not.
    #[inline]
    fn flushes_source(&self) -> bool {
        let directed = matches!(self.rounding, Rounding::Down | Rounding::Up);
        self.ftz && !(directed && self.to == Scalar::F16)
    }

    /// The source as an f64, exactly, flushed if it is an f32 and the instruction says so.
    #[inline]
    fn flush_source(&self, bits: u64) -> f64 {
        match self.from {
            Scalar::F16 => f16::from_raw(bits).widen(),
            Scalar::Bf16 => bf16::from_raw(bits).widen(),
            Scalar::F32 => f32::from_raw(bits).flush(self.flushes_source()).widen(),
            Scalar::Tf32 => f32::from_raw(bits & !0x1fff).flush(self.ftz).widen(),
            Scalar::E4m3 => super::narrow::e4m3_to_f64(bits as u8),
            Scalar::E5m2 => super::narrow::e5m2_to_f64(bits as u8),
            _ => f64::from_bits(bits),
        }
    }

    fn round(&self, number: Number) -> u64 {
        let format = self.to.format().unwrap_or(soft::F64);
        self.finish(format.encode(number, self.rounding, self.satfinite))
    }

    /// What is done after rounding: flushing, `.sat`, `.relu`.
    #[inline]
    fn finish(&self, bits: u64) -> u64 {
        let mut bits = bits;
        if self.ftz && self.to == Scalar::F32 {
            bits = f32::from_raw(bits).flush(true).bits();
        }
        if self.relu || self.sat {
            let format = self.to.format().unwrap_or(soft::F64);
            let sign = 1u64 << (self.to.width() - 1);
            let magnitude = bits & !sign;
            let nan = format.decode(bits) == Number::Nan;
            let one = ((1u64 << (format.exponent_bits - 1)) - 1)
                << (format.fraction_bits + format.padding);
            if self.sat {
                return if nan || bits & sign != 0 {
                    0
                } else {
                    magnitude.min(one)
                };
            }
            if !nan && bits & sign != 0 {
                return 0;
            }
        }
        bits
    }
}

/// Sign-extends the low `width` bits.
#[inline]
fn extend(bits: u64, width: u32) -> i64 {
    (bits << (64 - width)) as i64 >> (64 - width)
}

#[cfg(test)]
#[path = "convert_tests.rs"]
mod tests;

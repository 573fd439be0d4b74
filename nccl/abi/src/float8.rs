//! The 8-bit floats that NCCL moves and reduces.

use bytemuck::{Pod, Zeroable};

/// How many bits an `f32` has for its fraction.
const FRACTION_OF_F32: u32 = 23;

/// A format of 8 bits: a sign, an exponent and a fraction.
struct Format {
    fraction: u32,
    bias: i32,
    /// The bits of the greatest finite number.
    greatest: u8,
    /// The bits of a NaN.
    nan: u8,
}

const E4M3: Format = Format {
    fraction: 3,
    bias: 7,
    greatest: 0x7e,
    nan: 0x7f,
};

const E5M2: Format = Format {
    fraction: 2,
    bias: 15,
    greatest: 0x7b,
    nan: 0x7f,
};

impl Format {
    /// The nearest number, of two the one with an even fraction; what is beyond the greatest becomes that.
    fn round(&self, value: f32) -> u8 {
        let sign = ((value.to_bits() >> 24) & 0x80) as u8;
        if value.is_nan() {
            return sign | self.nan;
        }
        let magnitude = value.abs();
        if magnitude >= self.widen(self.greatest) {
            return sign | self.greatest;
        }
        // The distance of neighbours: of the numbers with this exponent, or of those below the normal ones.
        let exponent = (magnitude.to_bits() >> FRACTION_OF_F32) as i32 - 127;
        let exponent = exponent.max(1 - self.bias);
        let steps = magnitude * power_of_two(self.fraction as i32 - exponent);
        let steps = steps.round_ties_even() as i32;
        // A fraction that rounds up to the next power of two carries into the exponent.
        let normal = (exponent + self.bias - 1) << self.fraction;
        sign | (normal + steps) as u8
    }

    /// Exactly. The bits are of no infinity or NaN.
    fn widen(&self, bits: u8) -> f32 {
        let fraction = f32::from(bits & ((1 << self.fraction) - 1));
        let exponent = i32::from((bits & 0x7f) >> self.fraction);
        let (whole, exponent) = match exponent {
            0 => (fraction, 1),
            exponent => (fraction + f32::from(1_u8 << self.fraction), exponent),
        };
        let magnitude = whole * power_of_two(exponent - self.bias - self.fraction as i32);
        if bits & 0x80 == 0 {
            magnitude
        } else {
            -magnitude
        }
    }
}

/// Of exponents from -126 to 127.
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << FRACTION_OF_F32)
}

macro_rules! float8 {
    ($(#[$doc:meta])* $name:ident: $format:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Pod, Zeroable)]
        pub struct $name(u8);

        impl $name {
            /// The number with these bits.
            pub const fn from_bits(bits: u8) -> Self {
                $name(bits)
            }

            /// Its bits.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The number that one byte of memory holds.
            pub const fn from_ne_bytes([bits]: [u8; 1]) -> Self {
                $name(bits)
            }

            /// As one byte of memory.
            pub const fn to_ne_bytes(self) -> [u8; 1] {
                [self.0]
            }

            /// The nearest number, of two the one with an even fraction. What is beyond the greatest finite number becomes that, infinities too,
            /// as PTX's `cvt.rn.satfinite` has it; NaN stays NaN.
            pub fn from_f32(value: f32) -> Self {
                $name($format.round(value))
            }
        }
    };
}

float8! {
    /// An element of `ncclFloat8e4m3`: 4 bits of exponent, 3 of fraction, up to 448, no infinities. Two are equal where their bits are.
    ///
    /// ```
    /// use warpsmith_nccl_abi::F8E4M3;
    ///
    /// assert_eq!(F8E4M3::from_f32(1.06).to_f32(), 1.0);
    /// assert_eq!(F8E4M3::from_f32(1e6).to_f32(), 448.0);
    /// ```
    F8E4M3: E4M3
}

float8! {
    /// An element of `ncclFloat8e5m2`: 5 bits of exponent, 2 of fraction, up to 57344. Two are equal where their bits are.
    ///
    /// ```
    /// use warpsmith_nccl_abi::F8E5M2;
    ///
    /// assert_eq!(F8E5M2::from_f32(1.2).to_f32(), 1.25);
    /// assert_eq!(F8E5M2::from_bits(0xfc).to_f32(), f32::NEG_INFINITY);
    /// ```
    F8E5M2: E5M2
}

impl F8E4M3 {
    /// Exactly.
    pub fn to_f32(self) -> f32 {
        match self.0 & 0x7f {
            0x7f => f32::NAN,
            _ => E4M3.widen(self.0),
        }
    }
}

impl F8E5M2 {
    /// Exactly.
    pub fn to_f32(self) -> f32 {
        match self.0 & 0x7f {
            0x7d..=0x7f => f32::NAN,
            0x7c if self.0 & 0x80 == 0 => f32::INFINITY,
            0x7c => f32::NEG_INFINITY,
            _ => E5M2.widen(self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_the_nearest_to_itself() {
        for bits in 0..=u8::MAX {
            let (e4m3, e5m2) = (F8E4M3::from_bits(bits), F8E5M2::from_bits(bits));
            if e4m3.to_f32().is_finite() {
                assert_eq!(F8E4M3::from_f32(e4m3.to_f32()), e4m3);
            }
            if e5m2.to_f32().is_finite() {
                assert_eq!(F8E5M2::from_f32(e5m2.to_f32()), e5m2);
            }
        }
        assert_eq!(F8E4M3::from_bits(0x01).to_f32(), 1.0 / 512.0);
        assert_eq!(F8E4M3::from_bits(0x7e).to_f32(), 448.0);
        assert_eq!(F8E5M2::from_bits(0x7b).to_f32(), 57344.0);
        assert_eq!(F8E5M2::from_bits(0x81).to_f32(), -1.0 / 65536.0);
    }

    #[test]
    fn what_lies_between_goes_to_the_nearest_or_to_the_even_one() {
        for bits in 0..0x7e {
            let (low, high) = (F8E4M3::from_bits(bits), F8E4M3::from_bits(bits + 1));
            let middle = (low.to_f32() + high.to_f32()) / 2.0;
            let even = if bits % 2 == 0 { low } else { high };
            assert_eq!(F8E4M3::from_f32(middle), even);
            assert_eq!(F8E4M3::from_f32(middle.next_down()), low);
            assert_eq!(F8E4M3::from_f32(middle.next_up()), high);
        }
        assert_eq!(F8E5M2::from_f32(f32::NEG_INFINITY).to_f32(), -57344.0);
        assert_eq!(F8E5M2::from_f32(1e-30).to_bits(), 0);
        assert!(F8E5M2::from_f32(f32::NAN).to_f32().is_nan());
        assert!(F8E4M3::from_f32(-f32::NAN).to_f32().is_nan());
    }
}

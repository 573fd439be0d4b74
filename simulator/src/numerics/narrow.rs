//! The 8-bit floating-point formats e4m3 and e5m2 as values; rounding into them is [`soft`](super::soft)'s work.

use half::f16;

/// An e5m2 value: the upper byte of an f16.
pub fn e5m2_to_f64(bits: u8) -> f64 {
    f16::from_bits(u16::from(bits) << 8).to_f64()
}

/// An e4m3 value.
pub fn e4m3_to_f64(bits: u8) -> f64 {
    let sign = if bits & 0x80 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (bits >> 3 & 15, f64::from(bits & 7));
    match (exponent, bits & 7) {
        (15, 7) => f64::NAN,
        (0, _) => sign * fraction / 512.0,
        _ => sign * (8.0 + fraction) * f64::from(1u32 << exponent) / 1024.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::soft::{E4M3, E5M2, F64, Format};
    use super::*;
    use crate::numerics::Rounding;

    #[test]
    fn values_agree_with_the_format() {
        for bits in 0..=255u8 {
            let pairs: [(Format, f64); 2] = [(E4M3, e4m3_to_f64(bits)), (E5M2, e5m2_to_f64(bits))];
            for (format, value) in pairs {
                let exact = F64.encode(format.decode(bits.into()), Rounding::NearestEven, false);
                assert!(
                    value.to_bits() == exact || value.is_nan() && f64::from_bits(exact).is_nan(),
                    "{bits:#x}"
                );
            }
        }
        assert_eq!(e4m3_to_f64(0x7e), 448.0);
        assert_eq!(e5m2_to_f64(0x7b), 57344.0);
    }
}

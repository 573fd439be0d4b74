//! arch sm_80
//! overflow-checks off
//! input ffffffffffffffff ffffffffffffffff 8000000000000000 0 7f7fffff 47efffffe0000000
//! input 1 0 ffffff8000000000 0 cf000000 c7e0000000000000
//! input 0 1 7fffffffffffffff ffffffffffffffff 7f800000 7ff8000000000000
//! input ffffff0000000000 0 ffffff8000000000 1 4f7fffff 43f0000000000000
//! note 128-bit integers to and from floats: rounding, saturation, and u128 that become infinite
use crate::support::*;

pub fn program(x: &[u64; 6]) -> u64 {
    let u = (x[0] as u128) << 64 | x[1] as u128;
    let i = ((x[2] as u128) << 64 | x[3] as u128) as i128;
    let (f, d) = (f32::from_bits(x[4] as u32), f64::from_bits(x[5]));
    let h = (u as f32).mix((u as f64).mix((i as f32).mix((i as f64).mix(0))));
    (f as u128).mix((f as i128).mix((d as u128).mix((d as i128).mix(h))))
}

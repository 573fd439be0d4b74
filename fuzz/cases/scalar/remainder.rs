//! arch sm_70
//! overflow-checks off
//! input 7 40e0000 3fb999999999999a 46293e5939a08cea 0 0
//! input 7f800000 0 7ff0000000000000 3ff0000000000000 1 0
//! input 40e00000 3dcccccd 401c000000000000 3fb999999999999a 0 0
//! input 7149f2ca 40e00000 fff8000000000000 8000000000000000 0 0
//! note the remainder of floats is exact, as the C library's fmod
use crate::support::*;

pub fn program(x: &[u64; 6]) -> u64 {
    let (a, b) = (f32::from_bits(x[0] as u32), f32::from_bits(x[1] as u32));
    let (c, d) = (f64::from_bits(x[2]), f64::from_bits(x[3]));
    let h = (a % b).mix((b % a).mix(0));
    (c % d).mix((d % c).mix(((a as f64) % c).mix(h)))
}

//! arch sm_80
//! overflow-checks off
//! input ffffffffffffffff ffffffffffffffff 8000000000000000 0 7f7fffff 47efffffe0000000
//! input 1 0 ffffff8000000000 0 cf000000 c7e0000000000000
//! input 0 1 7fffffffffffffff ffffffffffffffff 7f800000 7ff8000000000000
//! note signed 128-bit integers of which LLVM finds out that they are not negative, and which it converts as unsigned ones
use crate::support::*;

pub fn program(x: &[u64; 6]) -> u64 {
    let i = ((x[0] as u128) << 64 | x[1] as u128) as i128;
    let log = (i | x[2] as i128).checked_ilog2().unwrap_or(99) as i128;
    let half = (i >> 1) & i128::MAX;
    ((log as f32).to_bits() as u64) << 32 ^ (half as f64).to_bits()
}

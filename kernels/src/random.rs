//! Random inputs that host and device draw alike: element `i` of the sequence `seed` is a pure function of both, so a
//! benchmark can make fresh inputs on the GPU and an oracle can make the same ones on the CPU.

use half::f16;
use warpsmith_device::prelude::*;

/// 32 random bits for element `index` of the sequence `seed` (the finaliser of SplitMix64).
#[inline]
pub fn bits(seed: u64, index: u64) -> u32 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)) as u32
}

/// A number in [-1, 1), a multiple of 2^-23: exact in `f32`.
#[inline]
pub fn unit(seed: u64, index: u64) -> f32 {
    ((bits(seed, index) >> 8) as i32 - (1 << 23)) as f32 * (1.0 / (1 << 23) as f32)
}

/// `out[i] := unit(seed, i)`.
#[kernel(launch_bounds(256))]
pub fn fill_unit(seed: u64, mut out: PerThread<[f32]>) {
    if let Some(out) = out.mine() {
        *out = unit(seed, thread::index() as u64);
    }
}

/// `out[i] := unit(seed, i)`, rounded.
#[kernel(launch_bounds(256))]
pub fn fill_unit_f16(seed: u64, mut out: PerThread<[f16]>) {
    if let Some(out) = out.mine() {
        *out = f16::from_f32(unit(seed, thread::index() as u64));
    }
}

/// `out[i] := bits(seed, i) >> shift`.
#[kernel(launch_bounds(256))]
pub fn fill_bits(seed: u64, shift: u32, mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out = bits(seed, thread::index() as u64) >> shift;
    }
}

/// `out[i] := the low byte of bits(seed, i)`.
#[kernel(launch_bounds(256))]
pub fn fill_bytes(seed: u64, mut out: PerThread<[u8]>) {
    if let Some(out) = out.mine() {
        *out = bits(seed, thread::index() as u64) as u8;
    }
}

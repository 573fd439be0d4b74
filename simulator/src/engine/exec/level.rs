//! Vector instruction sets chosen at run time: every operation is compiled once for each level ([`super::op`]), and one that the machine
//! has is picked when a module is lowered.

/// What differs between the levels beyond the compiler's own choice of instructions.
pub(crate) trait Level {
    /// The level.
    const LEVEL: VectorLevel;

    /// One bit for each lane: whether its value is negative as a signed integer.
    fn signs(lanes: &[i32; 32]) -> u32;
}

/// Any x86-64, or another architecture.
pub(crate) struct Base;
/// AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
pub(crate) struct V3;
/// AVX-512.
#[cfg(target_arch = "x86_64")]
pub(crate) struct V4;

impl Level for Base {
    const LEVEL: VectorLevel = VectorLevel::Base;

    #[inline(always)]
    fn signs(lanes: &[i32; 32]) -> u32 {
        let mut bits = 0;
        for (lane, &value) in lanes.iter().enumerate() {
            bits |= (value as u32 >> 31) << lane;
        }
        bits
    }
}

#[cfg(target_arch = "x86_64")]
impl Level for V3 {
    const LEVEL: VectorLevel = VectorLevel::V3;

    #[inline(always)]
    fn signs(lanes: &[i32; 32]) -> u32 {
        use std::arch::x86_64::{_mm256_castsi256_ps, _mm256_loadu_si256, _mm256_movemask_ps};
        let mut bits = 0;
        for part in 0..4 {
            // SAFETY: the eight values lie inside the array; AVX is there, as a module is lowered for a level that the machine has
            // (`lower::module::load`).
            unsafe {
                let values = _mm256_loadu_si256(lanes.as_ptr().add(part * 8).cast());
                bits |= (_mm256_movemask_ps(_mm256_castsi256_ps(values)) as u32) << (part * 8);
            }
        }
        bits
    }
}

#[cfg(target_arch = "x86_64")]
impl Level for V4 {
    const LEVEL: VectorLevel = VectorLevel::V4;

    #[inline(always)]
    fn signs(lanes: &[i32; 32]) -> u32 {
        use std::arch::x86_64::{_mm512_loadu_si512, _mm512_movepi32_mask};
        // SAFETY: both halves lie inside the array; AVX-512 is there, as a module is lowered for a level that the machine has
        // (`lower::module::load`).
        unsafe {
            let low = _mm512_movepi32_mask(_mm512_loadu_si512(lanes.as_ptr().cast()));
            let high = _mm512_movepi32_mask(_mm512_loadu_si512(lanes.as_ptr().add(16).cast()));
            u32::from(low) | u32::from(high) << 16
        }
    }
}

/// The vector instructions that a module's code may use, the fewest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VectorLevel {
    /// Those that every x86-64 has, or any other architecture.
    Base,
    /// AVX2, FMA, BMI and half-precision conversions: x86-64-v3.
    V3,
    /// AVX-512 too: x86-64-v4.
    V4,
}

impl VectorLevel {
    /// All levels, the lowest first.
    pub const ALL: [VectorLevel; 3] = [VectorLevel::Base, VectorLevel::V3, VectorLevel::V4];

    /// The highest level that this machine has.
    #[cfg(target_arch = "x86_64")]
    pub fn of_machine() -> VectorLevel {
        macro_rules! has {
            ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
        }
        if !has!("avx2" "fma" "bmi1" "bmi2" "lzcnt" "popcnt" "f16c") {
            VectorLevel::Base
        } else if !has!("avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512cd") {
            VectorLevel::V3
        } else {
            VectorLevel::V4
        }
    }

    /// The highest level that this machine has.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn of_machine() -> VectorLevel {
        VectorLevel::Base
    }
}

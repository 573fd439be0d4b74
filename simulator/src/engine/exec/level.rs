//! Vector instruction sets chosen at run time: every operation is compiled once for each level, and the level that the
//! machine has is picked when a module is lowered ([`super::op`]).

use std::sync::OnceLock;

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
            // SAFETY: the eight values lie inside the array; AVX is there, else `op::vector` does not pick this level.
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
        // SAFETY: both halves lie inside the array; AVX-512 is there, else `op::vector` does not pick this level.
        unsafe {
            let low = _mm512_movepi32_mask(_mm512_loadu_si512(lanes.as_ptr().cast()));
            let high = _mm512_movepi32_mask(_mm512_loadu_si512(lanes.as_ptr().add(16).cast()));
            u32::from(low) | u32::from(high) << 16
        }
    }
}

/// The levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum VectorLevel {
    Base,
    V3,
    V4,
}

/// The machine's level; `WARPSMITH_SIMULATOR_ISA=base|avx2|avx512` lowers it.
pub(crate) fn level() -> VectorLevel {
    static LEVEL: OnceLock<VectorLevel> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let wanted = match std::env::var("WARPSMITH_SIMULATOR_ISA").as_deref() {
            Ok("base") => VectorLevel::Base,
            Ok("avx2") => VectorLevel::V3,
            _ => VectorLevel::V4,
        };
        wanted.min(detected())
    })
}

#[cfg(target_arch = "x86_64")]
fn detected() -> VectorLevel {
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

#[cfg(not(target_arch = "x86_64"))]
fn detected() -> VectorLevel {
    VectorLevel::Base
}

//! Vector instruction sets chosen at run time: every operation is compiled once for each level, and the level that the
//! machine has is picked when a module is lowered.

use std::sync::OnceLock;

use super::warp::{Exec, Flow, Inst, Warp};
use crate::engine::ops::memory::by_space;
use crate::engine::ops::resolve::{Access, Found};

/// What differs between the levels beyond the compiler's own choice of instructions.
pub(crate) trait Isa {
    /// One bit for each lane: whether its value is negative as a signed integer.
    unsafe fn signs(lanes: &[i32; 32]) -> u32;

    /// Resolves a memory access in the space that the instruction names: not inlined, as it is large.
    unsafe fn find(warp: &mut Warp, inst: &Inst, size: u32, access: Access) -> Found;
}

/// Any x86-64, or another architecture.
pub(crate) struct Base;
/// AVX2 and FMA.
pub(crate) struct V3;
/// AVX-512.
pub(crate) struct V4;

impl Isa for Base {
    #[inline(always)]
    unsafe fn signs(lanes: &[i32; 32]) -> u32 {
        let mut bits = 0;
        for (lane, &value) in lanes.iter().enumerate() {
            bits |= (value as u32 >> 31) << lane;
        }
        bits
    }

    #[inline(always)]
    unsafe fn find(warp: &mut Warp, inst: &Inst, size: u32, access: Access) -> Found {
        // SAFETY: the caller's promise is the same.
        unsafe { find_base(warp, inst, size, access) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Isa for V3 {
    #[inline(always)]
    unsafe fn signs(lanes: &[i32; 32]) -> u32 {
        use std::arch::x86_64::{_mm256_castsi256_ps, _mm256_loadu_si256, _mm256_movemask_ps};
        let mut bits = 0;
        for part in 0..4 {
            // SAFETY: the eight values lie inside the array; AVX is there, else this level is not picked.
            unsafe {
                let values = _mm256_loadu_si256(lanes.as_ptr().add(part * 8).cast());
                bits |= (_mm256_movemask_ps(_mm256_castsi256_ps(values)) as u32) << (part * 8);
            }
        }
        bits
    }

    #[inline(always)]
    unsafe fn find(warp: &mut Warp, inst: &Inst, size: u32, access: Access) -> Found {
        // SAFETY: the caller's promise is the same; AVX2 is there, else this level is not picked.
        unsafe { find_v3(warp, inst, size, access) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Isa for V4 {
    #[inline(always)]
    unsafe fn signs(lanes: &[i32; 32]) -> u32 {
        use std::arch::x86_64::{_mm512_loadu_si512, _mm512_movepi32_mask};
        // SAFETY: both halves lie inside the array; AVX-512 is there, else this level is not picked.
        unsafe {
            let low = _mm512_movepi32_mask(_mm512_loadu_si512(lanes.as_ptr().cast()));
            let high = _mm512_movepi32_mask(_mm512_loadu_si512(lanes.as_ptr().add(16).cast()));
            u32::from(low) | u32::from(high) << 16
        }
    }

    #[inline(always)]
    unsafe fn find(warp: &mut Warp, inst: &Inst, size: u32, access: Access) -> Found {
        // SAFETY: the caller's promise is the same; AVX-512 is there, else this level is not picked.
        unsafe { find_v4(warp, inst, size, access) }
    }
}

/// An operation on a warp.
pub(crate) trait Op {
    /// Executes it for the lanes of `warp.mask`.
    ///
    /// # Safety
    /// The instruction's operands are offsets inside the warp's current frame and constants, of the widths this operation
    /// uses, as the lowering has laid them out.
    unsafe fn run<I: Isa>(warp: &mut Warp, inst: &Inst) -> Flow;
}

unsafe fn run_base<O: Op>(warp: &mut Warp, inst: &Inst) -> Flow {
    // SAFETY: the caller's promise is the same.
    unsafe { O::run::<Base>(warp, inst) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
unsafe fn run_v3<O: Op>(warp: &mut Warp, inst: &Inst) -> Flow {
    // SAFETY: the caller's promise is the same.
    unsafe { O::run::<V3>(warp, inst) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"
)]
unsafe fn run_v4<O: Op>(warp: &mut Warp, inst: &Inst) -> Flow {
    // SAFETY: the caller's promise is the same.
    unsafe { O::run::<V4>(warp, inst) }
}

#[inline(never)]
unsafe fn find_base(warp: &mut Warp, inst: &Inst, size: u32, access: Access) -> Found {
    // SAFETY: the caller's promise is the same.
    unsafe { by_space(warp, inst, size, access) }
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
unsafe fn find_v3(warp: &mut Warp, inst: &Inst, size: u32, access: Access) -> Found {
    // SAFETY: the caller's promise is the same.
    unsafe { by_space(warp, inst, size, access) }
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"
)]
unsafe fn find_v4(warp: &mut Warp, inst: &Inst, size: u32, access: Access) -> Found {
    // SAFETY: the caller's promise is the same.
    unsafe { by_space(warp, inst, size, access) }
}

/// The levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Base,
    V3,
    V4,
}

/// The machine's level; `WARPSMITH_SIMULATOR_ISA=base|avx2|avx512` lowers it.
pub(crate) fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let wanted = match std::env::var("WARPSMITH_SIMULATOR_ISA").as_deref() {
            Ok("base") => Level::Base,
            Ok("avx2") => Level::V3,
            _ => Level::V4,
        };
        wanted.min(detected())
    })
}

#[cfg(target_arch = "x86_64")]
fn detected() -> Level {
    macro_rules! has {
        ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
    }
    if !has!("avx2" "fma" "bmi1" "bmi2" "lzcnt" "popcnt" "f16c") {
        Level::Base
    } else if !has!("avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512cd") {
        Level::V3
    } else {
        Level::V4
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detected() -> Level {
    Level::Base
}

/// The operation compiled for this machine.
pub(crate) fn vector<O: Op>() -> Exec {
    match level() {
        #[cfg(target_arch = "x86_64")]
        Level::V4 => run_v4::<O>,
        #[cfg(target_arch = "x86_64")]
        Level::V3 => run_v3::<O>,
        _ => run_base::<O>,
    }
}

/// The operation compiled once, for those that gain nothing from vectors.
pub(crate) fn scalar<O: Op>() -> Exec {
    run_base::<O>
}

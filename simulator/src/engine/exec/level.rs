//! Vector instruction sets chosen at run time: every operation is compiled once for each level, and the level that the
//! machine has is picked when a module is lowered.

use std::sync::OnceLock;

use super::cluster::Cluster;
use super::operand::{Operands, Slot};
use super::warp::{Exec, Flow, Inst, Warp};

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
            // SAFETY: the eight values lie inside the array; AVX is there, else `vector` does not pick this level.
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
        // SAFETY: both halves lie inside the array; AVX-512 is there, else `vector` does not pick this level.
        unsafe {
            let low = _mm512_movepi32_mask(_mm512_loadu_si512(lanes.as_ptr().cast()));
            let high = _mm512_movepi32_mask(_mm512_loadu_si512(lanes.as_ptr().add(16).cast()));
            u32::from(low) | u32::from(high) << 16
        }
    }
}

/// An operation on a warp.
pub(crate) trait Op {
    /// Its operands.
    type Operands: Operands;

    /// Executes it for the lanes of `warp.mask`.
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, operands: Self::Operands) -> Flow;
}

unsafe fn run_base<O: Op>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Inst) -> Flow {
    // SAFETY: the instruction was emitted with this operation's operands, the caller says.
    let operands = unsafe { inst.operands::<O::Operands>(warp) };
    O::run::<Base>(warp, cluster, operands)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
unsafe fn run_v3<O: Op>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Inst) -> Flow {
    // SAFETY: the instruction was emitted with this operation's operands, the caller says.
    let operands = unsafe { inst.operands::<O::Operands>(warp) };
    O::run::<V3>(warp, cluster, operands)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"
)]
unsafe fn run_v4<O: Op>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Inst) -> Flow {
    // SAFETY: the instruction was emitted with this operation's operands, the caller says.
    let operands = unsafe { inst.operands::<O::Operands>(warp) };
    O::run::<V4>(warp, cluster, operands)
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

/// A compiled operation and the operands it expects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    pub exec: Exec,
    pub slots: &'static [Slot],
}

/// The operation compiled for this machine.
pub(crate) fn vector<O: Op>() -> Code {
    let exec: Exec = match level() {
        #[cfg(target_arch = "x86_64")]
        VectorLevel::V4 => run_v4::<O>,
        #[cfg(target_arch = "x86_64")]
        VectorLevel::V3 => run_v3::<O>,
        _ => run_base::<O>,
    };
    Code {
        exec,
        slots: O::Operands::SLOTS,
    }
}

/// The operation compiled once, for those that gain nothing from vectors.
pub(crate) fn scalar<O: Op>() -> Code {
    Code {
        exec: run_base::<O>,
        slots: O::Operands::SLOTS,
    }
}

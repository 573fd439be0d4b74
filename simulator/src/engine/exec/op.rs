//! Operations: what executes an instruction, compiled for the vector instructions of the machine.

use super::cluster::Cluster;
use super::level::{Base, Level, VectorLevel, level};
#[cfg(target_arch = "x86_64")]
use super::level::{V3, V4};
use super::operand::{Operands, Slot};
use super::warp::{Exec, Flow, Inst, Warp};

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

//! Operations: what executes an instruction, compiled for each level of vector instructions.

use super::cluster::Cluster;
use super::level::{Base, Level, VectorLevel};
#[cfg(target_arch = "x86_64")]
use super::level::{V3, V4};
use super::operand::{Operands, Slot};
use super::warp::{Flow, Warp, erase};
use crate::engine::dataflow::Dataflow;
use crate::engine::instruction::{INLINE_WORDS, Inst, Operation};

/// An operation on a warp.
pub(crate) trait Op {
    /// Its operands.
    type Operands: Operands;

    /// How its results depend on its sources.
    const DATAFLOW: Dataflow = Dataflow::Decides;

    /// Executes it for the lanes of `warp.mask`.
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, operands: Self::Operands) -> Flow;
}

/// The operands of an instruction.
///
/// # Safety
/// The instruction was emitted with operands of this type, and its function is the warp's current one.
#[inline(always)]
unsafe fn operands<O: Operands>(inst: &Inst, warp: &Warp) -> O {
    // SAFETY: `Operands` are structs of `u32`; the lowering laid out the words in this order, in the instruction where they fit,
    // else in the function's lists (`allocate::finish`).
    unsafe {
        if size_of::<O>() <= INLINE_WORDS * 4 {
            inst.words.as_ptr().cast::<O>().read()
        } else {
            warp.lists.add(inst.words[0] as usize).cast::<O>().read()
        }
    }
}

unsafe fn run_base<O: Op>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Inst) -> Flow {
    // SAFETY: the instruction was emitted with this operation's operands (the condition of `Exec`).
    let operands = unsafe { operands::<O::Operands>(inst, warp) };
    O::run::<Base>(warp, cluster, operands)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
unsafe fn run_v3<O: Op>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Inst) -> Flow {
    // SAFETY: the instruction was emitted with this operation's operands (the condition of `Exec`).
    let operands = unsafe { operands::<O::Operands>(inst, warp) };
    O::run::<V3>(warp, cluster, operands)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"
)]
unsafe fn run_v4<O: Op>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Inst) -> Flow {
    // SAFETY: the instruction was emitted with this operation's operands (the condition of `Exec`).
    let operands = unsafe { operands::<O::Operands>(inst, warp) };
    O::run::<V4>(warp, cluster, operands)
}

/// An operation, compiled for each level of vector instructions, and the operands it expects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    base: Operation,
    #[cfg(target_arch = "x86_64")]
    v3: Operation,
    #[cfg(target_arch = "x86_64")]
    v4: Operation,
    pub slots: &'static [Slot],
    pub dataflow: Dataflow,
}

impl Code {
    /// The operation as it is compiled for a level. A module is lowered for a level that the machine has (`lower::module::load`).
    pub fn at(&self, level: VectorLevel) -> Operation {
        match level {
            #[cfg(target_arch = "x86_64")]
            VectorLevel::V4 => self.v4,
            #[cfg(target_arch = "x86_64")]
            VectorLevel::V3 => self.v3,
            _ => self.base,
        }
    }
}

/// The operation compiled for each level.
pub(crate) fn vector<O: Op>() -> Code {
    Code {
        base: erase(run_base::<O>),
        #[cfg(target_arch = "x86_64")]
        v3: erase(run_v3::<O>),
        #[cfg(target_arch = "x86_64")]
        v4: erase(run_v4::<O>),
        slots: O::Operands::SLOTS,
        dataflow: O::DATAFLOW,
    }
}

/// The operation compiled once, for those that gain nothing from vectors.
pub(crate) fn scalar<O: Op>() -> Code {
    let base = erase(run_base::<O>);
    Code {
        base,
        #[cfg(target_arch = "x86_64")]
        v3: base,
        #[cfg(target_arch = "x86_64")]
        v4: base,
        slots: O::Operands::SLOTS,
        dataflow: O::DATAFLOW,
    }
}

//! `alloca stacksave stackrestore`, and instructions that only tune a device: `setmaxnreg`, `createpolicy`.

use super::control::nothing;
use super::family::Family;
use super::lowering::emit;
use super::moves;
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{LANES, Read, Write, lanes_of, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Builder, Width};
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &[
        "alloca",
        "stacksave",
        "stackrestore",
        "setmaxnreg",
        "createpolicy",
    ],
    read,
};

operands! {
    pub(crate) struct AllocateOperands { d: Write<u64>, size: Read<u64>, align: u32 }
    pub(crate) struct SaveOperands { d: Write<u64> }
    pub(crate) struct RestoreOperands { top: Read<u64> }
}

/// `alloca`. All lanes get the same offset, enough for the largest.
struct Allocate;

impl Op for Allocate {
    type Operands = AllocateOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let sizes = o.size.lanes(warp);
        let largest = lanes_of(warp.mask)
            .map(|lane| sizes[lane])
            .max()
            .unwrap_or(0);
        let mut starts = [0u64; LANES];
        let frame = warp.frame as usize;
        for entry in 0..warp.frames[frame].callers.len() {
            let (with, caller) = warp.frames[frame].callers[entry];
            if with & warp.mask == 0 {
                continue;
            }
            let start = caller.local_top.checked_next_multiple_of(o.align.max(16));
            let end = start
                .zip(u32::try_from(largest).ok())
                .and_then(|(start, size)| start.checked_add(size));
            let (Some(start), Some(end)) = (start, end.filter(|&end| warp.grow_local(end))) else {
                let lane = warp.mask.trailing_zeros() as usize;
                let message = format!("stack overflow in an alloca of {largest} bytes");
                return warp.fail(FaultKind::StackOverflow, lane, message);
            };
            warp.frames[frame].callers[entry].1.local_top = end;
            for lane in lanes_of(with) {
                starts[lane] = start.into();
            }
        }
        o.d.put(warp, &starts);
        Flow::Next
    }
}

/// `stacksave`
struct Save;

impl Op for Save {
    type Operands = SaveOperands;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let tops = warp.frames[warp.frame as usize].each_lane(|caller| caller.local_top);
        o.d.put(warp, &tops.map(u64::from));
        Flow::Next
    }
}

/// `stackrestore`: only when all lanes that share a stack are here, as the others may still use what lies above.
struct Restore;

impl Op for Restore {
    type Operands = RestoreOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let tops = *o.top.lanes(warp);
        let mask = warp.mask;
        for (with, caller) in &mut warp.frames[warp.frame as usize].callers {
            let saved = lanes_of(*with).map(|lane| tops[lane]).max().unwrap_or(0);
            if *with & !mask == 0 && saved <= u64::from(caller.local_top) {
                caller.local_top = saved as u32;
            }
        }
        Flow::Next
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    match form.opcode() {
        // A policy is a hint for caches: any value will do.
        "createpolicy" => {
            form.ignore_tuning();
            let code = moves::code(Width::W64)?;
            Some(Lowering::new(move |cx, inst| {
                let d = cx.dst(&inst.operands[0], Width::W64)?;
                let zero = cx.constant(0, Width::W64);
                cx.emit_fields(code, &[d, zero]);
                Ok(())
            }))
        }
        "setmaxnreg" => Some(nothing(form)),
        opcode => {
            let ty = form.ty().filter(|ty| ty.width() == 64)?;
            Some(match opcode {
                "alloca" => Lowering::new(allocate),
                "stacksave" => emit(scalar::<Save>(), ty, &[]),
                _ => Lowering::new(move |cx, inst| {
                    let a = cx.src(&inst.operands[0], ty)?;
                    cx.emit_fields(scalar::<Restore>(), &[a]);
                    Ok(())
                }),
            })
        }
    }
}

fn allocate<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let align = match inst.operands.get(2).map(|o| &o.kind) {
        None => 16,
        Some(OperandKind::Int(align)) if (1..=1 << 16).contains(align) => *align as u32,
        _ => return Err(Error::new(inst.at, "expected a constant alignment")),
    };
    if !align.is_power_of_two() {
        return Err(Error::new(inst.at, "an alignment is a power of two"));
    }
    let (d, a) = (
        cx.dst(&inst.operands[0], Width::W64)?,
        cx.src(&inst.operands[1], Ty::B64)?,
    );
    cx.emit_fields_with(scalar::<Allocate>(), &[d, a], &[align]);
    Ok(())
}

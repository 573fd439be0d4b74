//! `alloca stacksave stackrestore`, and instructions that only tune a device: `setmaxnreg`, `griddepcontrol`, `createpolicy`.

use super::control::nothing;
use super::family::Family;
use super::lowering::emit;
use super::moves;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{LANES, Read, Write, lanes_of, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::accepted::Lowering;
use crate::engine::lower::form::FormReader;
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
        "griddepcontrol",
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
        let frame = &warp.frames[warp.frame as usize];
        let start = frame.local_top.next_multiple_of(o.align.max(16));
        let end = u32::try_from(largest)
            .ok()
            .and_then(|size| start.checked_add(size));
        let Some(end) = end.filter(|&end| warp.grow_local(end)) else {
            let lane = warp.mask.trailing_zeros() as usize;
            let message = format!("stack overflow in an alloca of {largest} bytes");
            return warp.fail(FaultKind::StackOverflow, lane, message);
        };
        let frame = warp.frame as usize;
        warp.frames[frame].local_top = end;
        o.d.put(warp, &[u64::from(start); LANES]);
        Flow::Next
    }
}

/// `stacksave`
struct Save;

impl Op for Save {
    type Operands = SaveOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let top = warp.frames[warp.frame as usize].local_top;
        o.d.put(warp, &[u64::from(top); LANES]);
        Flow::Next
    }
}

/// `stackrestore`: only when all lanes of the frame are here, as the others may still use what lies above.
struct Restore;

impl Op for Restore {
    type Operands = RestoreOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let tops = o.top.lanes(warp);
        let saved = lanes_of(warp.mask)
            .map(|lane| tops[lane])
            .max()
            .unwrap_or(0);
        let mask = warp.mask;
        let frame = &mut warp.frames[warp.frame as usize];
        if frame.lanes & !mask == 0 && saved <= u64::from(frame.local_top) {
            frame.local_top = saved as u32;
        }
        Flow::Next
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    match form.opcode() {
        // A policy is a hint for caches: any value will do.
        "createpolicy" => {
            form.ignore_all();
            let code = moves::code(Width::W64)?;
            Some(Lowering::new(move |cx, inst| {
                let d = cx.dst(&inst.operands[0], Width::W64)?;
                let zero = cx.constant(0, Width::W64);
                cx.emit_fields(code, &[d, zero]);
                Ok(())
            }))
        }
        "setmaxnreg" | "griddepcontrol" => Some(nothing(form)),
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

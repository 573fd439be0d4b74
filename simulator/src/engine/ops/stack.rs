//! `alloca stacksave stackrestore`, and instructions that only tune a device: `setmaxnreg`, `griddepcontrol`, `createpolicy`.

use super::moves;
use crate::engine::exec::level::{Level, scalar};
use crate::engine::exec::lanes::{LANES, lanes_of, put, src};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

/// `alloca`: `a` the size, `x` the alignment. All lanes get the same offset, enough for the largest.
struct Allocate;

impl WordsOp for Allocate {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: both operands have 64 bits.
        unsafe {
            let sizes = src::<u64>(warp, inst.a);
            let largest = lanes_of(warp.mask)
                .map(|lane| sizes[lane])
                .max()
                .unwrap_or(0);
            let frame = &warp.frames[warp.frame as usize];
            let start = frame.local_top.next_multiple_of(inst.x.max(16));
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
            put(warp, inst.d, &[u64::from(start); LANES]);
        }
        Flow::Next
    }
}

/// `stacksave`.
struct Save;

impl WordsOp for Save {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let top = warp.frames[warp.frame as usize].local_top;
        // SAFETY: the destination has 64 bits.
        unsafe { put(warp, inst.d, &[u64::from(top); LANES]) }
        Flow::Next
    }
}

/// `stackrestore`: only when all lanes of the frame are here, as the others may still use what lies above.
struct Restore;

impl WordsOp for Restore {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the source has 64 bits.
        let tops = unsafe { src::<u64>(warp, inst.a) };
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

const B64: Ty = Ty {
    kind: Kind::Bits,
    bits: 64,
    packed: 1,
};

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let none = Field::NONE;
    match inst.opcode {
        "alloca" | "stacksave" | "stackrestore" => {
            modifiers
                .ty()
                .filter(|t| t.width() == 64)
                .ok_or_else(|| unknown(inst))?;
            modifiers.finish(inst)?;
        }
        "setmaxnreg" => {
            modifiers
                .any(&["inc", "dec"])
                .ok_or_else(|| unknown(inst))?;
            modifiers.flag("sync");
            modifiers.flag("aligned");
            modifiers.ty();
            modifiers.finish(inst)?;
        }
        "griddepcontrol" => {
            modifiers
                .any(&["launch_dependents", "wait"])
                .ok_or_else(|| unknown(inst))?;
            modifiers.finish(inst)?;
        }
        _ => {}
    }
    match inst.opcode {
        "alloca" => {
            expect_operands(inst, &[2, 3])?;
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
                cx.src(&inst.operands[1], B64)?,
            );
            cx.emit_untyped(scalar::<Allocate>(), d, a, none, none).x = Link::Raw(align);
        }
        "stacksave" => {
            expect_operands(inst, &[1])?;
            let d = cx.dst(&inst.operands[0], Width::W64)?;
            cx.emit_untyped(scalar::<Save>(), d, none, none, none);
        }
        "stackrestore" => {
            expect_operands(inst, &[1])?;
            let a = cx.src(&inst.operands[0], B64)?;
            cx.emit_untyped(scalar::<Restore>(), none, a, none, none);
        }
        "createpolicy" => {
            // A policy is a hint for caches: any value will do.
            let target = inst.operands.first().ok_or_else(|| unknown(inst))?;
            let d = cx.dst(target, Width::W64)?;
            let zero = cx.constant(0, Width::W64);
            let exec = moves::exec(Width::W64).ok_or_else(|| unknown(inst))?;
            cx.emit_untyped(exec, d, zero, none, none);
        }
        _ => super::control::emit_nothing(cx),
    }
    Ok(())
}

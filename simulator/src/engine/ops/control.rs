//! `bra brx ret exit trap brkpt nanosleep pmevent`.

use crate::engine::exec::level::{Level, scalar};
use crate::engine::exec::lanes::{lanes_of, src};
use crate::engine::exec::schedule::Wait;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Control, Field, Link, Symbol, expect_operands};
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

struct Branch;

impl WordsOp for Branch {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        if warp.mask == warp.active {
            warp.pc = inst.x;
            return Flow::Jump;
        }
        warp.diverge(warp.mask, inst.x);
        Flow::Jump
    }
}

struct Indexed;

impl WordsOp for Indexed {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the index has 32 bits; the list starts with its length.
        unsafe {
            let count = warp.list(inst.x, 1)[0];
            let targets = warp.list(inst.x + 1, count as usize);
            let indices = *src::<u32>(warp, inst.a);
            let others = warp.active & !warp.mask;
            let (frame, next) = (warp.frame, warp.pc + 1);
            let mut rest = warp.mask;
            for lane in lanes_of(warp.mask) {
                if indices[lane] >= count {
                    let message = format!(
                        "brx.idx with index {} in a list of {count} targets",
                        indices[lane]
                    );
                    return warp.fail(FaultKind::InvalidProgramCounter, lane, message);
                }
            }
            if others != 0 {
                warp.add_ready(others, next, frame);
            }
            while rest != 0 {
                let index = indices[rest.trailing_zeros() as usize];
                let same = lanes_of(rest)
                    .filter(|&l| indices[l] == index)
                    .fold(0, |mask, lane| mask | 1 << lane);
                rest &= !same;
                if rest == 0 && warp.groups.is_empty() {
                    // All go the same way.
                    warp.pc = targets[index as usize];
                    return Flow::Jump;
                }
                warp.add_ready(same, targets[index as usize], frame);
            }
            warp.active = 0;
            warp.fuel -= 1;
            Flow::Leave
        }
    }
}

struct Return;

impl WordsOp for Return {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, _: &Words) -> Flow {
        // SAFETY: frames are made by calls only.
        unsafe { warp.ret() }
    }
}

struct Exit;

impl WordsOp for Exit {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, _: &Words) -> Flow {
        warp.exit(false);
        Flow::Leave
    }
}

struct Trap;

impl WordsOp for Trap {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, _: &Words) -> Flow {
        let lane = warp.mask.trailing_zeros() as usize;
        warp.fail(FaultKind::Trap, lane, "trap instruction executed")
    }
}

struct Breakpoint;

impl WordsOp for Breakpoint {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, _: &Words) -> Flow {
        let lane = warp.mask.trailing_zeros() as usize;
        warp.fail(FaultKind::Breakpoint, lane, "breakpoint without a debugger")
    }
}

/// Gives way to everybody else.
struct Sleep;

impl WordsOp for Sleep {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, _: &Words) -> Flow {
        warp.polls();
        let others = warp.active & !warp.mask;
        warp.pc += 1;
        if others != 0 {
            let (pc, frame) = (warp.pc, warp.frame);
            warp.add_ready(others, pc, frame);
            warp.active = warp.mask;
        }
        if warp.groups.iter().all(|g| g.wait != Wait::Ready) {
            // Nobody else in this warp: on to the next warp.
            warp.fuel = warp.fuel.min(0);
            warp.polled = i32::MAX / 4;
        } else {
            warp.rotated = true;
        }
        warp.tick += 1;
        warp.park(Wait::Ready);
        Flow::Leave
    }
}

struct Nothing;

impl WordsOp for Nothing {
    #[inline(always)]
    unsafe fn run<L: Level>(_: &mut Warp, cluster: &mut Cluster<'_>, _: &Words) -> Flow {
        Flow::Next
    }
}

/// Emits a return from the function.
pub(crate) fn emit_return(cx: &mut Builder<'_, '_>) {
    let none = Field::NONE;
    cx.emit_untyped(scalar::<Return>(), none, none, none, none).code = Control::End;
}

/// Emits an instruction that does nothing.
pub(crate) fn emit_nothing(cx: &mut Builder<'_, '_>) {
    let none = Field::NONE;
    cx.emit_untyped(scalar::<Nothing>(), none, none, none, none);
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    if matches!(inst.opcode, "bra" | "brx" | "ret") {
        modifiers.flag("uni");
    }
    let none = Field::NONE;
    match inst.opcode {
        "bra" => {
            modifiers.finish(inst)?;
            expect_operands(inst, &[1])?;
            let OperandKind::Name(name) = inst.operands[0].kind else {
                return Err(Error::new(inst.operands[0].at, "expected a label"));
            };
            let label = cx.label(name, inst.operands[0].at)?;
            let lowered = cx.emit_untyped(scalar::<Branch>(), none, none, none, none);
            lowered.x = Link::Label(label);
            lowered.control = Control::Jump;
        }
        "brx" => {
            if !modifiers.flag("idx") {
                return Err(unknown(inst));
            }
            modifiers.finish(inst)?;
            expect_operands(inst, &[2])?;
            let index = cx.src(
                &inst.operands[0],
                Ty {
                    kind: Kind::Unsigned,
                    bits: 32,
                    packed: 1,
                },
            )?;
            let OperandKind::Name(name) = inst.operands[1].kind else {
                return Err(Error::new(
                    inst.operands[1].at,
                    "expected the label of a list of branch targets",
                ));
            };
            let Some(Symbol::Targets(labels)) = cx.find(name) else {
                return Err(Error::new(
                    inst.operands[1].at,
                    format!("`{name}` is not a list of branch targets"),
                ));
            };
            cx.label_lists.push(labels);
            let list = cx.label_lists.len() as u32 - 1;
            let lowered = cx.emit_untyped(scalar::<Indexed>(), none, index, none, none);
            lowered.x = Link::Labels(list);
            lowered.code = Control::Switch;
        }
        "ret" => {
            modifiers.finish(inst)?;
            emit_return(cx);
        }
        "exit" => {
            modifiers.finish(inst)?;
            cx.emit_untyped(scalar::<Exit>(), none, none, none, none).code = Control::End;
        }
        "trap" => {
            modifiers.finish(inst)?;
            cx.emit_untyped(scalar::<Trap>(), none, none, none, none).code = Control::End;
        }
        "brkpt" => {
            modifiers.finish(inst)?;
            cx.emit_untyped(scalar::<Breakpoint>(), none, none, none, none);
        }
        "nanosleep" => {
            let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
            modifiers.finish(inst)?;
            expect_operands(inst, &[1])?;
            let a = cx.src(&inst.operands[0], ty)?;
            cx.emit_untyped(scalar::<Sleep>(), none, a, none, none);
        }
        _ => {
            modifiers.flag("mask");
            modifiers.finish(inst)?;
            emit_nothing(cx);
        }
    }
    Ok(())
}

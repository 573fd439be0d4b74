//! `bra brx ret exit trap brkpt nanosleep pmevent`.

use super::family::Family;
use super::wgmma_completion;
use crate::engine::access::completion::complete;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::frame::NO_FRAME;
use crate::engine::exec::group_queue::Completed;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Label, Labels, Read, lanes_of, operands};
use crate::engine::exec::wait::Wait;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Control, Symbol, expect_operands};
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &[
        "bra",
        "brx",
        "ret",
        "exit",
        "trap",
        "brkpt",
        "nanosleep",
        "pmevent",
    ],
    lower,
};

operands! {
    pub(crate) struct BranchOperands { target: Label }
    pub(crate) struct IndexedOperands { index: Read<u32>, targets: Labels }
}

/// `bra`
struct Branch;

impl Op for Branch {
    type Operands = BranchOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if warp.mask == warp.active {
            warp.pc = o.target.pc();
            return Flow::Jump;
        }
        warp.diverge(warp.mask, o.target.pc());
        Flow::Jump
    }
}

/// `brx.idx`
struct Indexed;

impl Op for Indexed {
    type Operands = IndexedOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let indices = *o.index.lanes(warp);
        let count = o.targets.len();
        let others = warp.active & !warp.mask;
        let (frame, next) = (warp.frame, warp.pc + 1);
        if let Some(lane) = lanes_of(warp.mask).find(|&lane| indices[lane] as usize >= count) {
            let message = format!(
                "brx.idx with index {} in a list of {count} targets",
                indices[lane]
            );
            return warp.fail(FaultKind::InvalidProgramCounter, lane, message);
        }
        if others != 0 {
            warp.add_ready(others, next, frame);
        }
        let mut rest = warp.mask;
        while rest != 0 {
            let index = indices[rest.trailing_zeros() as usize];
            let same = lanes_of(rest)
                .filter(|&l| indices[l] == index)
                .fold(0, |mask, lane| mask | 1 << lane);
            rest &= !same;
            let target = o.targets.get(warp, index as usize).pc();
            if rest == 0 && warp.groups.is_empty() {
                // All go the same way.
                warp.pc = target;
                return Flow::Jump;
            }
            warp.add_ready(same, target, frame);
        }
        warp.active = 0;
        warp.fuel -= 1;
        Flow::Leave
    }
}

/// `ret`
struct Return;

impl Op for Return {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        let exits = warp.frames[warp.frame as usize].parent == NO_FRAME;
        if exits && complete(warp, cluster, warp.mask, Completed::All) == Flow::Fault {
            return Flow::Fault;
        }
        match wgmma_completion::leave(warp, cluster, exits) {
            Flow::Next => warp.ret(cluster),
            flow => flow,
        }
    }
}

/// `exit`
struct Exit;

impl Op for Exit {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        if complete(warp, cluster, warp.mask, Completed::All) == Flow::Fault {
            return Flow::Fault;
        }
        match wgmma_completion::leave(warp, cluster, true) {
            Flow::Next => {
                warp.exit(cluster, false);
                Flow::Leave
            }
            flow => flow,
        }
    }
}

/// `trap`
struct Trap;

impl Op for Trap {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, (): ()) -> Flow {
        let lane = warp.mask.trailing_zeros() as usize;
        warp.fail(FaultKind::Trap, lane, "trap instruction executed")
    }
}

/// `brkpt`
struct Breakpoint;

impl Op for Breakpoint {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, (): ()) -> Flow {
        let lane = warp.mask.trailing_zeros() as usize;
        warp.fail(FaultKind::Breakpoint, lane, "breakpoint without a debugger")
    }
}

/// `nanosleep`: gives way to everybody else.
struct Sleep;

impl Op for Sleep {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, (): ()) -> Flow {
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

/// An instruction that only tunes a device.
struct Nothing;

impl Op for Nothing {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(_: &mut Warp, _: &mut Cluster<'_>, (): ()) -> Flow {
        Flow::Next
    }
}

/// Emits a return from the function.
pub(crate) fn emit_return(cx: &mut Builder<'_, '_>) {
    cx.emit(scalar::<Return>(), ()).control = Control::End;
}

/// Emits an instruction that does nothing.
pub(crate) fn emit_nothing(cx: &mut Builder<'_, '_>) {
    cx.emit(scalar::<Nothing>(), ());
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    if matches!(inst.opcode, "bra" | "brx" | "ret") {
        modifiers.flag("uni");
    }
    match inst.opcode {
        "bra" => {
            modifiers.finish(inst)?;
            expect_operands(inst, &[1])?;
            let OperandKind::Name(name) = inst.operands[0].kind else {
                return Err(Error::new(inst.operands[0].at, "expected a label"));
            };
            let label = cx.label(name, inst.operands[0].at)?;
            let target = Label::from_word(label);
            cx.emit(scalar::<Branch>(), BranchOperands { target })
                .control = Control::Jump;
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
            let targets = cx.label_list(&labels);
            let operands = IndexedOperands {
                index: index.into(),
                targets,
            };
            cx.emit(scalar::<Indexed>(), operands).control = Control::Switch;
        }
        "ret" => {
            modifiers.finish(inst)?;
            emit_return(cx);
        }
        "exit" => {
            modifiers.finish(inst)?;
            cx.emit(scalar::<Exit>(), ()).control = Control::End;
        }
        "trap" => {
            modifiers.finish(inst)?;
            cx.emit(scalar::<Trap>(), ()).control = Control::End;
        }
        "brkpt" => {
            modifiers.finish(inst)?;
            cx.emit(scalar::<Breakpoint>(), ());
        }
        "nanosleep" => {
            let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
            modifiers.finish(inst)?;
            expect_operands(inst, &[1])?;
            // How long is up to the scheduler.
            cx.src(&inst.operands[0], ty)?;
            cx.emit(scalar::<Sleep>(), ());
        }
        _ => {
            modifiers.flag("mask");
            modifiers.finish(inst)?;
            emit_nothing(cx);
        }
    }
    Ok(())
}

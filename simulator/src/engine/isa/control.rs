//! `bra brx ret exit trap brkpt nanosleep pmevent`.

use super::family::Family;
use super::wgmma_completion;
use crate::engine::access::completion::complete_all;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Label, Labels, Read, lanes_of, operands};
use crate::engine::exec::wait::Wait;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Builder, Control, Symbol};
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
    read,
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
        let exits = warp.frames[warp.frame as usize].is_kernels();
        if exits && complete_all(warp, cluster, warp.mask) == Flow::Fault {
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
        if complete_all(warp, cluster, warp.mask) == Flow::Fault {
            return Flow::Fault;
        }
        match wgmma_completion::leave(warp, cluster, true) {
            Flow::Next => {
                warp.exit(cluster);
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

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    // What is said of the lanes' agreement is not needed: they are looked at.
    form.ignore(&["uni"]);
    match form.opcode() {
        "bra" => Some(Lowering::new(branch)),
        "brx" => form.has("idx").then(|| Lowering::new(branch_indexed)),
        "ret" => Some(Lowering::new(|cx, _| {
            emit_return(cx);
            Ok(())
        })),
        "exit" => Some(Lowering::new(|cx, _| {
            cx.emit(scalar::<Exit>(), ()).control = Control::End;
            Ok(())
        })),
        "trap" => Some(Lowering::new(|cx, _| {
            cx.emit(scalar::<Trap>(), ()).control = Control::End;
            Ok(())
        })),
        "brkpt" => Some(Lowering::new(|cx, _| {
            cx.emit(scalar::<Breakpoint>(), ());
            Ok(())
        })),
        "nanosleep" => {
            let ty = form.ty()?;
            Some(Lowering::new(move |cx, inst| {
                // How long is up to the scheduler.
                cx.src(&inst.operands[0], ty)?;
                cx.emit(scalar::<Sleep>(), ());
                Ok(())
            }))
        }
        // `pmevent` triggers events of a profiler.
        _ => Some(nothing(form)),
    }
}

/// The lowering of a form that only tunes or measures a device. One that declares more is refused by its modifiers.
pub(super) fn nothing(form: &FormReader<'_>) -> Lowering {
    form.ignore_tuning();
    Lowering::new(|cx, _| {
        cx.emit(scalar::<Nothing>(), ());
        Ok(())
    })
}

fn branch<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let operand = &inst.operands[0];
    let OperandKind::Name(name) = operand.kind else {
        return Err(Error::new(operand.at, "expected a label"));
    };
    let target = Label::from_word(cx.label(name, operand.at)?);
    cx.emit(scalar::<Branch>(), BranchOperands { target })
        .control = Control::Jump;
    Ok(())
}

fn branch_indexed<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let index = cx.src(&inst.operands[0], Ty::U32)?.into();
    let operand = &inst.operands[1];
    let OperandKind::Name(name) = operand.kind else {
        let message = "expected the label of a list of branch targets";
        return Err(Error::new(operand.at, message));
    };
    let Some(Symbol::Targets { start, count }) = cx.find(name) else {
        let message = format!("`{name}` is not a list of branch targets");
        return Err(Error::new(operand.at, message));
    };
    let targets = Labels::new(start, count);
    cx.emit(scalar::<Indexed>(), IndexedOperands { index, targets })
        .control = Control::Switch;
    Ok(())
}

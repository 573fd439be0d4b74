//! `cp.async`: copies from global to shared memory that are done as late as the rules allow, when their thread waits for
//! them, so that a missing wait shows.

use warpsmith_isa::effect::{AccessKind, Completion, Effect, Order, Proxy, Scope, Space};

use super::mbarrier::{self, ArrivalCount};
use super::memory::{address, cache_hints};
use crate::engine::access::completion::complete;
use crate::engine::access::declared::Declared;
use crate::engine::access::path::access;
use crate::engine::access::values::Stored;
use crate::engine::exec::async_copy::{AsyncCopy, Completed};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::{Level, Op, scalar};
use crate::engine::exec::operand::{Address, LANES, Read, lanes_of, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Width, expect_operands};
use crate::engine::program::Program;
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

operands! {
    /// `from_bytes`: how many are read, the others become zero; `size`: how many are written.
    pub(crate) struct IssueOperands { to: Address, from: Address, from_bytes: Read<u32>, size: u32 }
    /// `keep`: groups that need not be done.
    pub(crate) struct WaitOperands { keep: u32 }
    /// `counted`: whether the arrival is among those that the mbarrier expects (`.noinc`).
    pub(crate) struct ArriveOperands { barrier: Address, counted: u32 }
}

/// `cp.async`
struct Issue;

impl Op for Issue {
    type Operands = IssueOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        access::<L>(
            warp,
            cluster,
            o.to,
            o.size,
            Stored::Unknown,
            |warp, cluster, bytes| {
                let to = bytes.pointers(warp, o.size);
                let wanted = o.from_bytes.lanes(warp).map(|bytes| bytes.min(o.size));
                let mask = warp.mask;
                let mut from = [std::ptr::null_mut(); LANES];
                // Lanes that read nothing only write zeros: their source is not accessed.
                warp.mask = lanes_of(mask)
                    .filter(|&lane| wanted[lane] > 0)
                    .fold(0, |reading, lane| reading | 1 << lane);
                if warp.mask != 0 {
                    let flow = access::<L>(
                        warp,
                        cluster,
                        o.from,
                        o.size,
                        Stored::Unknown,
                        |warp, _, bytes| {
                            from = bytes.pointers(warp, o.size);
                            Flow::Next
                        },
                    );
                    if flow == Flow::Fault {
                        return flow;
                    }
                }
                warp.mask = mask;
                let site = Program::site(warp.function, warp.pc);
                for lane in lanes_of(mask) {
                    warp.copies.issue(AsyncCopy {
                        lane: lane as u8,
                        bytes: o.size as u8,
                        from_bytes: wanted[lane] as u8,
                        from: from[lane],
                        to: to[lane],
                        // It is done, and seen by the checks, when it completes.
                        declared: Declared::of(o.to).completed().word(),
                        site,
                    });
                }
                Flow::Next
            },
        )
    }
}

/// `cp.async.commit_group`
struct Commit;

impl Op for Commit {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, (): ()) -> Flow {
        for lane in lanes_of(warp.mask) {
            warp.copies.commit(lane);
        }
        Flow::Next
    }
}

/// `cp.async.wait_group`
struct WaitGroup;

impl Op for WaitGroup {
    type Operands = WaitOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        complete(warp, cluster, warp.mask, Completed::AllButGroups(o.keep))
    }
}

/// `cp.async.wait_all`
struct WaitAll;

impl Op for WaitAll {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        complete(warp, cluster, warp.mask, Completed::All)
    }
}

/// `cp.async.mbarrier.arrive`
struct Arrive;

impl Op for Arrive {
    type Operands = ArriveOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if complete(warp, cluster, warp.mask, Completed::All) == Flow::Fault {
            return Flow::Fault;
        }
        let count = match o.counted {
            0 => ArrivalCount::Added,
            _ => ArrivalCount::Expected,
        };
        access::<L>(
            warp,
            cluster,
            o.barrier,
            8,
            Stored::Unknown,
            |warp, _, bytes| {
                let pointers = bytes.pointers(warp, 8);
                for lane in lanes_of(warp.mask) {
                    // SAFETY: the access path found these 8 bytes for the lanes of the mask.
                    let flow =
                        unsafe { mbarrier::arrive_for_copies(warp, lane, pointers[lane], count) };
                    if flow == Flow::Fault {
                        return Flow::Fault;
                    }
                }
                Flow::Next
            },
        )
    }
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    if inst.opcode != "cp" || !modifiers.flag("async") {
        return Err(unknown(inst));
    }
    if let Some(name) = modifiers.any(&["commit_group", "wait_group", "wait_all"]) {
        modifiers.finish(inst)?;
        match (name, inst.operands.as_slice()) {
            ("commit_group", []) => cx.emit(scalar::<Commit>(), ()),
            ("wait_all", []) => cx.emit(scalar::<WaitAll>(), ()),
            ("wait_group", [operand]) => match operand.kind {
                OperandKind::Int(number @ 0..=0xFFFF) => {
                    let keep = number as u32;
                    cx.emit(scalar::<WaitGroup>(), WaitOperands { keep })
                }
                _ => return Err(Error::new(operand.at, "expected a number of groups")),
            },
            _ => {
                return Err(Error::new(
                    inst.at,
                    format!("`{}` has the wrong number of operands", inst.name()),
                ));
            }
        };
        return Ok(());
    }
    let barrier = modifiers.flag("mbarrier");
    let shared = ["shared", "shared::cta"];
    if barrier {
        let arrive = modifiers.flag("arrive");
        let counted = u32::from(modifiers.flag("noinc"));
        let space = modifiers
            .any(&shared)
            .map_or(Space::Generic, |_| Space::Shared);
        if !arrive || modifiers.ty().is_none_or(|t| t.bits != 64) {
            return Err(unknown(inst));
        }
        modifiers.finish(inst)?;
        expect_operands(inst, &[1])?;
        let operand = cx.address(&inst.operands[0])?;
        let barrier = address(
            cx,
            operand,
            mbarrier::effect(space, Order::AcquireRelease, Scope::Block),
        )?;
        cx.emit(scalar::<Arrive>(), ArriveOperands { barrier, counted });
        return Ok(());
    }
    let hints = cache_hints(&mut modifiers);
    if modifiers.any(&shared).is_none() || !modifiers.flag("global") {
        return Err(unknown(inst));
    }
    modifiers.finish(inst)?;
    let operands = inst.operands.len() - hints.min(inst.operands.len());
    let (OperandKind::Int(size), 3 | 4) = (
        inst.operands.get(2).map_or(&OperandKind::Sink, |o| &o.kind),
        operands,
    ) else {
        return Err(Error::new(
            inst.at,
            format!(
                "`{}` takes two addresses, a size and maybe a source size",
                inst.name()
            ),
        ));
    };
    if !matches!(size, 4 | 8 | 16) {
        return Err(Error::new(
            inst.operands[2].at,
            "a size is 4, 8 or 16 bytes",
        ));
    }
    let size = *size as u32;
    let from_bytes = match inst.operands.get(3).filter(|_| operands == 4) {
        Some(operand) => cx.src(operand, Ty::U32)?,
        None => cx.constant(u64::from(size), Width::W32),
    };
    let copies = |space, kind| Effect {
        proxy: Proxy::Generic,
        completion: Completion::AsyncGroup,
        ..Effect::plain(space, kind)
    };
    let source = cx.address(&inst.operands[1])?;
    let from = address(cx, source, copies(Space::Global, AccessKind::Read))?;
    let target = cx.address(&inst.operands[0])?;
    let to = address(cx, target, copies(Space::Shared, AccessKind::Write))?;
    cx.emit(
        scalar::<Issue>(),
        IssueOperands {
            to,
            from,
            from_bytes: from_bytes.into(),
            size,
        },
    );
    Ok(())
}

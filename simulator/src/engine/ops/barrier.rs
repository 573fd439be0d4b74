//! `bar barrier`, the cluster's barrier, `bar.warp.sync`, and fences.

use crate::engine::exec::block::Votes;
use crate::engine::exec::level::{Level, scalar};
use crate::engine::exec::lanes::{lanes_of, predicate, src};
use crate::engine::exec::schedule::{Reduction, Wait};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::ptx::ast::Instruction;
use crate::ptx::{Error, Result};

/// A barrier of the block. `a` its number, `b` the thread count (if bit 0 of `x`), `c` the predicate of a reduction;
/// `x` bit 1: arrive only; bits 2 and 3: reduction 1 count, 2 and, 3 or; bit 4: aligned; bit 5: the predicate is negated.
struct Block;

const COUNTED: u32 = 1;
const ARRIVE: u32 = 2;
const ALIGNED: u32 = 16;
const NEGATED: u32 = 32;

impl WordsOp for Block {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let first = warp.mask.trailing_zeros() as usize;
        // SAFETY: number and count have 32 bits, the predicate is one.
        let (number, count, bits) = unsafe {
            let number = src::<u32>(warp, inst.a)[first];
            let count = if inst.x & COUNTED != 0 {
                Some(src::<u32>(warp, inst.b)[first])
            } else {
                None
            };
            let bits = if inst.x & 12 != 0 {
                predicate(warp, inst.c)
            } else {
                0
            };
            (
                number,
                count,
                if inst.x & NEGATED != 0 { !bits } else { bits },
            )
        };
        if number > 15 {
            let message = format!("barrier {number}: there are 16 barriers, 0 to 15");
            return warp.fail(FaultKind::IllegalInstruction, first, message);
        }
        if let Some(count) = count
            && (count == 0 || count % 32 != 0)
        {
            let message = format!(
                "barrier {number} with a count of {count} threads, which is no multiple of 32"
            );
            return warp.fail(FaultKind::IllegalInstruction, first, message);
        }
        let others = warp.live & !warp.mask;
        if inst.x & ALIGNED != 0 && warp.checks.barriers && others != 0 {
            // Lanes that are elsewhere may still come; the wait below joins them. Whoever never comes is reported then.
            return aligned(warp, inst, number as u8, count, bits);
        }
        arrive(warp, inst, number as u8, count, bits)
    }
}

/// An aligned barrier that a part of the warp has come to: the others must come to the same instruction.
#[cold]
fn aligned(warp: &mut Warp, inst: &Words, number: u8, count: Option<u32>, bits: u32) -> Flow {
    if !warp.gather(warp.live) {
        return Flow::Leave;
    }
    arrive(warp, inst, number, count, bits)
}

fn arrive(warp: &mut Warp, inst: &Words, number: u8, count: Option<u32>, bits: u32) -> Flow {
    let mask = warp.mask;
    let votes = Votes {
        count: (bits & mask).count_ones(),
        all: bits & mask == mask,
        any: bits & mask != 0,
    };
    // A whole warp counts as 32 threads where threads are counted.
    let threads = if count.is_some() && mask == warp.live {
        32
    } else {
        mask.count_ones()
    };
    let live = warp.block().live;
    let returned = warp.block().returned;
    // SAFETY: the block outlives its warps, and no other reference to it lives now.
    let block = unsafe { &mut *warp.block };
    let phase = block.barriers[usize::from(number)].phase;
    let waits = inst.x & ARRIVE == 0;
    let complete = block.arrive(number, (warp.index, mask, waits), threads, count, votes);
    if warp.checks.barriers
        && count.is_none()
        && complete
        && live < warp.grid().threads
        && let Some((other, lane)) = returned
    {
        return partial(warp, number, other, lane);
    }
    if inst.x & ARRIVE != 0 {
        return Flow::Next;
    }
    let reduction = match inst.x >> 2 & 3 {
        1 => Some(Reduction::Count),
        2 => Some(Reduction::And),
        3 => Some(Reduction::Or),
        _ => None,
    };
    let reduction = reduction.map(|kind| (kind, inst.d));
    let next = warp.pc + 1;
    warp.wait(
        Wait::Barrier {
            id: number,
            phase,
            reduction,
        },
        next,
    );
    Flow::Leave
}

/// A barrier for all threads was completed although some have left the kernel before.
#[cold]
fn partial(warp: &mut Warp, number: u8, other: u32, lane: u32) -> Flow {
    let grid = warp.grid();
    let ([x, y, z], threads) = (grid.thread_index(other, lane), grid.threads);
    let here = warp.block().live;
    let message =
        format!("barrier {number} was reached by {here} of the block's {threads} threads");
    let note = format!("thread ({x},{y},{z}) has returned from the kernel without it");
    warp.fail_with(
        FaultKind::BarrierDivergence,
        warp.mask.trailing_zeros() as usize,
        message,
        vec![note],
    )
}

/// `barrier.cluster.arrive`; `x` is 1 if it is relaxed.
struct ClusterArrive;

impl WordsOp for ClusterArrive {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        let (mask, rank, index) = (warp.mask, warp.block().rank, warp.index);
        // SAFETY: the block outlives its warps; only its cluster's counters are touched.
        let cluster = unsafe { (*warp.block).cluster_mut() };
        if warp.cluster_phase != cluster.barrier_phase {
            warp.cluster_phase = cluster.barrier_phase;
            warp.cluster_arrived = 0;
        }
        if warp.cluster_arrived & mask != 0 {
            let lane = (warp.cluster_arrived & mask).trailing_zeros() as usize;
            let message = "barrier.cluster.arrive twice without a wait between";
            return warp.fail(FaultKind::IllegalInstruction, lane, message);
        }
        warp.cluster_arrived |= mask;
        cluster.arrived += mask.count_ones();
        if let Some(checker) = cluster.checker.as_deref_mut() {
            checker.cluster_arrive(rank, index, mask, inst.x == 0);
        }
        cluster.complete_barrier();
        Flow::Next
    }
}

/// `barrier.cluster.wait`.
struct ClusterWait;

impl WordsOp for ClusterWait {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, _: &Words) -> Flow {
        if warp.cluster_arrived & warp.mask != warp.mask {
            let lane = (!warp.cluster_arrived & warp.mask).trailing_zeros() as usize;
            let message = "barrier.cluster.wait without an arrive before";
            return warp.fail(FaultKind::IllegalInstruction, lane, message);
        }
        let phase = warp.cluster_phase;
        let next = warp.pc + 1;
        if warp.block().cluster().barrier_phase != phase {
            return Flow::Next;
        }
        warp.wait(Wait::Cluster { phase }, next);
        Flow::Leave
    }
}

/// `bar.warp.sync`.
struct WarpSync;

impl WordsOp for WarpSync {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the mask has 32 bits.
        let masks = *unsafe { src::<u32>(warp, inst.a) };
        let first = warp.mask.trailing_zeros() as usize;
        let members = masks[first];
        if let Some(lane) = lanes_of(warp.mask).find(|&lane| masks[lane] >> lane & 1 == 0) {
            let message = format!(
                "bar.warp.sync by lane {lane}, which its mask {:#010x} does not name",
                masks[lane]
            );
            return warp.fail(FaultKind::IllegalInstruction, lane, message);
        }
        let same = lanes_of(warp.mask)
            .filter(|&lane| masks[lane] == members)
            .fold(0, |all, lane| all | 1 << lane);
        if same != warp.mask {
            // Several masks at once: one group for each.
            let (pc, frame, rest) = (warp.pc, warp.frame, warp.mask & !same);
            let others = warp.active & !warp.mask;
            if others != 0 {
                warp.add_ready(others, pc + 1, frame);
            }
            // The rest runs this instruction after the first have waited or passed.
            warp.active = same;
            warp.mask = same;
            warp.add_ready(rest, pc, frame);
            if warp.warp_barrier(members) {
                warp.pc = pc + 1;
                warp.park(Wait::Ready);
            }
            return Flow::Leave;
        }
        if warp.warp_barrier(members) {
            Flow::Next
        } else {
            Flow::Leave
        }
    }
}

/// `membar` and `fence`.
struct Fence;

impl WordsOp for Fence {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, _: &Words) -> Flow {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        if warp.watched {
            super::watch::fence(warp);
        }
        Flow::Next
    }
}

const PRED: Ty = Ty {
    kind: Kind::Pred,
    bits: 1,
    packed: 1,
};
const B32: Ty = Ty {
    kind: Kind::Bits,
    bits: 32,
    packed: 1,
};

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let none = Field::NONE;
    if modifiers.flag("warp") {
        if !modifiers.flag("sync") {
            return Err(unknown(inst));
        }
        modifiers.finish(inst)?;
        expect_operands(inst, &[1])?;
        let a = cx.src(&inst.operands[0], B32)?;
        cx.emit_untyped(scalar::<WarpSync>(), none, a, none, none);
        return Ok(());
    }
    if modifiers.flag("cluster") {
        let arrive = modifiers
            .any(&["arrive", "wait"])
            .ok_or_else(|| unknown(inst))?
            == "arrive";
        let relaxed = modifiers.any(&["acquire", "release", "relaxed"]) == Some("relaxed");
        modifiers.flag("aligned");
        modifiers.finish(inst)?;
        expect_operands(inst, &[0])?;
        let exec = if arrive {
            scalar::<ClusterArrive>()
        } else {
            scalar::<ClusterWait>()
        };
        cx.emit_untyped(exec, none, none, none, none).x = Link::Raw(u32::from(relaxed));
        return Ok(());
    }
    modifiers.flag("cta");
    let mode = modifiers
        .any(&["sync", "arrive", "red"])
        .ok_or_else(|| unknown(inst))?;
    let reduction = if mode == "red" {
        modifiers.any(&["popc", "and", "or"])
    } else {
        None
    };
    let aligned = modifiers.flag("aligned") || inst.opcode == "bar";
    let ty = modifiers.ty();
    modifiers.finish(inst)?;
    let mut x = match (mode, reduction, ty) {
        ("sync", None, None) => 0,
        ("arrive", None, None) => ARRIVE,
        (
            "red",
            Some("popc"),
            Some(Ty {
                kind: Kind::Unsigned,
                bits: 32,
                packed: 1,
            }),
        ) => 4,
        ("red", Some("and"), Some(PRED)) => 8,
        ("red", Some("or"), Some(PRED)) => 12,
        _ => return Err(unknown(inst)),
    };
    x |= if aligned { ALIGNED } else { 0 };
    let mut operands = inst.operands.as_slice();
    let (mut d, mut c) = (none, none);
    if mode == "red" {
        let [target, rest @ .., source] = operands else {
            return Err(unknown(inst));
        };
        d = cx.dst(target, if x & 12 == 4 { Width::W32 } else { Width::Pred })?;
        c = cx.src(source, PRED)?;
        operands = rest;
        // `barrier.red` waits for the result, so its destination is written when it wakes up.
        if d == Field::Sink {
            return Err(Error::new(target.at, "this result is needed"));
        }
    }
    let (number, count) = match operands {
        [number] => (number, None),
        [number, count] => (number, Some(count)),
        _ => {
            return Err(Error::new(
                inst.at,
                format!("`{}` has the wrong number of operands", inst.name()),
            ));
        }
    };
    if mode == "arrive" && count.is_none() {
        return Err(Error::new(
            inst.at,
            "an arrival at a barrier needs a thread count",
        ));
    }
    let a = cx.src(number, B32)?;
    let b = match count {
        Some(count) => {
            x |= COUNTED;
            cx.src(count, B32)?
        }
        None => none,
    };
    cx.emit_untyped(scalar::<Block>(), d, a, b, c).x = Link::Raw(x);
    Ok(())
}

/// `membar.level` and `fence`.
pub(crate) fn fence<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    if inst.opcode == "membar" {
        modifiers
            .any(&["cta", "gl", "sys"])
            .ok_or_else(|| unknown(inst))?;
    } else {
        modifiers.any(&[
            "sc",
            "acq_rel",
            "acquire",
            "release",
            "mbarrier_init",
            "proxy",
        ]);
        modifiers.any(&["release", "acquire"]);
        modifiers.any(&["alias", "async", "async.global", "tensormap::generic"]);
        modifiers.any(&[
            "global",
            "shared::cta",
            "shared::cluster",
            "sync_restrict::shared::cta",
        ]);
        modifiers.any(&["cluster", "cta", "gpu", "sys"]);
    }
    modifiers.finish(inst)?;
    let none = Field::NONE;
    cx.emit_untyped(scalar::<Fence>(), none, none, none, none);
    Ok(())
}

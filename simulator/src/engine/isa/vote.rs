//! `shfl vote match redux activemask elect`: exchange among the lanes of a warp.
//!
//! All lanes that a member mask names, and that have not exited, must come to the instruction; those that are early wait.

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::{FULL, LANES, SINK, lanes_of, predicate, put, put_predicate, src};
use crate::engine::exec::lanes::{Words, WordsOp};
use crate::engine::exec::level::{Level, scalar};
use crate::engine::exec::wait::Wait;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::ptx::Result;
use crate::ptx::ast::{Instruction, Operand, OperandKind};

/// An exchange: what happens when the lanes of a member mask are together.
trait Exchange {
    /// Executes for `warp.mask`, all of which have this member mask.
    unsafe fn exchange(warp: &mut Warp, inst: &Words, members: u32);
}

/// Brings the members together. `members` is the operand with the mask.
#[inline(always)]
unsafe fn together<E: Exchange>(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    inst: &Words,
    members: u32,
) -> Flow {
    // SAFETY: the mask has 32 bits.
    let masks = unsafe { src::<u32>(warp, members) };
    let first = masks[warp.mask.trailing_zeros() as usize & 31];
    let uniform = masks
        .iter()
        .enumerate()
        .all(|(lane, &m)| warp.mask >> lane & 1 == 0 || m == first);
    if uniform && warp.mask & !first == 0 && warp.missing(first) == 0 {
        // SAFETY: the caller's promise.
        unsafe { E::exchange(warp, inst, first) }
        return Flow::Next;
    }
    // SAFETY: the caller's promise.
    unsafe { apart::<E>(warp, cluster, inst, members) }
}

#[cold]
#[inline(never)]
unsafe fn apart<E: Exchange>(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    inst: &Words,
    members: u32,
) -> Flow {
    let pc = warp.pc;
    // Lanes that wait here already take part again.
    let frame = warp.frame;
    let mut joined = 0;
    warp.groups.retain(|group| {
        let same =
            group.frame == frame && group.pc == pc && matches!(group.wait, Wait::Lanes { .. });
        joined |= if same { group.mask } else { 0 };
        !same
    });
    warp.active |= joined;
    warp.mask |= joined;
    let all = warp.mask;
    // SAFETY: the mask has 32 bits.
    let masks = *unsafe { src::<u32>(warp, members) };
    if let Some(lane) = lanes_of(all).find(|&lane| masks[lane] >> lane & 1 == 0) {
        let name = cluster
            .grid
            .program
            .instruction_name(warp.function, warp.pc);
        let message = format!(
            "{name} by lane {lane}, which its member mask {:#010x} does not name",
            masks[lane]
        );
        return warp.fail(FaultKind::IllegalInstruction, lane, message);
    }
    let (mut done, mut rest) = (0, all);
    while rest != 0 {
        let wanted = masks[rest.trailing_zeros() as usize];
        let same = lanes_of(rest)
            .filter(|&l| masks[l] == wanted)
            .fold(0, |mask, lane| mask | 1 << lane);
        rest &= !same;
        warp.mask = same;
        if warp.missing(wanted) == 0 {
            // SAFETY: the caller's promise.
            unsafe { E::exchange(warp, inst, wanted) }
            done |= same;
        }
    }
    let waiting = all & !done;
    if waiting == 0 {
        warp.mask = all;
        return Flow::Next;
    }
    // Those who are done (and those the guard excludes) go on, the others wait.
    warp.mask = waiting;
    let wanted = masks[waiting.trailing_zeros() as usize];
    warp.wait(Wait::Lanes { members: wanted }, pc);
    Flow::Leave
}

/// `shfl.sync`: `a` value, `b` lane, `c` clamp; list: member mask, predicate. `x` bits 30, 31: mode.
struct Shuffle<const MODE: u8>;

const UP: u8 = 0;
const DOWN: u8 = 1;
const BUTTERFLY: u8 = 2;
const INDEX: u8 = 3;

impl<const MODE: u8> Exchange for Shuffle<MODE> {
    #[inline(always)]
    unsafe fn exchange(warp: &mut Warp, inst: &Words, _: u32) {
        // SAFETY: the lowering gave the operands these widths, and the list its two entries.
        unsafe {
            let values = *src::<u32>(warp, inst.a);
            let (lanes, clamps) = (src::<u32>(warp, inst.b), src::<u32>(warp, inst.c));
            let mut result = [0u32; LANES];
            let mut inside = 0u32;
            for lane in 0..LANES as i32 {
                let b = (lanes[lane as usize] & 31) as i32;
                let c = clamps[lane as usize];
                let (clamp, segment) = ((c & 31) as i32, (c >> 8 & 31) as i32);
                let most = lane & segment | clamp & !segment;
                let least = lane & segment;
                let (from, ok) = match MODE {
                    UP => (lane - b, lane - b >= most),
                    DOWN => (lane + b, lane + b <= most),
                    BUTTERFLY => (lane ^ b, lane ^ b <= most),
                    _ => {
                        let from = least | b & !segment;
                        (from, from <= most)
                    }
                };
                let from = if ok { from } else { lane };
                result[lane as usize] = values[from as usize & 31];
                inside |= u32::from(ok) << lane;
            }
            put(warp, inst.d, &result);
            let second = warp.list(inst.x, 2)[1];
            put_predicate(warp, second, inside);
        }
    }
}

impl<const MODE: u8> WordsOp for Shuffle<MODE> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the list has two entries, the first the member mask.
        unsafe { together::<Self>(warp, cluster, inst, warp.list(inst.x, 1)[0]) }
    }
}

/// `vote.sync`: `a` predicate, `b` member mask; `x`: 0 all, 1 any, 2 uni, 3 ballot; bit 2 negates.
struct Vote;

impl Exchange for Vote {
    #[inline(always)]
    unsafe fn exchange(warp: &mut Warp, inst: &Words, _: u32) {
        // SAFETY: the lowering gave the operands these widths.
        unsafe {
            let bits = predicate(warp, inst.a);
            let votes = if inst.x & 4 != 0 { !bits } else { bits } & warp.mask;
            let result = match inst.x & 3 {
                0 => votes == warp.mask,
                1 => votes != 0,
                2 => votes == warp.mask || votes == 0,
                _ => {
                    put(warp, inst.d, &[votes; LANES]);
                    return;
                }
            };
            put_predicate(warp, inst.d, if result { FULL } else { 0 });
        }
    }
}

impl WordsOp for Vote {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: `b` is the member mask.
        unsafe { together::<Self>(warp, cluster, inst, inst.b) }
    }
}

/// `match.sync`: `a` value, `b` member mask, `c` predicate destination (for all); `x` bit 0: all.
struct Match<T>(std::marker::PhantomData<T>);

impl<T: Copy + Eq> Exchange for Match<T> {
    #[inline(always)]
    unsafe fn exchange(warp: &mut Warp, inst: &Words, members: u32) {
        // SAFETY: the lowering gave the operands these widths.
        unsafe {
            let values = *src::<T>(warp, inst.a);
            let mask = warp.mask;
            if inst.x & 1 != 0 {
                let first = values[mask.trailing_zeros() as usize & 31];
                let equal = lanes_of(mask).all(|lane| values[lane] == first);
                put_or_none(warp, inst.d, &[if equal { members } else { 0 }; LANES]);
                put_predicate(warp, warp.list(inst.c, 1)[0], if equal { FULL } else { 0 });
                return;
            }
            let mut result = [0u32; LANES];
            for lane in lanes_of(mask) {
                let same = lanes_of(mask).filter(|&other| values[other] == values[lane]);
                result[lane] = same.fold(0, |all, other| all | 1 << other);
            }
            put(warp, inst.d, &result);
        }
    }
}

unsafe fn put_or_none(warp: &Warp, operand: u32, result: &[u32; LANES]) {
    if operand != SINK {
        // SAFETY: the operand has 32 bits.
        unsafe { put(warp, operand, result) }
    }
}

impl<T: Copy + Eq> WordsOp for Match<T> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: `b` is the member mask.
        unsafe { together::<Self>(warp, cluster, inst, inst.b) }
    }
}

/// `redux.sync`: `a` value, `b` member mask; `x`: the operation.
struct Redux;

const REDUCTIONS: [(&str, Kind); 9] = [
    ("add", Kind::Unsigned),
    ("add", Kind::Signed),
    ("min", Kind::Unsigned),
    ("min", Kind::Signed),
    ("max", Kind::Unsigned),
    ("max", Kind::Signed),
    ("and", Kind::Bits),
    ("or", Kind::Bits),
    ("xor", Kind::Bits),
];

impl Exchange for Redux {
    #[inline(always)]
    unsafe fn exchange(warp: &mut Warp, inst: &Words, _: u32) {
        // SAFETY: the lowering gave the operands 32 bits.
        unsafe {
            let values = src::<u32>(warp, inst.a);
            let all = lanes_of(warp.mask).map(|lane| values[lane]);
            let result = all.reduce(|a, b| match inst.x {
                0 | 1 => a.wrapping_add(b),
                2 => a.min(b),
                3 => (a as i32).min(b as i32) as u32,
                4 => a.max(b),
                5 => (a as i32).max(b as i32) as u32,
                6 => a & b,
                7 => a | b,
                _ => a ^ b,
            });
            put(warp, inst.d, &[result.unwrap_or(0); LANES]);
        }
    }
}

impl WordsOp for Redux {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: `b` is the member mask.
        unsafe { together::<Self>(warp, cluster, inst, inst.b) }
    }
}

/// `elect.sync`: `b` member mask, `c` a list with the predicate.
struct Elect;

impl Exchange for Elect {
    #[inline(always)]
    unsafe fn exchange(warp: &mut Warp, inst: &Words, _: u32) {
        let leader = warp.mask.trailing_zeros();
        // SAFETY: the lowering gave the operands these widths.
        unsafe {
            put_or_none(warp, inst.d, &[leader; LANES]);
            put_predicate(
                warp,
                warp.list(inst.c, 1)[0],
                1u32.checked_shl(leader).unwrap_or(0),
            );
        }
    }
}

impl WordsOp for Elect {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: `b` is the member mask.
        unsafe { together::<Self>(warp, cluster, inst, inst.b) }
    }
}

struct ActiveMask;

impl WordsOp for ActiveMask {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the destination has 32 bits.
        unsafe { put(warp, inst.d, &[warp.mask; LANES]) }
        Flow::Next
    }
}

const B32: Ty = Ty {
    kind: Kind::Bits,
    bits: 32,
    packed: 1,
};
const PRED: Ty = Ty {
    kind: Kind::Pred,
    bits: 1,
    packed: 1,
};

/// `d` or `d|p`.
fn pair<'a>(cx: &mut Builder<'a, '_>, operand: &Operand<'a>) -> Result<(Field, Field)> {
    match &operand.kind {
        OperandKind::Pair(d, p) => Ok((cx.dst(d, Width::W32)?, cx.dst(p, Width::Pred)?)),
        _ => Ok((cx.dst(operand, Width::W32)?, Field::Sink)),
    }
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let none = Field::NONE;
    if inst.opcode == "activemask" {
        let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
        modifiers.finish(inst)?;
        expect_operands(inst, &[1])?;
        let d = cx.dst(&inst.operands[0], Width::of(ty))?;
        cx.emit_untyped(scalar::<ActiveMask>(), d, none, none, none);
        return Ok(());
    }
    if !modifiers.flag("sync") {
        return Err(unknown(inst));
    }
    match inst.opcode {
        "shfl" => {
            let mode = modifiers
                .any(&["up", "down", "bfly", "idx"])
                .ok_or_else(|| unknown(inst))?;
            modifiers
                .ty()
                .filter(|t| *t == B32)
                .ok_or_else(|| unknown(inst))?;
            modifiers.finish(inst)?;
            expect_operands(inst, &[5])?;
            let (mut d, p) = pair(cx, &inst.operands[0])?;
            if d == Field::Sink {
                d = Field::Register(cx.new_register(Width::W32));
            }
            let (a, b) = (
                cx.src(&inst.operands[1], B32)?,
                cx.src(&inst.operands[2], B32)?,
            );
            let (c, members) = (
                cx.src(&inst.operands[3], B32)?,
                cx.src(&inst.operands[4], B32)?,
            );
            let list = cx.list(&[(members, false), (p, true)]);
            let exec = match mode {
                "up" => scalar::<Shuffle<UP>>(),
                "down" => scalar::<Shuffle<DOWN>>(),
                "bfly" => scalar::<Shuffle<BUTTERFLY>>(),
                _ => scalar::<Shuffle<INDEX>>(),
            };
            let lowered = cx.emit_untyped(exec, d, a, b, c);
            lowered.x = Link::List(list.0);
            lowered.list = list;
        }
        "vote" => {
            let mode = modifiers
                .any(&["all", "any", "uni", "ballot"])
                .ok_or_else(|| unknown(inst))?;
            let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
            modifiers.finish(inst)?;
            let ballot = mode == "ballot";
            if ty != if ballot { B32 } else { PRED } {
                return Err(unknown(inst));
            }
            expect_operands(inst, &[3])?;
            let d = cx.dst(&inst.operands[0], Width::of(ty))?;
            let (a, b) = (
                cx.src(&inst.operands[1], PRED)?,
                cx.src(&inst.operands[2], B32)?,
            );
            let x = ["all", "any", "uni", "ballot"]
                .iter()
                .position(|&m| m == mode)
                .unwrap_or(0);
            cx.emit_untyped(scalar::<Vote>(), d, a, b, none).x = Link::Raw(x as u32);
        }
        "match" => {
            let all = modifiers
                .any(&["any", "all"])
                .ok_or_else(|| unknown(inst))?
                == "all";
            let ty = modifiers
                .ty()
                .filter(|t| t.kind == Kind::Bits)
                .ok_or_else(|| unknown(inst))?;
            modifiers.finish(inst)?;
            expect_operands(inst, &[3])?;
            let (d, p) = pair(cx, &inst.operands[0])?;
            let (a, b) = (
                cx.src(&inst.operands[1], ty)?,
                cx.src(&inst.operands[2], B32)?,
            );
            let list = cx.list(&[(p, true)]);
            let exec = match ty.bits {
                32 => scalar::<Match<u32>>(),
                64 => scalar::<Match<u64>>(),
                _ => return Err(unknown(inst)),
            };
            let lowered = cx.emit_untyped(exec, d, a, b, Field::Raw(list.0));
            lowered.x = Link::Raw(u32::from(all));
            lowered.list = list;
        }
        "redux" => {
            let mode = modifiers
                .any(&["add", "min", "max", "and", "or", "xor"])
                .ok_or_else(|| unknown(inst))?;
            let ty = modifiers
                .ty()
                .filter(|t| t.bits == 32)
                .ok_or_else(|| unknown(inst))?;
            modifiers.finish(inst)?;
            expect_operands(inst, &[3])?;
            let x = REDUCTIONS
                .iter()
                .position(|&r| r == (mode, ty.kind))
                .ok_or_else(|| unknown(inst))?;
            let d = cx.dst(&inst.operands[0], Width::W32)?;
            let (a, b) = (
                cx.src(&inst.operands[1], ty)?,
                cx.src(&inst.operands[2], B32)?,
            );
            cx.emit_untyped(scalar::<Redux>(), d, a, b, none).x = Link::Raw(x as u32);
        }
        _ => {
            modifiers.finish(inst)?;
            expect_operands(inst, &[2])?;
            let (d, p) = pair(cx, &inst.operands[0])?;
            let b = cx.src(&inst.operands[1], B32)?;
            let list = cx.list(&[(p, true)]);
            cx.emit_untyped(scalar::<Elect>(), d, none, b, Field::Raw(list.0))
                .list = list;
        }
    }
    Ok(())
}

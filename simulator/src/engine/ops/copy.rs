//! `cp.async`: copies from global to shared memory that are done as late as the rules allow, when their thread waits for
//! them, so that a missing wait shows.

use super::memory::{base, cache_hints};
use super::resolve::{Access, Found, GENERIC, GLOBAL, ORDERED, SHARED_SPACE, STRONG, locate};
use crate::engine::exec::isa::{Isa, Op, scalar};
use crate::engine::exec::lanes::{LANES, lanes_of, src};
use crate::engine::exec::warp::{Flow, Inst, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, expect_operands};
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

/// A copy that is not done yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub lane: u8,
    /// Bytes to be written; those beyond `from_bytes` are zero.
    pub bytes: u8,
    pub from_bytes: u8,
    /// The lane's group that it belongs to, as the number of commits before.
    pub group: u32,
    pub from: *const u8,
    pub to: *mut u8,
}

impl Copy {
    /// Does it.
    unsafe fn finish(self) {
        // SAFETY: both places were resolved when the copy was issued; shared memory lives as long as its block.
        unsafe {
            let (bytes, from_bytes) = (usize::from(self.bytes), usize::from(self.from_bytes));
            self.from.copy_to(self.to, from_bytes);
            self.to.add(from_bytes).write_bytes(0, bytes - from_bytes);
        }
    }
}

impl Warp {
    /// Finishes the copies of the lanes of `mask` but those of each lane's latest `keep` groups (and later ones).
    pub(crate) fn finish_copies(&mut self, mask: u32, keep: Option<u32>) {
        let committed = self.copy_groups;
        self.copies.retain(|copy| {
            let mine = mask >> copy.lane & 1 != 0;
            let done = mine
                && keep.is_none_or(|keep| {
                    copy.group < committed[usize::from(copy.lane)].saturating_sub(keep)
                });
            if done {
                // SAFETY: issued with resolved places.
                unsafe { copy.finish() }
            }
            !done
        });
    }
}

/// `a` destination, `c` its offset, `b` a list: source base, source offset, source bytes or the sink; `d` the size.
struct Issue;

impl Op for Issue {
    #[inline(always)]
    unsafe fn run<I: Isa>(warp: &mut Warp, inst: &Inst) -> Flow {
        let size = inst.d;
        // SAFETY: the lowering made a memory instruction of this size with a list of three.
        unsafe {
            let list = warp.list(inst.b, 3);
            match I::find(warp, inst, size, Access::Write) {
                Found::Contiguous(start) => {
                    warp.pointers =
                        std::array::from_fn(|lane| start.wrapping_add(lane * size as usize));
                }
                Found::Scattered => {}
                Found::Failed => return Flow::Fault,
            }
            let to: [*mut u8; LANES] = warp.pointers;
            let (sources, offset) = (*src::<u64>(warp, list[0]), i64::from(list[1] as i32) as u64);
            for lane in lanes_of(warp.mask) {
                let wanted = src::<u32>(warp, list[2])[lane].min(size);
                let mut from = std::ptr::null();
                if wanted > 0 {
                    let address = sources[lane].wrapping_add(offset);
                    match locate(warp, inst, lane, address, size, Access::Read, GLOBAL) {
                        Some(pointer) => from = pointer.cast_const(),
                        None => return Flow::Fault,
                    }
                } else {
                    from = to[lane].cast_const().max(from);
                }
                let group = warp.copy_groups[lane];
                warp.copies.push(Copy {
                    lane: lane as u8,
                    bytes: size as u8,
                    from_bytes: wanted as u8,
                    group,
                    from,
                    to: to[lane],
                });
            }
        }
        Flow::Next
    }
}

/// `cp.async.commit_group`.
struct Commit;

impl Op for Commit {
    #[inline(always)]
    unsafe fn run<I: Isa>(warp: &mut Warp, _: &Inst) -> Flow {
        for lane in lanes_of(warp.mask) {
            warp.copy_groups[lane] += 1;
        }
        Flow::Next
    }
}

/// `cp.async.wait_group` (bit 31 of `x` clear: its number) and `wait_all`.
struct Wait;

impl Op for Wait {
    #[inline(always)]
    unsafe fn run<I: Isa>(warp: &mut Warp, inst: &Inst) -> Flow {
        let keep = if inst.x >> 31 == 0 {
            Some(inst.x)
        } else {
            None
        };
        warp.finish_copies(warp.mask, keep);
        Flow::Next
    }
}

/// `cp.async.mbarrier.arrive`: `x` names the space; `d` is 1 for `.noinc`.
struct Arrive;

impl Op for Arrive {
    #[inline(always)]
    unsafe fn run<I: Isa>(warp: &mut Warp, inst: &Inst) -> Flow {
        // SAFETY: the lowering made a memory instruction.
        unsafe {
            let pointers: [*mut u8; LANES] = match I::find(warp, inst, 8, Access::Atomic) {
                Found::Contiguous(start) => {
                    std::array::from_fn(|lane| start.wrapping_add(lane * 8))
                }
                Found::Scattered => warp.pointers,
                Found::Failed => return Flow::Fault,
            };
            warp.finish_copies(warp.mask, None);
            for lane in lanes_of(warp.mask) {
                if super::mbarrier::arrive_for_copies(warp, lane, pointers[lane], inst.d == 1)
                    == Flow::Fault
                {
                    return Flow::Fault;
                }
            }
        }
        Flow::Next
    }
}

const U32: Ty = Ty {
    kind: Kind::Unsigned,
    bits: 32,
    packed: 1,
};

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let none = Field::NONE;
    if inst.opcode != "cp" || !modifiers.flag("async") {
        return Err(unknown(inst));
    }
    if let Some(name) = modifiers.any(&["commit_group", "wait_group", "wait_all"]) {
        modifiers.finish(inst)?;
        let (exec, x) = match (name, inst.operands.as_slice()) {
            ("commit_group", []) => (scalar::<Commit>(), 0),
            ("wait_all", []) => (scalar::<Wait>(), 1 << 31),
            ("wait_group", [operand]) => match operand.kind {
                OperandKind::Int(number @ 0..=0xFFFF) => (scalar::<Wait>(), number as u32),
                _ => return Err(Error::new(operand.at, "expected a number of groups")),
            },
            _ => {
                return Err(Error::new(
                    inst.at,
                    format!("`{}` has the wrong number of operands", inst.name()),
                ));
            }
        };
        cx.emit(exec, none, none, none, none).x = Link::Raw(x);
        return Ok(());
    }
    let barrier = modifiers.flag("mbarrier");
    let shared = ["shared", "shared::cta"];
    if barrier {
        let arrive = modifiers.flag("arrive");
        let counted = modifiers.flag("noinc");
        let space = modifiers.any(&shared).map_or(GENERIC, |_| SHARED_SPACE);
        if !arrive || modifiers.ty().is_none_or(|t| t.bits != 64) {
            return Err(unknown(inst));
        }
        modifiers.finish(inst)?;
        expect_operands(inst, &[1])?;
        let address = cx.address(&inst.operands[0])?;
        let (a, offset, x) = base(cx, address, space)?;
        let lowered = cx.emit(
            scalar::<Arrive>(),
            Field::Raw(u32::from(counted)),
            a,
            none,
            offset,
        );
        lowered.x = Link::Raw(x | STRONG | ORDERED);
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
    let bytes = match inst.operands.get(3).filter(|_| operands == 4) {
        Some(operand) if cx.width_of(operand) == Some(crate::engine::lower::Width::Pred) => {
            let message = format!(
                "`{}` with a predicate is not supported by the simulator",
                inst.name()
            );
            return Err(Error::new(operand.at, message));
        }
        Some(operand) => cx.src(operand, U32)?,
        None => cx.constant(u64::from(size), crate::engine::lower::Width::W32),
    };
    let source = cx.address(&inst.operands[1])?;
    let (from, from_offset, _) = base(cx, source, GLOBAL)?;
    let target = cx.address(&inst.operands[0])?;
    let (to, to_offset, x) = base(cx, target, SHARED_SPACE)?;
    let list = cx.list(&[(from, false), (from_offset, false), (bytes, false)]);
    let lowered = cx.emit(
        scalar::<Issue>(),
        Field::Raw(size),
        to,
        Field::Raw(list.0),
        to_offset,
    );
    // The checker is not to look for the values in registers.
    lowered.x = Link::Raw(x | STRONG);
    lowered.list = list;
    Ok(())
}

//! Addresses: `cvta`, `isspacep`, `mapa`, `getctarank`, and where local variables and parameters lie.

use super::lanewise;
use super::moves;
use crate::engine::exec::level::{Level, scalar, vector};
use crate::engine::exec::lanes::{LANES, dst, lanes_of, put, put_predicate, src};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::exec::windows::{LOCAL, PARAMETERS, RANK_SHIFT, SHARED, WINDOWS, window};
use crate::engine::fault::FaultKind;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Register, Width, expect_operands};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

lanewise! {
    ToShared(a: u64) -> u64 { a.wrapping_add(SHARED) }
    ToLocal(a: u64) -> u64 { a.wrapping_add(LOCAL) }
    ToParameter(a: u64) -> u64 { a.wrapping_add(PARAMETERS) }
    FromWindow(a: u64) -> u64 { a & (WINDOWS - 1) }
    // What is not in shared memory (null, above all) does not become the address of something there.
    FromShared(a: u64) -> u64 { a.wrapping_sub(SHARED) }
}

/// The local-space address of a variable of the frame: `x` plus where the frame's local memory starts.
struct LocalAddress;

impl WordsOp for LocalAddress {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let base = warp.frames[warp.frame as usize].local_base;
        let address = u64::from(base).wrapping_add(i64::from(inst.x as i32) as u64);
        // SAFETY: the destination has 64 bits.
        unsafe { put(warp, inst.d, &[address; LANES]) }
        Flow::Next
    }
}

/// Copies a formal parameter into local memory, because its address is taken: `x` its offset there, `b` its size.
struct Spill;

impl WordsOp for Spill {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let size = inst.b as usize;
        let base = warp.frames[warp.frame as usize].local_base as usize + inst.x as usize;
        let stride = warp.local_stride as usize;
        for lane in lanes_of(warp.mask) {
            // SAFETY: the area has `size` bytes for each lane, and the frame's local memory room for them.
            unsafe {
                let from = warp.bases[0].add(inst.a as usize + lane * size);
                let to = warp.local.as_mut_ptr().add(lane * stride + base);
                from.copy_to_nonoverlapping(to, size);
            }
        }
        Flow::Next
    }
}

/// `isspacep`: bit 0 global, 1 shared of the block, 2 shared of the cluster, 3 local, 4 parameters, 5 constant.
struct InSpace;

impl WordsOp for InSpace {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let own = u64::from(warp.block().rank + 1);
        let constants = warp.grid().constants;
        // SAFETY: the source has 64 bits, the destination is a predicate.
        unsafe {
            let addresses = src::<u64>(warp, inst.a);
            let mut bits = 0;
            for lane in 0..LANES {
                let address = addresses[lane];
                let inside = match window(address) {
                    0 => {
                        let constant = address >= constants.0 && address < constants.1;
                        inst.x & if constant { 32 } else { 1 } != 0
                    }
                    SHARED => {
                        let rank = u64::from(address as u32 >> RANK_SHIFT);
                        inst.x & if rank == 0 || rank == own { 6 } else { 4 } != 0
                    }
                    LOCAL => inst.x & 8 != 0,
                    // Parameters lie inside the global window.
                    PARAMETERS => inst.x & 17 != 0,
                    _ => false,
                };
                bits |= u32::from(inside) << lane;
            }
            put_predicate(warp, inst.d, bits);
        }
        Flow::Next
    }
}

/// `mapa`: the address of the same place in the block of rank `b`. `x` bit 0: 64 bits wide, bit 1: generic addresses.
struct MapRank;

impl WordsOp for MapRank {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let ranks = warp.grid().cluster_blocks;
        for lane in lanes_of(warp.mask) {
            // SAFETY: the lowering gave the operands these widths.
            unsafe {
                let rank = src::<u32>(warp, inst.b)[lane];
                if rank >= ranks {
                    let message = format!("mapa with rank {rank} in a cluster of {ranks} blocks");
                    return warp.fail(FaultKind::IllegalInstruction, lane, message);
                }
                let place = |low: u32| low & ((1 << RANK_SHIFT) - 1) | (rank + 1) << RANK_SHIFT;
                if inst.x & 1 != 0 {
                    let address = src::<u64>(warp, inst.a)[lane];
                    if inst.x & 2 != 0 && window(address) != SHARED {
                        let message =
                            format!("mapa of {address:#x}, which is not in shared memory");
                        return warp.fail(FaultKind::InvalidAddressSpace, lane, message);
                    }
                    dst::<u64>(warp, inst.d)[lane] =
                        window(address) | u64::from(place(address as u32));
                } else {
                    dst::<u32>(warp, inst.d)[lane] = place(src::<u32>(warp, inst.a)[lane]);
                }
            }
        }
        Flow::Next
    }
}

/// `getctarank`: the rank of the block that an address belongs to. `x` bit 0: 64 bits wide.
struct RankOf;

impl WordsOp for RankOf {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let own = warp.block().rank;
        // SAFETY: the lowering gave the operands these widths.
        unsafe {
            let mut result = [0u32; LANES];
            for lane in 0..LANES {
                let low = if inst.x & 1 != 0 {
                    src::<u64>(warp, inst.a)[lane] as u32
                } else {
                    src::<u32>(warp, inst.a)[lane]
                };
                result[lane] = (low >> RANK_SHIFT).checked_sub(1).unwrap_or(own);
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

/// A temporary with the local-space address of an offset in the frame's local memory.
pub(crate) fn local_address(cx: &mut Builder<'_, '_>, offset: i64) -> Field {
    let result = Field::Register(cx.new_register(Width::W64));
    cx.emit_untyped(
        scalar::<LocalAddress>(),
        result,
        Field::NONE,
        Field::NONE,
        Field::NONE,
    )
    .x = Link::Raw(offset as u32);
    result
}

/// Copies a formal parameter to local memory; its offset there.
pub(crate) fn spill_area(cx: &mut Builder<'_, '_>, area: Register, size: u32) -> Result<u32> {
    let offset = cx.local_bytes.next_multiple_of(16);
    cx.local_bytes = offset + size;
    let lowered = cx.emit_untyped(
        scalar::<Spill>(),
        Field::NONE,
        Field::Register(area),
        Field::Raw(size),
        Field::NONE,
    );
    lowered.x = Link::Raw(offset);
    Ok(offset)
}

/// The spaces by modifier, as bits of [`InSpace`].
const SPACES: [(&str, u32); 9] = [
    ("global", 1),
    ("shared", 2),
    ("shared::cta", 2),
    ("shared::cluster", 4),
    ("local", 8),
    ("param", 16),
    ("param::entry", 16),
    ("param::func", 8),
    ("const", 32),
];

const PRED: Ty = Ty {
    kind: Kind::Pred,
    bits: 1,
    packed: 1,
};
const U32: Ty = Ty {
    kind: Kind::Unsigned,
    bits: 32,
    packed: 1,
};
const U64: Ty = Ty {
    kind: Kind::Unsigned,
    bits: 64,
    packed: 1,
};

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let to = inst.opcode == "cvta" && modifiers.flag("to");
    let space = SPACES
        .iter()
        .find(|(name, _)| modifiers.flag(name))
        .map(|&(_, bits)| bits);
    let ty = if inst.opcode == "isspacep" {
        None
    } else {
        modifiers.ty()
    };
    modifiers.finish(inst)?;
    match inst.opcode {
        "isspacep" => {
            let space = space.ok_or_else(|| unknown(inst))?;
            expect_operands(inst, &[2])?;
            let (d, a) = (
                cx.dst(&inst.operands[0], Width::of(PRED))?,
                cx.src(&inst.operands[1], U64)?,
            );
            cx.emit_untyped(scalar::<InSpace>(), d, a, Field::NONE, Field::NONE)
                .x = Link::Raw(space);
            Ok(())
        }
        "cvta" => {
            let space = space.ok_or_else(|| unknown(inst))?;
            let ty = ty.filter(|t| *t == U64).ok_or_else(|| unknown(inst))?;
            expect_operands(inst, &[2])?;
            convert(cx, inst, to, space, ty)
        }
        _ => {
            let ty = ty
                .filter(|t| *t == U32 || *t == U64)
                .ok_or_else(|| unknown(inst))?;
            let generic = space.is_none();
            if space.is_some_and(|s| s != 4) || generic && ty == U32 {
                return Err(unknown(inst));
            }
            let x = u32::from(ty == U64) | u32::from(generic) << 1;
            let map = inst.opcode == "mapa";
            expect_operands(inst, &[if map { 3 } else { 2 }])?;
            let d = cx.dst(
                &inst.operands[0],
                if map { Width::of(ty) } else { Width::W32 },
            )?;
            let a = cx.src(&inst.operands[1], ty)?;
            let b = if map {
                cx.src(&inst.operands[2], U32)?
            } else {
                Field::NONE
            };
            let exec = if map {
                scalar::<MapRank>()
            } else {
                scalar::<RankOf>()
            };
            if d != Field::Sink {
                cx.emit_untyped(exec, d, a, b, Field::NONE).x = Link::Raw(x);
            }
            Ok(())
        }
    }
}

fn convert<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    to: bool,
    space: u32,
    ty: Ty,
) -> Result<()> {
    let (target, source) = (&inst.operands[0], &inst.operands[1]);
    let d = cx.dst(target, Width::of(ty))?;
    let exec: Option<Code> = match (space, to) {
        (1 | 32, _) => moves::exec(Width::W64),
        (2 | 4, true) => Some(vector::<FromShared>()),
        (_, true) => Some(vector::<FromWindow>()),
        (2 | 4, false) => Some(vector::<ToShared>()),
        (8, false) => Some(vector::<ToLocal>()),
        (16, false) => Some(vector::<ToParameter>()),
        _ => None,
    };
    let a = cx.src(source, U64)?;
    cx.emit_untyped(
        exec.ok_or_else(|| unknown(inst))?,
        d,
        a,
        Field::NONE,
        Field::NONE,
    );
    Ok(())
}

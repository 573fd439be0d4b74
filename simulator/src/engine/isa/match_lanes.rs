//! `match`: which lanes of a warp hold the same value.

use super::family::Family;
use std::marker::PhantomData;

use crate::engine::exec::exchange::{Exchange, exchange};
use crate::engine::exec::operand::{
    FULL, LANES, Read, Value, Write, WriteOptional, WritePredicateOptional, lanes_of, operands,
};
use crate::engine::exec::warp::Warp;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Width, expect_operands};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["match"],
    lower,
};

operands! {
    pub(crate) struct MatchAnyOperands<T: Value> { d: Write<u32>, value: Read<T>, members: Read<u32> }
    pub(crate) struct MatchAllOperands<T: Value> {
        d: WriteOptional<u32>, all: WritePredicateOptional, value: Read<T>, members: Read<u32>,
    }
}

/// `match.any.sync`: for each lane, the lanes with the same value.
struct MatchAny<T>(PhantomData<T>);

impl<T: Value + Eq> Exchange for MatchAny<T> {
    type Operands = MatchAnyOperands<T>;

    #[inline(always)]
    fn members(o: &Self::Operands) -> Read<u32> {
        o.members
    }

    #[inline(always)]
    fn exchange(warp: &mut Warp, o: Self::Operands, _: u32) {
        let values = o.value.lanes(warp);
        let mut result = [0u32; LANES];
        for lane in lanes_of(warp.mask) {
            let same = lanes_of(warp.mask).filter(|&other| values[other] == values[lane]);
            result[lane] = same.fold(0, |all, other| all | 1 << other);
        }
        o.d.put(warp, &result);
    }
}

/// `match.all.sync`: the member mask if all have the same value, else 0.
struct MatchAll<T>(PhantomData<T>);

impl<T: Value + Eq> Exchange for MatchAll<T> {
    type Operands = MatchAllOperands<T>;

    #[inline(always)]
    fn members(o: &Self::Operands) -> Read<u32> {
        o.members
    }

    #[inline(always)]
    fn exchange(warp: &mut Warp, o: Self::Operands, members: u32) {
        let values = o.value.lanes(warp);
        let first = values[warp.mask.trailing_zeros() as usize & 31];
        let equal = lanes_of(warp.mask).all(|lane| values[lane] == first);
        o.d.put(warp, &[if equal { members } else { 0 }; LANES]);
        o.all.put(warp, if equal { FULL } else { 0 });
    }
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    if !modifiers.flag("sync") {
        return Err(unknown(inst));
    }
    let mode = modifiers
        .any(&["any", "all"])
        .ok_or_else(|| unknown(inst))?;
    let ty = modifiers
        .ty()
        .filter(|ty| ty.kind == Kind::Bits && ty.packed == 1)
        .ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    expect_operands(inst, &[3])?;
    let mut fields = Vec::new();
    let code = match (mode, ty.bits) {
        ("any", bits) => {
            fields.push(cx.dst(&inst.operands[0], Width::W32)?);
            match bits {
                32 => exchange::<MatchAny<u32>>(),
                64 => exchange::<MatchAny<u64>>(),
                _ => return Err(unknown(inst)),
            }
        }
        (_, bits) => {
            fields.extend(<[_; 2]>::from(cx.dst_pair(&inst.operands[0])?));
            match bits {
                32 => exchange::<MatchAll<u32>>(),
                64 => exchange::<MatchAll<u64>>(),
                _ => return Err(unknown(inst)),
            }
        }
    };
    fields.push(cx.src(&inst.operands[1], ty)?);
    fields.push(cx.src(&inst.operands[2], Ty::B32)?);
    cx.emit_fields(code, &fields);
    Ok(())
}

//! `match`: which lanes of a warp hold the same value.

use super::family::Family;
use std::marker::PhantomData;

use crate::engine::exec::exchange::{Exchange, exchange};
use crate::engine::exec::operand::{
    FULL, LANES, Read, Value, Write, WriteOptional, WritePredicateOptional, lanes_of, operands,
};
use crate::engine::exec::warp::Warp;
use crate::engine::lower::Width;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::Ty;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["match"],
    read,
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

/// `match.all.sync`: the members that take part, if all have the same value, else 0.
struct MatchAll<T>(PhantomData<T>);

impl<T: Value + Eq> Exchange for MatchAll<T> {
    type Operands = MatchAllOperands<T>;

    #[inline(always)]
    fn members(o: &Self::Operands) -> Read<u32> {
        o.members
    }

    #[inline(always)]
    fn exchange(warp: &mut Warp, o: Self::Operands, _: u32) {
        let (values, here) = (o.value.lanes(warp), warp.mask);
        let first = values[warp.mask.trailing_zeros() as usize & 31];
        let equal = lanes_of(warp.mask).all(|lane| values[lane] == first);
        o.d.put(warp, &[if equal { here } else { 0 }; LANES]);
        o.all.put(warp, if equal { FULL } else { 0 });
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if !form.has("sync") {
        return None;
    }
    let mode = form.one_of(&["any", "all"])?;
    let ty = form.ty()?;
    let code = match (mode, ty.bits) {
        ("any", 32) => exchange::<MatchAny<u32>>(),
        ("any", 64) => exchange::<MatchAny<u64>>(),
        (_, 32) => exchange::<MatchAll<u32>>(),
        (_, 64) => exchange::<MatchAll<u64>>(),
        _ => return None,
    };
    Some(Lowering::new(move |cx, inst| {
        let value = cx.src(&inst.operands[1], ty)?;
        let members = cx.src(&inst.operands[2], Ty::B32)?;
        if mode == "any" {
            let d = cx.dst(&inst.operands[0], Width::W32)?;
            cx.emit_fields(code, &[d, value, members]);
        } else {
            let (d, all) = cx.dst_pair(&inst.operands[0])?;
            cx.emit_fields(code, &[d, all, value, members]);
        }
        Ok(())
    }))
}

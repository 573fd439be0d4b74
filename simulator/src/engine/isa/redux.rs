//! `redux`: one value made of those of the lanes of a warp.

use super::family::Family;
use std::marker::PhantomData;

use crate::engine::exec::exchange::{Exchange, exchange};
use crate::engine::exec::operand::{LANES, Read, Value, Write, lanes_of, operands};
use crate::engine::exec::warp::Warp;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Width, expect_operands};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["redux"],
    lower,
};

operands! {
    pub(crate) struct ReduxOperands<T: Value> { d: Write<T>, value: Read<T>, members: Read<u32> }
}

/// An associative operation.
trait Combine {
    type Value: Value + Default;

    fn combine(a: Self::Value, b: Self::Value) -> Self::Value;
}

macro_rules! combinations {
    ($($name:ident |$a:ident, $b:ident: $ty:ty| $body:expr;)*) => { $(
        struct $name;

        impl Combine for $name {
            type Value = $ty;

            #[inline(always)]
            fn combine($a: $ty, $b: $ty) -> $ty { $body }
        }
    )* };
}
combinations! {
    Add |a, b: u32| a.wrapping_add(b);
    MinUnsigned |a, b: u32| a.min(b);
    MinSigned |a, b: i32| a.min(b);
    MaxUnsigned |a, b: u32| a.max(b);
    MaxSigned |a, b: i32| a.max(b);
    And |a, b: u32| a & b;
    Or |a, b: u32| a | b;
    Xor |a, b: u32| a ^ b;
}

/// `redux.sync`
struct Redux<C>(PhantomData<C>);

impl<C: Combine> Exchange for Redux<C> {
    type Operands = ReduxOperands<C::Value>;

    #[inline(always)]
    fn members(o: &Self::Operands) -> Read<u32> {
        o.members
    }

    #[inline(always)]
    fn exchange(warp: &mut Warp, o: Self::Operands, _: u32) {
        let values = o.value.lanes(warp);
        let all = lanes_of(warp.mask).map(|lane| values[lane]);
        let result = all.reduce(C::combine).unwrap_or_default();
        o.d.put(warp, &[result; LANES]);
    }
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    if !modifiers.flag("sync") {
        return Err(unknown(inst));
    }
    let operation = modifiers
        .any(&["add", "min", "max", "and", "or", "xor"])
        .ok_or_else(|| unknown(inst))?;
    let ty = modifiers
        .ty()
        .filter(|ty| ty.width() == 32)
        .ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    expect_operands(inst, &[3])?;
    let code = match (operation, ty.kind) {
        ("add", Kind::Unsigned | Kind::Signed) => exchange::<Redux<Add>>(),
        ("min", Kind::Unsigned) => exchange::<Redux<MinUnsigned>>(),
        ("min", Kind::Signed) => exchange::<Redux<MinSigned>>(),
        ("max", Kind::Unsigned) => exchange::<Redux<MaxUnsigned>>(),
        ("max", Kind::Signed) => exchange::<Redux<MaxSigned>>(),
        ("and", Kind::Bits) => exchange::<Redux<And>>(),
        ("or", Kind::Bits) => exchange::<Redux<Or>>(),
        ("xor", Kind::Bits) => exchange::<Redux<Xor>>(),
        _ => return Err(unknown(inst)),
    };
    let fields = [
        cx.dst(&inst.operands[0], Width::W32)?,
        cx.src(&inst.operands[1], ty)?,
        cx.src(&inst.operands[2], Ty::B32)?,
    ];
    cx.emit_fields(code, &fields);
    Ok(())
}

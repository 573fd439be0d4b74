//! `redux`: one value made of those of the lanes of a warp.

use super::family::Family;
use super::lowering::emit;
use std::marker::PhantomData;

use crate::engine::exec::exchange::{Exchange, exchange};
use crate::engine::exec::operand::{LANES, Read, Value, Write, lanes_of, operands};
use crate::engine::exec::warp::Warp;
use crate::engine::lower::accepted::Lowering;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::types::{ScalarKind, Ty};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["redux"],
    read,
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

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if !form.has("sync") {
        return None;
    }
    let operation = form.one_of(&["add", "min", "max", "and", "or", "xor"])?;
    let ty = form.ty().filter(|ty| ty.width() == 32)?;
    let code = match (operation, ty.kind) {
        ("add", ScalarKind::Unsigned | ScalarKind::Signed) => exchange::<Redux<Add>>(),
        ("min", ScalarKind::Unsigned) => exchange::<Redux<MinUnsigned>>(),
        ("min", ScalarKind::Signed) => exchange::<Redux<MinSigned>>(),
        ("max", ScalarKind::Unsigned) => exchange::<Redux<MaxUnsigned>>(),
        ("max", ScalarKind::Signed) => exchange::<Redux<MaxSigned>>(),
        ("and", ScalarKind::Bits) => exchange::<Redux<And>>(),
        ("or", ScalarKind::Bits) => exchange::<Redux<Or>>(),
        ("xor", ScalarKind::Bits) => exchange::<Redux<Xor>>(),
        _ => return None,
    };
    Some(emit(code, ty, &[ty, Ty::B32]))
}

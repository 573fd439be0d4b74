//! Dot products of small integers: `dp4a dp2a`.

use super::family::Family;
use super::lanewise;
use super::lowering::{by_flags, emit};
use crate::engine::exec::op::{scalar, vector};
use crate::engine::lower::Builder;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::numerics::integer as numeric;
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["dp4a", "dp2a"],
    lower,
};

lanewise! {
    Dp4a[A_SIGNED, B_SIGNED](a: u32, b: u32, c: u32) -> u32 { numeric::dp4a(a, b, c, A_SIGNED, B_SIGNED) }
    Dp2a[A_SIGNED, B_SIGNED, HIGH](a: u32, b: u32, c: u32) -> u32 {
        numeric::dp2a(a, b, c, A_SIGNED, B_SIGNED, HIGH)
    }
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let half = modifiers.any(&["lo", "hi"]);
    let mut signed = || modifiers.ty().map(|ty| ty.kind == Kind::Signed);
    let (Some(a), Some(b)) = (signed(), signed()) else {
        return Err(unknown(inst));
    };
    modifiers.finish(inst)?;
    let code = match inst.opcode {
        "dp4a" => by_flags!(vector, Dp4a[] a, b),
        _ => by_flags!(scalar, Dp2a[] a, b, half == Some("hi")),
    };
    emit(cx, inst, code, Ty::U32, &[Ty::U32; 3])
}

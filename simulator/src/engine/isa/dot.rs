//! Dot products of small integers: `dp4a dp2a`.

use super::family::Family;
use super::lanewise;
use super::lowering::{by_flags, emit};
use crate::engine::exec::op::{scalar, vector};
use crate::engine::lower::accepted::Lowering;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::numerics::integer as numeric;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["dp4a", "dp2a"],
    read,
};

lanewise! {
    Dp4a[A_SIGNED, B_SIGNED](a: u32, b: u32, c: u32) -> u32 { numeric::dp4a(a, b, c, A_SIGNED, B_SIGNED) }
    Dp2a[A_SIGNED, B_SIGNED, HIGH](a: u32, b: u32, c: u32) -> u32 {
        numeric::dp2a(a, b, c, A_SIGNED, B_SIGNED, HIGH)
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let high = form.one_of(&["lo", "hi"]) == Some("hi");
    let signed = || form.ty().map(|ty| ty.kind == ScalarKind::Signed);
    let (a, b) = (signed()?, signed()?);
    let code = match form.opcode() {
        "dp4a" => by_flags!(vector, Dp4a[] a, b),
        _ => by_flags!(scalar, Dp2a[] a, b, high),
    };
    Some(emit(code, Ty::U32, &[Ty::U32; 3]))
}

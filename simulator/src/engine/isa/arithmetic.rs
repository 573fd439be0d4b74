//! `add sub mul mad fma div rem min max abs neg`: decides by type who lowers them.

use super::family::Family;
use super::{approximate, float, half, integer};
use crate::engine::lower::Builder;
use crate::engine::lower::modifiers::{Kind, Modifiers, unknown};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &[
        "add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "abs", "neg",
    ],
    lower,
};

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let Some(ty) = Modifiers::new(inst).ty() else {
        return Err(unknown(inst));
    };
    match ty.kind {
        _ if half::is_half(ty) => half::lower(cx, inst),
        Kind::Float if approximate::is_special(inst) => approximate::lower(cx, inst),
        Kind::Float | Kind::Brain => float::lower(cx, inst),
        _ => integer::lower(cx, inst),
    }
}

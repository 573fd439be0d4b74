//! `setp set`: decides by type who lowers them.

use super::compare::CompareModifiers;
use super::family::Family;
use super::{compare, half};
use crate::engine::lower::Builder;
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["setp", "set"],
    lower,
};

fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let modifiers = CompareModifiers::of(inst)?;
    if half::is_half(modifiers.ty) {
        half::compare(cx, inst, modifiers)
    } else {
        compare::compare_and_set(cx, inst, modifiers)
    }
}

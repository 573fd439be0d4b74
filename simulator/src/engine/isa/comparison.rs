//! `setp set`: decides by type who lowers them.

use super::family::Family;
use super::{compare, half};
use crate::engine::lower::Builder;
use crate::engine::lower::modifiers::Ty;
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["setp", "set"],
    lower,
};

fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut types = inst.modifiers.iter().filter_map(|name| Ty::named(name));
    match types.next_back() {
        Some(ty) if half::is_half(ty) => half::compare(cx, inst),
        _ => compare::compare_and_set(cx, inst),
    }
}

//! `setp set`: decides by type who lowers them.

use super::compare::CompareModifiers;
use super::family::Family;
use super::{compare, half};
use crate::engine::lower::accepted::Lowering;
use crate::engine::lower::form::FormReader;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["setp", "set"],
    read,
};

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let modifiers = CompareModifiers::read(form)?;
    if half::is_half(modifiers.ty) {
        half::compare(modifiers)
    } else {
        compare::compare_and_set(modifiers)
    }
}

//! `add sub mul mad fma div rem min max abs neg`: decides by type who lowers them.

use super::family::Family;
use super::{approximate, float, half, integer};
use crate::engine::lower::accepted::Lowering;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::types::ScalarKind;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &[
        "add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "abs", "neg",
    ],
    read,
};

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let ty = form.first_type()?;
    match ty.kind {
        _ if half::is_half(ty) => half::read(form),
        ScalarKind::Float if approximate::is_special(form) => approximate::read(form),
        ScalarKind::Float | ScalarKind::Brain => float::read(form),
        _ => integer::read(form),
    }
}

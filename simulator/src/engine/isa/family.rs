//! Instruction families: the opcodes that a file lowers.

use crate::engine::lower::Builder;
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// Lowers an instruction that the builder has accepted.
pub(crate) type Lower =
    for<'a, 'm, 'b> fn(&'b mut Builder<'a, 'm>, &'a Instruction<'a>) -> Result<()>;

/// The instructions of a file.
pub(crate) struct Family {
    pub opcodes: &'static [&'static str],
    pub lower: Lower,
}

//! Instruction families: the opcodes that a file lowers.

use crate::engine::lower::accepted::ReadForm;

/// The instructions of a file.
pub(crate) struct Family {
    pub opcodes: &'static [&'static str],
    /// Reads the modifiers of a form with one of these opcodes that the module may have.
    pub read: ReadForm,
}

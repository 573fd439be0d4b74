//! The kinds of fuzzing.

use crate::kind::Kind;
use crate::{api, host, mutants, programs, ptx};

/// All of them.
pub const KINDS: &[Kind] = &[
    programs::SCALAR,
    programs::WARP,
    ptx::PTX,
    api::API,
    host::HOST,
    mutants::MUTANTS,
];

/// The kind of this name.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

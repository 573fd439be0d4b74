//! What is said of the accesses of one round alone, and holds no longer where operations of several rounds stand together.

use crate::linker::block_copies::Copies;
use crate::llvm::{Block, Value};

/// Metadata by which accesses of one round are told apart: each round would need its own.
const OF_ONE_ROUND: [&str; 2] = ["alias.scope", "noalias"];

/// The intrinsic that begins the scopes of a round.
const SCOPE: &str = "llvm.experimental.noalias.scope.decl";

/// Puts a copy of an operation of another round at the end of a block.
pub(super) fn push_copy<'c>(
    round: &mut Copies<'c>,
    block: Block<'c>,
    original: Value<'c>,
) -> Value<'c> {
    let copy = round.push_to(block, original);
    drop_scopes(copy);
    copy
}

/// Takes off an access what holds for one round alone.
pub(super) fn drop_scopes(access: Value<'_>) {
    let kinds = OF_ONE_ROUND.iter();
    kinds.for_each(|kind| access.drop_metadata(kind));
}

/// Whether an instruction only begins the scopes of a round.
pub(super) fn is_scope(instruction: Value<'_>) -> bool {
    instruction.is_call()
        && instruction
            .callee()
            .is_some_and(|callee| callee.name() == SCOPE)
}

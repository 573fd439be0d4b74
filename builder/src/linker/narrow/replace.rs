//! The walk of passes that replace what they find: all is found before anything is replaced, as what is known of values depends on what stands there.

use super::dominators::Dominators;
use crate::llvm::{Place, Value};

/// Replaces each instruction of reachable blocks for which `find` finds something by what `make` makes of that at its place; whether there were any.
pub(super) fn replace_found<'c, F>(
    dominators: &Dominators<'c>,
    find: impl Fn(Value<'c>) -> Option<F>,
    make: impl Fn(&F, Place<'c>) -> Value<'c>,
) -> bool {
    let all = dominators.instructions().into_iter();
    let found: Vec<_> = all.filter_map(|old| Some((old, find(old)?))).collect();
    for (old, found) in &found {
        old.replace_by(make(found, Place::before(*old)));
    }
    !found.is_empty()
}

//! What a kernel calls.

use std::collections::HashSet;

use crate::llvm::{Value, ValueKind};

/// `start` and all that it calls, directly or not.
pub(super) fn reachable(start: Value<'_>) -> HashSet<Value<'_>> {
    let mut found = HashSet::from([start]);
    let mut queue = vec![start];
    while let Some(function) = queue.pop() {
        for call in function.instructions().into_iter().filter(|i| i.is_call()) {
            if let Some(callee) = call.callee()
                && callee.kind() == ValueKind::Function
                && !callee.is_declaration()
                && found.insert(callee)
            {
                queue.push(callee);
            }
        }
    }
    found
}

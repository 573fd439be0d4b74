//! What a kernel calls, and which kernels call a function.

use std::collections::HashSet;

use crate::llvm::{Module, Value, ValueKind, calling_convention::PTX_KERNEL};

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

/// The kernels that call the function, or are it.
pub(super) fn kernels_of(module: &Module<'_>, symbol: &str) -> Vec<String> {
    let Some(function) = module.function(symbol) else {
        return Vec::new();
    };
    module
        .functions()
        .into_iter()
        .filter(|f| f.calling_convention() == PTX_KERNEL && reachable(*f).contains(&function))
        .map(Value::name)
        .collect()
}

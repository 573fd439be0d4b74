//! What may be done with a stack slot that LLVM's SROA makes values of.

use crate::llvm::Value;

/// Intrinsics that SROA splits into accesses of elements, if they are of constant length.
const COPIES: [&str; 3] = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."];

/// Whether a call marks where a slot's life begins or ends.
pub(super) fn is_lifetime(call: Value<'_>) -> bool {
    call.is_call_of(&["llvm.lifetime."])
}

/// Whether a call copies or fills memory that is not volatile.
pub(super) fn is_copy(call: Value<'_>) -> bool {
    call.is_call_of(&COPIES) && call.operand(3).and_then(Value::as_integer) == Some(0)
}

/// Whether a call that is given a slot's address leaves the slot to be split.
pub(super) fn is_split(call: Value<'_>) -> bool {
    let Some(callee) = call.callee() else {
        return false;
    };
    let callee = callee.name();
    let is_constant = |n| call.operand(n).and_then(Value::as_integer);
    let is_copy = COPIES.iter().any(|name| callee.starts_with(name));
    is_lifetime(call) || is_copy && is_constant(2).is_some() && is_constant(3) == Some(0)
}

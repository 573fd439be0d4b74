//! Copies of 16 aligned bytes become one load and one store of four words.
//!
//! rustc copies a struct such as `Vector<f32>` by `llvm.memcpy`. LLVM replaces such a copy by a load and a store up to
//! eight bytes only; a longer one between registers and memory leaves a stack slot behind where no other access has a
//! matching type, and one between two memories becomes two 8-byte accesses without `.nc`. As a load and a store of
//! `<4 x i32>`, which the hardware has (`ld.v4.b32`), it is seen through like any other access.

use crate::llvm::{Module, Value};

/// The size that one instruction moves, and the alignment that it needs.
const VECTOR: u64 = 16;

/// Rewrites every copy of 16 bytes between addresses that are known to be aligned to 16.
pub fn widen(module: &Module<'_>) {
    for function in module.functions() {
        if !function.name().starts_with("llvm.memcpy.") {
            continue;
        }
        for call in function.calls() {
            if is_vector(call) {
                call.build_vector_copy_before();
                call.erase();
            }
        }
    }
}

/// Whether a `memcpy(to, from, size, volatile)` is one vector.
fn is_vector(call: Value<'_>) -> bool {
    let constant = |n| call.operand(n).and_then(Value::as_integer);
    let aligned = |n| call.call_parameter_alignment(n) >= VECTOR;
    constant(2) == Some(VECTOR) && constant(3) == Some(0) && aligned(0) && aligned(1)
}

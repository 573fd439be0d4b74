//! Gives the read-modify-writes of `core::sync::atomic` their order and scope.
//!
//! LLVM's NVPTX target writes `atomicrmw` as a bare `atom`: relaxed, and only seen by the own device. Rust
//! promises the order that the program asked for, to every thread of the system. So, after optimisation, each
//! becomes inline assembly that says both (`atom.acq_rel.sys...`), with a `fence.sc.sys` before it for
//! `SeqCst`. What has no such instruction (`nand`, 8 and 16 bits) is left: LLVM makes a compare-exchange loop
//! of it, and compare-exchange keeps order and scope, or a wider one, which gets its order and scope here in turn (from LLVM 23 on
//! the order is in fences around it).

use super::globals::{GLOBAL, SHARED};
use crate::llvm::{Module, Ordering, RmwOperation, Value, opcode};

/// Rewrites all read-modify-writes of the module.
pub(crate) fn restore(module: &Module<'_>) {
    for function in module.functions() {
        for instruction in function.instructions() {
            if instruction.opcode() == opcode::ATOMIC_RMW {
                rewrite(instruction);
            }
        }
    }
}

fn rewrite(rmw: Value<'_>) {
    let bits = rmw.integer_bits();
    let (Some(pointer), Some(operand)) = (rmw.operand(0), rmw.operand(1)) else {
        return;
    };
    let float = rmw.float_bits();
    let Some((operation, ty)) = instruction(rmw.rmw_operation(), bits, float) else {
        // A loop of compare-exchange, which keeps order and scope.
        return;
    };
    let space = match pointer.address_space() {
        GLOBAL => ".global",
        SHARED => ".shared",
        // Left to `spaces`.
        _ => "/*space=${1}*/",
    };
    let order = match rmw.ordering() {
        Ordering::Monotonic => "relaxed",
        Ordering::Acquire => "acquire",
        Ordering::Release => "release",
        Ordering::AcquireRelease | Ordering::SequentiallyConsistent => "acq_rel",
    };
    let fence = if rmw.ordering() == Ordering::SequentiallyConsistent {
        "fence.sc.sys;\n\t"
    } else {
        ""
    };
    let register = match ty {
        "f32" => "f",
        "f64" => "d",
        _ if bits == Some(64) => "l",
        _ => "r",
    };
    // Subtraction is the addition of the negated operand.
    let negate = rmw.rmw_operation() == RmwOperation::Sub;
    let operand = if negate {
        rmw.build_negation_before(operand)
    } else {
        operand
    };
    let text = format!("{fence}atom.{order}.sys{space}.{operation}.{ty} $0, [$1], $2;");
    let constraints = format!("={register},l,{register},~{{memory}}");
    let result = rmw.build_asm_before(&text, &constraints, rmw.ty(), &[pointer, operand]);
    rmw.replace_by(result);
}

/// Operation and type suffix of PTX's `atom`, where there is one.
fn instruction(
    operation: RmwOperation,
    bits: Option<u32>,
    float: Option<u32>,
) -> Option<(&'static str, &'static str)> {
    use RmwOperation::*;
    let pick = |narrow, wide| match bits {
        Some(32) => Some(narrow),
        Some(64) => Some(wide),
        _ => None,
    };
    Some(match operation {
        Exchange => ("exch", pick("b32", "b64")?),
        Add | Sub => ("add", pick("u32", "u64")?),
        And => ("and", pick("b32", "b64")?),
        Or => ("or", pick("b32", "b64")?),
        Xor => ("xor", pick("b32", "b64")?),
        Max => ("max", pick("s32", "s64")?),
        Min => ("min", pick("s32", "s64")?),
        UnsignedMax => ("max", pick("u32", "u64")?),
        UnsignedMin => ("min", pick("u32", "u64")?),
        FloatAdd => (
            "add",
            match float? {
                32 => "f32",
                64 => "f64",
                _ => return None,
            },
        ),
        Other => return None,
    })
}

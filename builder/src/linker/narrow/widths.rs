//! Operations of 64 bits on numbers of 32: products, comparisons, and conversions to floating point.
//!
//! LLVM narrows a product or a comparison where both operands are extended right there. Here bounds prove that they are small, also by what
//! was compared on the way. A product is one `mul.wide.u32` then, in the place of four multiplications. It is inline assembly, as the code
//! generator makes a mask of an extended truncation and no longer sees that the operands are short.

use super::bounds::{self, MOST_OF_32};
use super::dominators::Dominators;
use crate::llvm::{Place, Value, ValueKind, opcode, predicate};

/// Narrows the operations of a function.
pub(super) fn run<'c>(function: Value<'c>, dominators: &Dominators<'c>) {
    let wide = function
        .instructions()
        .into_iter()
        .filter(|i| may_be_short(*i));
    let reachable = wide.filter(|i| dominators.is_reachable(i.block()));
    for operation in reachable.collect::<Vec<_>>() {
        let is_small = |value| {
            let most = bounds::most_at(value, operation.block(), dominators);
            most.is_some_and(|most| most <= MOST_OF_32)
        };
        let mut operands = (0..operation.operand_count()).filter_map(|n| operation.operand(n));
        if operands.all(is_small) {
            shorten(operation);
        }
    }
}

/// Whether an operation of 64 bits is one that is cheaper of 32.
pub(super) fn may_be_short(operation: Value<'_>) -> bool {
    const UNSIGNED: [i32; 6] = [
        predicate::EQUAL,
        predicate::NOT_EQUAL,
        predicate::GREATER,
        predicate::GREATER_OR_EQUAL,
        predicate::LESS,
        predicate::LESS_OR_EQUAL,
    ];
    let is_wide = |n| {
        let operand = operation.operand(n);
        operand.is_some_and(|operand| operand.integer_bits() == Some(64) && !operand.is_pointer())
    };
    let is_constant = |n| operation.operand(n).and_then(Value::as_integer).is_some();
    match operation.opcode() {
        // A multiplication by a constant may be a shift, or part of an address.
        opcode::MUL => {
            is_wide(0)
                && !is_constant(1)
                && !(is_extended(operation, 0) && is_extended(operation, 1))
        }
        opcode::ICMP => is_wide(0) && UNSIGNED.contains(&operation.predicate()),
        opcode::UI_TO_FP => is_wide(0),
        _ => false,
    }
}

fn is_extended(operation: Value<'_>, n: u32) -> bool {
    let operand = operation.operand(n);
    let operand = operand.filter(|operand| operand.kind() == ValueKind::Instruction);
    operand.is_some_and(|operand| {
        let narrow = operand.operand(0).and_then(Value::integer_bits);
        operand.opcode() == opcode::ZEXT && narrow.is_some_and(|bits| bits <= 32)
    })
}

fn shorten(operation: Value<'_>) {
    let place = Place::before(operation);
    let operands = (0..operation.operand_count()).filter_map(|n| operation.operand(n));
    let short: Vec<_> = operands.map(|operand| place.resized(operand, 32)).collect();
    let result = match (operation.opcode(), &short[..]) {
        (opcode::MUL, factors) => {
            let text = "mul.wide.u32 $0, $1, $2;";
            place.pure_assembly(text, "=l,r,r", operation.ty(), factors)
        }
        (opcode::ICMP, [left, right]) => place.comparison(operation.predicate(), *left, *right),
        (opcode::UI_TO_FP, [number]) => place.float(*number, operation.ty()),
        _ => return,
    };
    operation.replace_uses_with(result);
    operation.erase();
}

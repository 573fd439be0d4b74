//! Operations of 64 bits on numbers of 32: products, comparisons, and conversions to floating point.
//!
//! LLVM narrows a product or a comparison where both operands are extended right there. Here bounds prove that they are small, also by what
//! was compared on the way. A product is one `mul.wide.u32` then, in the place of two to four multiplications. It is inline assembly, as the code
//! generator makes a mask of an extended truncation and no longer sees that the operands are short; nor does it see an extension in
//! another block, where its own passes put those that several products have in common.

use super::dominators::Dominators;
use super::products;
use super::values::Values;
use super::webs::Extension;
use crate::llvm::{Place, Value, ValueKind, opcode, predicate};

/// Narrows the operations of a function.
pub(super) fn run(dominators: &Dominators<'_>) {
    let values = Values::of(dominators);
    let all = dominators.instructions().into_iter();
    let wide = all.filter(|i| may_be_short(*i));
    // All before the first is replaced: what is known of values stays known while they do.
    let short = wide.filter_map(|operation| Some((operation, extension(&values, operation)?)));
    for (operation, extension) in short.collect::<Vec<_>>() {
        shorten(operation, extension);
    }
}

/// Narrows the comparisons of counters that have 32 bits already; what does not change stays outside their loops.
pub(super) fn run_counters(dominators: &Dominators<'_>) {
    let values = Values::of(dominators);
    let all = dominators.instructions().into_iter();
    let wide = all.filter(|i| {
        let mut sides = (0..i.operand_count().min(2)).filter_map(|n| i.operand(n));
        i.opcode() == opcode::ICMP
            && may_be_short(*i)
            && sides.any(|side| narrow_of(side).is_some())
    });
    let short = wide.filter_map(|comparison| Some((comparison, extension(&values, comparison)?)));
    for (comparison, extension) in short.collect::<Vec<_>>() {
        shorten(comparison, extension);
    }
}

/// What a value is the extension of.
fn narrow_of(value: Value<'_>) -> Option<Value<'_>> {
    let is_extension = value.kind() == ValueKind::Instruction && value.opcode() == opcode::ZEXT;
    let narrow = is_extension.then(|| value.operand(0)).flatten();
    narrow.filter(|narrow| narrow.integer_bits() == Some(32))
}

/// The lower half of an operand, made where the operand is made.
pub(super) fn half<'c>(operand: Value<'c>, user: Value<'c>) -> Value<'c> {
    if let Some(narrow) = narrow_of(operand) {
        return narrow;
    }
    let is_instruction = operand.kind() == ValueKind::Instruction;
    let behind = is_instruction.then(|| {
        let all = operand.block().instructions().into_iter();
        let mut behind = all.skip_while(|i| *i != operand).skip(1);
        behind.find(|i| i.opcode() != opcode::PHI)
    });
    Place::before(behind.flatten().unwrap_or(user)).resized(operand, 32)
}

/// Whether it is made of numbers of 32 bits.
pub(super) fn is_short<'c>(values: &Values<'_, 'c>, operation: Value<'c>) -> bool {
    may_be_short(operation) && extension(values, operation).is_some()
}

/// What the operands are extensions of, if all are of numbers of 32 bits.
fn extension<'c>(values: &Values<'_, 'c>, operation: Value<'c>) -> Option<Extension> {
    let operands = (0..operation.operand_count()).filter_map(|n| operation.operand(n));
    let ranges = operands.map(|operand| values.at(operand, operation.block()));
    let all = ranges.reduce(|a, b| Some(a?.union(b?)))??;
    Extension::of(all)
}

/// Whether an operation of 64 bits is one that is cheaper of 32.
pub(super) fn may_be_short(operation: Value<'_>) -> bool {
    let is_wide = |n| {
        let operand = operation.operand(n);
        operand.is_some_and(|operand| operand.integer_bits() == Some(64) && !operand.is_pointer())
    };
    let is_constant = |n| operation.operand(n).and_then(Value::as_integer).is_some();
    match operation.opcode() {
        // A multiplication by a constant may be a shift, or part of an address.
        opcode::MUL => is_wide(0) && !is_constant(1),
        opcode::ICMP | opcode::UI_TO_FP => is_wide(0),
        _ => false,
    }
}

fn shorten(operation: Value<'_>, extension: Extension) {
    let place = Place::before(operation);
    let operands = (0..operation.operand_count()).filter_map(|n| operation.operand(n));
    let short: Vec<_> = operands.map(|operand| half(operand, operation)).collect();
    let result = match (operation.opcode(), &short[..]) {
        (opcode::MUL, [left, right]) => products::wide(place, extension, [*left, *right]),
        // A signed number of 32 bits keeps its order, read either way.
        (opcode::ICMP, [left, right]) => {
            let predicate = operation.predicate();
            let predicate = match extension {
                // Neither is negative.
                Extension::Zero => unsigned(predicate),
                Extension::Sign => predicate,
            };
            place.comparison(predicate, *left, *right)
        }
        (opcode::UI_TO_FP, [number]) if extension == Extension::Zero => {
            place.float(*number, operation.ty())
        }
        _ => return,
    };
    operation.replace_by(result);
}

/// The predicate of unsigned numbers that says the same of numbers which are not negative.
pub(super) fn unsigned(predicate: i32) -> i32 {
    match predicate {
        predicate::SIGNED_LESS => predicate::LESS,
        predicate::SIGNED_LESS_OR_EQUAL => predicate::LESS_OR_EQUAL,
        predicate::SIGNED_GREATER => predicate::GREATER,
        predicate::SIGNED_GREATER_OR_EQUAL => predicate::GREATER_OR_EQUAL,
        same => same,
    }
}

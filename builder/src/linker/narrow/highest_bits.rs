//! Whether anything depends on the highest bit of an integer: not if only lower ones are used, as of `x as usize & 255`.

use crate::llvm::{Value, ValueKind, opcode};

/// How many operations may lie between an integer and where its highest bit is left out.
const DEPTH: u32 = 4;

/// Whether the highest bit of an integer may make a difference.
pub(super) fn may_matter(value: Value<'_>) -> bool {
    matters(value, DEPTH)
}

fn matters(value: Value<'_>, depth: u32) -> bool {
    let Some(bits) = value.integer_bits().filter(|bits| *bits <= 64) else {
        return true;
    };
    let highest = 1_u64 << (bits - 1);
    value.users().into_iter().any(|user| {
        if user.kind() != ValueKind::Instruction {
            return true;
        }
        // What never wraps around would be undefined of another number.
        let is_of_any = |user: Value<'_>| !user.never_wraps() && !user.never_wraps_signed();
        match user.opcode() {
            opcode::TRUNC => !is_of_any(user),
            opcode::AND => {
                let mask = user.operand(1).and_then(Value::as_integer);
                mask.is_none_or(|mask| mask & highest != 0)
            }
            // The lower bits of these are those of the lower bits alone.
            opcode::ADD | opcode::SUB | opcode::MUL => {
                depth == 0 || !is_of_any(user) || matters(user, depth - 1)
            }
            _ => true,
        }
    })
}

//! Puts state spaces into inline assembly.
//!
//! A pointer in Rust is a generic address, and LLVM, which finds out where it leads for ordinary loads and
//! stores, cannot look into `asm!`. So the device library writes `/*space={pointer}*/` where PTX may name a state
//! space: `atom.relaxed.gpu/*space=${1}*/.add.u32 ${0}, [${1}], ${2};`. After optimisation, the comment becomes
//! `.shared` or `.global` if the operand provably leads there (and the operand an address in that space), and
//! nothing otherwise. Atomics in shared memory are a different, much faster instruction than generic ones.

use std::collections::HashSet;

use super::globals::{GLOBAL, SHARED};
use crate::error::BuildError;
use crate::llvm::{Module, Value, ValueKind, opcode};

const MARK: &str = "/*space=${";
const KERNEL_CONVENTION: u32 = 71;

/// Rewrites all marked assembly of the module.
pub(crate) fn resolve(module: &Module<'_>) -> Result<(), BuildError> {
    for function in module.functions() {
        for instruction in function.instructions() {
            if instruction.is_call()
                && let Some(callee) = instruction.callee()
                && callee.kind() == ValueKind::InlineAsm
            {
                rewrite(instruction, callee)?;
            }
        }
    }
    Ok(())
}

fn rewrite(call: Value<'_>, asm: Value<'_>) -> Result<(), BuildError> {
    let text = asm.asm_text();
    let Some((operand, _)) = marked_operand(&text) else {
        return Ok(());
    };
    let constraints = asm.asm_constraints();
    let outputs = constraints
        .split(',')
        .filter(|c| c.starts_with('='))
        .count() as u32;
    let broken = || BuildError::Link(format!("the state space mark in `{text}` names no pointer"));
    let argument = operand.checked_sub(outputs).ok_or_else(broken)?;
    let pointer = call.operand(argument).ok_or_else(broken)?;
    let space = space_of(pointer, &mut HashSet::new());
    let (name, space) = match space {
        Space::Known(SHARED) => (".shared", SHARED),
        Space::Known(GLOBAL) => (".global", GLOBAL),
        _ => ("", 0),
    };
    let text = replace_marks(&text, name);
    let copy = call
        .build_asm_copy_before(&text, argument, space)
        .ok_or_else(broken)?;
    call.replace_uses_with(copy);
    call.erase();
    Ok(())
}

/// The operand that the first mark names, and the mark's length.
fn marked_operand(text: &str) -> Option<(u32, usize)> {
    let rest = &text[text.find(MARK)? + MARK.len()..];
    let end = rest.find("}*/")?;
    Some((rest[..end].parse().ok()?, MARK.len() + end + "}*/".len()))
}

/// A template as it is when nothing is known.
pub(crate) fn without_marks(text: &str) -> String {
    replace_marks(text, "")
}

fn replace_marks(text: &str, name: &str) -> String {
    let mut out = text.to_string();
    while let (Some(start), Some((_, length))) = (out.find(MARK), marked_operand(&out)) {
        out.replace_range(start..start + length, name);
    }
    out
}

/// Where a pointer leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    /// Only seen on a way round: whatever the other ways say.
    Any,
    Known(u32),
    Unknown,
}

impl Space {
    fn join(self, other: Space) -> Space {
        match (self, other) {
            (Space::Any, x) | (x, Space::Any) => x,
            (a, b) if a == b => a,
            _ => Space::Unknown,
        }
    }
}

/// Follows casts, offsets, selections and loops back to where the pointer comes from.
fn space_of<'c>(pointer: Value<'c>, seen: &mut HashSet<Value<'c>>) -> Space {
    if pointer.address_space() != 0 {
        return Space::Known(pointer.address_space());
    }
    if !seen.insert(pointer) {
        return Space::Any;
    }
    // A kernel's pointers lead to global memory, except those to by-value parameters.
    if let Some(function) = pointer.parameter_of() {
        let by_value = (0..function.parameter_count()).any(|n| {
            function.parameter(n) == Some(pointer)
                && function.has_flag(crate::llvm::Attribute::Parameter(n), "byval")
        });
        return if function.calling_convention() == KERNEL_CONVENTION && !by_value {
            Space::Known(GLOBAL)
        } else {
            Space::Unknown
        };
    }
    let opcode = match pointer.kind() {
        ValueKind::Instruction => Some(pointer.opcode()),
        _ => pointer.constant_opcode(),
    };
    let sources = match opcode {
        Some(opcode::ADDRESS_SPACE_CAST | opcode::BIT_CAST | opcode::GET_ELEMENT_POINTER) => 0..1,
        Some(opcode::SELECT) => 1..3,
        Some(opcode::PHI) => 0..pointer.operand_count(),
        _ => return Space::Unknown,
    };
    sources
        .filter_map(|n| pointer.operand(n))
        .fold(Space::Any, |space, source| {
            space.join(space_of(source, seen))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_and_replaced() {
        let text = "atom.relaxed.gpu/*space=${1}*/.add.u32 ${0}, [${1}], ${2};";
        assert_eq!(marked_operand(text).map(|(operand, _)| operand), Some(1));
        assert_eq!(
            replace_marks(text, ".shared"),
            "atom.relaxed.gpu.shared.add.u32 ${0}, [${1}], ${2};"
        );
        assert_eq!(
            replace_marks(text, ""),
            "atom.relaxed.gpu.add.u32 ${0}, [${1}], ${2};"
        );
        assert_eq!(marked_operand("bar.sync 0;"), None);
    }
}

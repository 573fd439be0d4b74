//! Puts state spaces into inline assembly.
//!
//! A pointer in Rust is a generic address, and LLVM, which finds out where it leads for ordinary loads and
//! stores, cannot look into `asm!`. So the device library writes `/*space={pointer}*/` where PTX may name a state
//! space: `atom.relaxed.gpu/*space=${1}*/.add.u32 ${0}, [${1}], ${2};`. After optimisation, the comment becomes
//! `.shared` or `.global` if the operand provably leads there (and the operand an address in that space), and
//! nothing otherwise. Atomics in shared memory are a different, much faster instruction than generic ones; those that may be in local
//! memory get another one beside them (`local_atomics`).

use std::collections::HashSet;

use super::globals::{GLOBAL, SHARED};
use super::local_atomics::{Locality, divert};
use crate::error::BuildError;
use crate::llvm::{Module, Value, ValueKind, opcode};

const MARK: &str = "/*space=${";
const KERNEL_CONVENTION: u32 = 71;
pub(super) const LOCAL: u32 = 5;
const SHARED_CLUSTER: u32 = 7;

/// Rewrites all marked assembly of the module.
pub(crate) fn resolve(module: &Module<'_>) -> Result<(), BuildError> {
    for function in module.functions() {
        for instruction in function.instructions() {
            if let Some(asm) = instruction.called_assembly() {
                rewrite(instruction, asm)?;
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
    let where_to = space_of(pointer, &mut HashSet::new());
    let (name, space) = match where_to {
        Space::Known(SHARED) => (".shared", SHARED),
        Space::Known(GLOBAL) => (".global", GLOBAL),
        _ => ("", 0),
    };
    let locality = match (name, where_to) {
        ("", Space::Known(LOCAL)) => Some(Locality::Local),
        ("", Space::Any | Space::Unknown) => Some(Locality::Unknown),
        _ => None,
    };
    let text = match locality.and_then(|locality| divert_marked(&text, locality)) {
        Some(diverted) => diverted,
        None => replace_marks(&text, name),
    };
    let copy = call
        .build_asm_copy_before(&text, argument, space)
        .ok_or_else(broken)?;
    call.replace_by(copy);
    Ok(())
}

/// The operand that the first mark names, and the mark's length.
fn marked_operand(text: &str) -> Option<(u32, usize)> {
    let rest = &text[text.find(MARK)? + MARK.len()..];
    let end = rest.find("}*/")?;
    Some((rest[..end].parse().ok()?, MARK.len() + end + "}*/".len()))
}

/// The template with what stands for its marked statement where the address may be local; `None` if that is no atomic one.
fn divert_marked(text: &str, locality: Locality) -> Option<String> {
    let mark = text.find(MARK)?;
    let start = text[..mark].rfind([';', '\n', '{']).map_or(0, |at| at + 1);
    let end = mark + text[mark..].find(';')?;
    let statement = replace_marks(&text[start..end], "");
    let diverted = divert(statement.trim(), locality)?;
    Some(format!("{}{diverted}{}", &text[..start], &text[end + 1..]))
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

/// Whether a pointer leads to one of these spaces, by all ways to the same one.
pub(super) fn leads_to_one_of(pointer: Value<'_>, spaces: &[u32]) -> bool {
    let space = space_of(pointer, &mut HashSet::new());
    matches!(space, Space::Known(space) if spaces.contains(&space))
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
    // Addresses that the device library computes.
    if opcode == Some(opcode::CALL)
        && let Some(asm) = pointer.called_assembly()
        && let Some(space) = space_of_asm(&asm.asm_text())
    {
        return Space::Known(space);
    }
    let sources = match opcode {
        Some(opcode::ALLOCA) => return Space::Known(LOCAL),
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

/// Where the address leads that an instruction of the device library makes: a neighbour's shared memory, or the space that it is
/// converted from.
fn space_of_asm(text: &str) -> Option<u32> {
    let spaces = [
        ("mapa.", SHARED_CLUSTER),
        ("cvta.global.", GLOBAL),
        ("cvta.shared.", SHARED),
    ];
    let (_, space) = spaces.iter().find(|(start, _)| text.starts_with(start))?;
    Some(*space)
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

    #[test]
    fn the_marked_statement_is_diverted() {
        let text = "fence.sc.sys;\n\tatom.acq_rel.sys/*space=${1}*/.exch.b32 $0, [$1], $2; // end";
        assert_eq!(
            divert_marked(text, Locality::Local).unwrap(),
            "fence.sc.sys;\n{ .reg .pred %wlocal, %wtest; .reg .b32 %wold, %wnew; ld.b32 %wold, [$1]; \
             mov.b32 %wnew, $2; st.b32 [$1], %wnew; mov.b32 $0, %wold; } // end"
        );
    }
}

//! What memory an instruction accesses that other threads of the launch may write, or read what it writes.
//!
//! A thread's own stack is not among it, nor what no thread writes: constants, and what is reached through a parameter that is `noalias` and
//! `readonly`, which is read by `ld.global.nc` for the same reason.
//!
//! A panic is recorded for the host. Threads that live tell it nothing by plain loads and stores, and what they compute does not depend on the record. So
//! its order with other accesses matters where those may be atomic ones: who sees what such a store says may ask for the record of a panic before.

use std::collections::HashSet;

use crate::linker::template::statements;
use crate::linker::{globals, is_kernel, panic_sites};
use crate::llvm::{Attribute, Value, ValueKind, opcode};

/// How many values an address is looked for in.
const MOST: usize = 32;

/// An access of a thread.
pub(super) struct Access<'c> {
    place: Place<'c>,
    writes: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Place<'c> {
    /// In this variable in shared memory, whose size is known here.
    Shared(Value<'c>),
    /// Anywhere in global memory.
    Global,
    /// The records of panics.
    Records,
    Anywhere,
}

impl<'c> Access<'c> {
    /// Whether the order of two accesses, of two threads, may be seen.
    pub(super) fn conflicts(&self, other: &Access<'c>) -> bool {
        let may_meet = match (self.place, other.place) {
            (Place::Anywhere, _) | (_, Place::Anywhere) => true,
            // Which of two panics comes first depends on neither.
            (Place::Records, Place::Records) => false,
            (one, other) => one == other,
        };
        may_meet && (self.writes || other.writes)
    }
}

/// All that an instruction accesses. What is not known may be anything, an order of other accesses among it.
pub(super) fn of<'c>(instruction: Value<'c>) -> Vec<Access<'c>> {
    let access = |pointer: Option<Value<'c>>, writes| {
        let is_plain = !(instruction.is_volatile() || instruction.is_atomic());
        match pointer.filter(|_| is_plain) {
            Some(pointer) => {
                let places = places(pointer).into_iter();
                places.map(|place| Access { place, writes }).collect()
            }
            None => vec![UNKNOWN],
        }
    };
    match instruction.opcode() {
        opcode::LOAD => access(instruction.operand(0), false),
        opcode::STORE => access(instruction.operand(1), true),
        opcode::CALL if is_panic(instruction) => vec![Access {
            place: Place::Records,
            writes: true,
        }],
        opcode::CALL if accesses_nothing(instruction) => Vec::new(),
        other if REGISTERS_ALONE.contains(&other) => Vec::new(),
        _ => vec![UNKNOWN],
    }
}

const UNKNOWN: Access<'static> = Access {
    place: Place::Anywhere,
    writes: true,
};

/// Instructions without access.
const REGISTERS_ALONE: [i32; 48] = [
    opcode::RET,
    opcode::BRANCH,
    opcode::SWITCH,
    opcode::UNREACHABLE,
    opcode::PHI,
    opcode::SELECT,
    opcode::FREEZE,
    opcode::ALLOCA,
    opcode::GET_ELEMENT_POINTER,
    opcode::BIT_CAST,
    opcode::ADDRESS_SPACE_CAST,
    opcode::PTR_TO_INT,
    opcode::INT_TO_PTR,
    opcode::ADD,
    opcode::SUB,
    opcode::MUL,
    opcode::UDIV,
    opcode::SDIV,
    opcode::UREM,
    opcode::SREM,
    opcode::SHL,
    opcode::LSHR,
    opcode::ASHR,
    opcode::AND,
    opcode::OR,
    opcode::XOR,
    opcode::TRUNC,
    opcode::ZEXT,
    opcode::SEXT,
    opcode::ICMP,
    opcode::FCMP,
    opcode::FADD,
    opcode::FSUB,
    opcode::FMUL,
    opcode::FDIV,
    opcode::FREM,
    opcode::FNEG,
    opcode::FP_TO_UI,
    opcode::FP_TO_SI,
    opcode::UI_TO_FP,
    opcode::SI_TO_FP,
    opcode::FP_TRUNC,
    opcode::FP_EXTEND,
    opcode::EXTRACT_ELEMENT,
    opcode::INSERT_ELEMENT,
    opcode::SHUFFLE_VECTOR,
    opcode::EXTRACT_VALUE,
    opcode::INSERT_VALUE,
];

/// Whether a call accesses nothing that matters here.
fn accesses_nothing(call: Value<'_>) -> bool {
    const MARKS: [&str; 4] = [
        "llvm.sideeffect",
        "llvm.assume",
        "llvm.experimental.noalias.scope.decl",
        "llvm.lifetime.",
    ];
    if let Some(assembly) = call.called_assembly() {
        let is_of_memory = assembly.asm_constraints().contains("~{memory}");
        let is_pure = !assembly.has_side_effects() && !is_of_memory;
        return is_pure || is_exchange(&assembly.asm_text());
    }
    let intrinsic = called_function(call).filter(|function| function.is_intrinsic());
    intrinsic.is_some_and(|intrinsic| {
        let name = intrinsic.name();
        let computes = intrinsic.accesses_no_memory()
            && !intrinsic.has_flag(Attribute::Function, "convergent");
        computes || MARKS.iter().any(|mark| name.starts_with(mark))
    })
}

/// Whether a call is a panic, or stops the grid by what a panic becomes that is not recorded.
fn is_panic(call: Value<'_>) -> bool {
    let assembly = call.called_assembly();
    assembly.is_some_and(|assembly| assembly.asm_text().trim() == "trap;")
        || called_function(call).is_some_and(panic_sites::is_panic)
}

fn called_function(call: Value<'_>) -> Option<Value<'_>> {
    let callee = call.callee();
    callee.filter(|callee| callee.kind() == ValueKind::Function)
}

/// Whether a template has instructions alone by which the threads of a warp exchange what is in registers.
fn is_exchange(template: &str) -> bool {
    const OPCODES: [&str; 6] = ["shfl", "vote", "match", "redux", "setp", "selp"];
    statements(template).all(|statement| OPCODES.contains(&statement.opcode()))
}

/// Where a pointer leads, as far as it matters.
fn places(pointer: Value<'_>) -> Vec<Place<'_>> {
    let unknown = match pointer.address_space() {
        globals::GLOBAL => Place::Global,
        _ => Place::Anywhere,
    };
    let mut places = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![pointer];
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        if seen.len() > MOST {
            return vec![unknown];
        }
        if is_own(at) {
            continue;
        }
        if at.kind() == ValueKind::Global && !at.is_declaration() {
            match at.address_space() {
                globals::SHARED => places.push(Place::Shared(at)),
                globals::CONSTANT => {}
                _ if at.is_constant_global() => {}
                _ => return vec![unknown],
            }
            continue;
        }
        match bases(at) {
            Some(bases) => open.extend(bases),
            None => return vec![unknown],
        }
    }
    places
}

/// The pointers of which this one is made; it leads into what one of them leads to.
fn bases(pointer: Value<'_>) -> Option<Vec<Value<'_>>> {
    let operation = match pointer.is_instruction() {
        true => pointer.opcode(),
        false => pointer.constant_opcode()?,
    };
    match operation {
        opcode::GET_ELEMENT_POINTER | opcode::ADDRESS_SPACE_CAST => Some(vec![pointer.operand(0)?]),
        opcode::SELECT => Some(vec![pointer.operand(1)?, pointer.operand(2)?]),
        opcode::PHI => Some(
            pointer
                .incoming()
                .into_iter()
                .map(|(value, _)| value)
                .collect(),
        ),
        _ => None,
    }
}

/// Whether a pointer leads to the thread's own memory, or to what no thread writes.
fn is_own(pointer: Value<'_>) -> bool {
    if pointer.is_instruction() {
        return pointer.opcode() == opcode::ALLOCA;
    }
    let parameter = pointer.as_parameter();
    parameter.is_some_and(|(kernel, number)| {
        let has = |flag| kernel.has_flag(Attribute::Parameter(number), flag);
        is_kernel(kernel) && (has("byval") || (has("noalias") && has("readonly")))
    })
}

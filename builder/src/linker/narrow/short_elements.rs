//! What is stored in a local array as 64 bits, and never needs more than 32, is stored and loaded as 32.
//!
//! ```text
//! store i64 node, stack + 16 * depth         // below 2^32          store i32 node, stack + 16 * depth
//! node = load i64, stack + 16 * depth                               node = zext (load i32, stack + 16 * depth)
//! ```
//!
//! A stack of `usize` in the copy of a kernel for short lengths: local memory has the words of a warp's threads side by side, so each word of an element is a transfer
//! of its own where the threads are at different elements. The word with the upper bits is still there; nobody reads it.

use rustc_hash::FxHashSet as HashSet;

use super::dominators::Dominators;
use super::values::Values;
use crate::linker::array_places::Place as ArrayPlace;
use crate::linker::{loops, stack_slots};
use crate::llvm::{Block, Module, Place, Value, ValueKind, opcode};

/// The bytes of a number that is shortened.
const LONG: i64 = 8;

/// How many accesses of an array are looked at.
const MOST_ACCESSES: usize = 128;

/// Shortens such elements of all functions.
pub(in crate::linker) fn run(module: &Module<'_>) {
    for function in module.functions() {
        let slots = function.instructions().into_iter();
        let slots = slots.filter(|one| one.opcode() == opcode::ALLOCA);
        let all: Vec<_> = slots.filter_map(|slot| accesses(module, slot)).collect();
        if all.is_empty() {
            continue;
        }
        let dominators = Dominators::of(function);
        let values = Values::of(&dominators);
        let found: Vec<_> = all
            .iter()
            .flat_map(|accesses| together(accesses, &dominators))
            .flat_map(|accesses| short(&accesses, &values))
            .collect();
        found.into_iter().for_each(shorten);
    }
}

/// A plain load or store of an array.
#[derive(Clone, Copy)]
struct Access<'c> {
    instruction: Value<'c>,
    /// How many bytes it is behind an element's first one.
    start: i64,
    bytes: i64,
}

impl<'c> Access<'c> {
    fn is_load(&self) -> bool {
        self.instruction.opcode() == opcode::LOAD
    }

    /// What it loads or stores.
    fn value(&self) -> Option<Value<'c>> {
        match self.is_load() {
            true => Some(self.instruction),
            false => self.instruction.operand(0),
        }
    }

    fn is_long(&self) -> bool {
        let value = self.value();
        value.is_some_and(|value| !value.is_pointer() && value.integer_bits() == Some(64))
    }
}

/// The accesses of an array whose elements are numbered by variables; `None` if there are others, or none of 64 bits.
fn accesses<'c>(module: &Module<'c>, slot: Value<'c>) -> Option<Vec<Access<'c>>> {
    let mut found = Vec::new();
    let mut stride = None;
    let mut open = vec![slot];
    while let Some(pointer) = open.pop() {
        for user in pointer.users() {
            if user.kind() != ValueKind::Instruction {
                return None;
            }
            let value = match user.opcode() {
                opcode::GET_ELEMENT_POINTER | opcode::ADDRESS_SPACE_CAST => {
                    open.push(user);
                    continue;
                }
                opcode::CALL if stack_slots::is_lifetime(user) || is_zero_fill(user) => continue,
                opcode::LOAD | opcode::STORE if user.is_volatile() || user.is_atomic() => {
                    return None;
                }
                opcode::LOAD => user,
                opcode::STORE if user.operand(0) != Some(pointer) => user.operand(0)?,
                _ => return None,
            };
            let place = ArrayPlace::of(module, slot, pointer)?;
            if let Some((_, size)) = place.element
                && *stride.get_or_insert(size) != size
            {
                return None;
            }
            found.push(Access {
                instruction: user,
                start: place.bytes,
                bytes: module.stored_size_of(value.ty())?.try_into().ok()?,
            });
        }
        if found.len() > MOST_ACCESSES {
            return None;
        }
    }
    // A product that wraps around is still a multiple of a power of two.
    let stride = stride.filter(|stride| *stride >= LONG && stride.count_ones() == 1)?;
    for access in &mut found {
        access.start = access.start.rem_euclid(stride);
    }
    let are_inside = found.iter().all(|one| one.start + one.bytes <= stride);
    (are_inside && found.iter().any(Access::is_long)).then_some(found)
}

/// Whether a call fills memory that is not volatile with zeros.
fn is_zero_fill(call: Value<'_>) -> bool {
    let operand = |n| call.operand(n).and_then(Value::as_integer);
    call.is_call_of(&["llvm.memset."]) && operand(1) == Some(0) && operand(3) == Some(0)
}

/// Those of accesses that may see each other: a kernel's copies have an array in common, but a launch runs one of them.
fn together<'c>(accesses: &[Access<'c>], dominators: &Dominators<'c>) -> Vec<Vec<Access<'c>>> {
    let mut groups: Vec<(HashSet<Block<'c>>, Vec<Access<'c>>)> = Vec::new();
    for access in accesses {
        let block = access.instruction.block();
        if !dominators.is_reachable(block) {
            continue;
        }
        let mut reached = loops::behind(block);
        reached.insert(block);
        let mut all = vec![*access];
        // All from which one of the others can be reached, or that can be reached from one.
        let mut n = 0;
        while let Some((blocks, others)) = groups.get(n) {
            let reaches = others
                .iter()
                .any(|one| reached.contains(&one.instruction.block()));
            if reaches || blocks.contains(&block) {
                let (blocks, others) = groups.swap_remove(n);
                reached.extend(blocks);
                all.extend(others);
            } else {
                n += 1;
            }
        }
        groups.push((reached, all));
    }
    groups.into_iter().map(|(_, accesses)| accesses).collect()
}

/// Those of accesses that may be shorter.
fn short<'c>(accesses: &[Access<'c>], values: &Values<'_, 'c>) -> Vec<Access<'c>> {
    let is_short = |access: &Access<'c>| {
        access.is_load()
            || access.value().is_some_and(|value| {
                let range = values.at(value, access.instruction.block());
                range.is_some_and(|range| range.is_unsigned_32())
            })
    };
    let mut starts: Vec<_> = accesses
        .iter()
        .filter(|one| one.is_long())
        .map(|one| one.start)
        .collect();
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|start| {
        let mut others = accesses
            .iter()
            .filter(|one| one.start < start + LONG && *start < one.start + one.bytes);
        others.all(|one| one.start == *start && one.is_long() && is_short(one))
    });
    let all = accesses.iter().copied();
    all.filter(|one| starts.contains(&one.start)).collect()
}

fn shorten(access: Access<'_>) {
    let instruction = access.instruction;
    let place = Place::before(instruction);
    let alignment = instruction.alignment();
    if access.is_load() {
        let Some(pointer) = instruction.operand(0) else {
            return;
        };
        let load = instruction.build_load_before(place.integer_type(32), pointer, alignment);
        instruction.replace_by(place.resized(load, 64));
    } else if let (Some(value), Some(pointer)) = (instruction.operand(0), instruction.operand(1)) {
        let lower = place.resized(value, 32);
        instruction.build_store_before(lower, pointer, alignment);
        instruction.erase();
    }
}

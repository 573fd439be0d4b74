//! Whether an address is one of a slice that the kernel only reads.

use crate::linker::loops::{Loop, is_inside};
use crate::linker::read_only_slices::{Part, Slice, without_casts};
use crate::linker::unroll::ROUNDS;
use crate::linker::unroll::step::Step;
use crate::linker::unroll::steps::Changes;
use crate::llvm::{Block, Module, Value, opcode, predicate};

impl<'c> Slice<'c> {
    /// Puts whether the slice has an element of this number at the end of a block.
    pub(super) fn has(self, block: Block<'c>, index: Value<'c>) -> Value<'c> {
        let index = block.push_extended(index, self.length);
        block.push_comparison(predicate::LESS, index, self.length)
    }

    /// The comparisons in a loop that are decided where the slice has an element of this number, with what they give then.
    pub(super) fn tests_of(
        self,
        found: &Loop<'c>,
        index: Value<'c>,
    ) -> Vec<(Value<'c>, Value<'c>)> {
        let is_index = |value: Value<'c>| {
            let is_extended = || value.is_instruction() && value.opcode() == opcode::ZEXT;
            value == index || is_extended() && value.operand(0) == Some(index)
        };
        let instructions = found.blocks.iter().flat_map(|block| block.instructions());
        let comparisons = instructions.filter(|i| i.opcode() == opcode::ICMP);
        let decided = comparisons.filter_map(|test| {
            let (left, right) = (test.operand(0)?, test.operand(1)?);
            let holds = match test.predicate() {
                predicate::LESS if is_index(left) && right == self.length => 1,
                predicate::GREATER if is_index(right) && left == self.length => 1,
                predicate::GREATER_OR_EQUAL if is_index(left) && right == self.length => 0,
                predicate::LESS_OR_EQUAL if is_index(right) && left == self.length => 0,
                _ => return None,
            };
            Some((test, Value::integer_like(holds, test)))
        });
        decided.collect()
    }
}

/// By what an address is known to be inside a slice.
#[derive(Clone, Copy)]
pub(super) enum Inside<'c> {
    /// It is that of a part of the element of this number.
    Element { slice: Slice<'c>, index: Value<'c> },
    /// Each round steps it by so many bytes, from any address.
    Steps { slice: Slice<'c>, step: u64 },
}

impl<'c> Inside<'c> {
    /// By what the `size` bytes at `address` may be shown to be inside; `None` if nothing is known to do so.
    pub(super) fn of(
        module: &Module<'c>,
        found: &Loop<'c>,
        changes: &mut Changes<'_, 'c>,
        address: Value<'c>,
        size: u64,
    ) -> Option<Inside<'c>> {
        match changes.of(address) {
            None => Self::element(module, found, address, size),
            Some(Step {
                value: None,
                constant,
            }) => {
                let step = u64::try_from(constant).ok().filter(|step| *step > 0)?;
                let slice = Slice::at(origin(found, address)?)?;
                Some(Inside::Steps { slice, step })
            }
            Some(_) => None,
        }
    }

    fn element(
        module: &Module<'c>,
        found: &Loop<'c>,
        address: Value<'c>,
        size: u64,
    ) -> Option<Inside<'c>> {
        let Part { slice, index, .. } = Part::at(module, address, size)?;
        (!is_inside(found, slice.pointer)).then_some(Inside::Element { slice, index })
    }
}

/// The loads of one stepping address, and of addresses a constant away from it.
pub(super) struct Stepping<'c> {
    slice: Slice<'c>,
    step: u64,
    /// The lowest of the addresses.
    pub address: Value<'c>,
    /// How many bytes there are from it to the end of the last load.
    pub bytes: u64,
    /// How many there are in all rounds of the copies.
    all_bytes: u64,
}

impl<'c> Stepping<'c> {
    /// `None` if those of all rounds are more than fit into any slice.
    pub(super) fn of(
        slice: Slice<'c>,
        step: u64,
        address: Value<'c>,
        bytes: u64,
    ) -> Option<Stepping<'c>> {
        let steps = step.checked_mul(ROUNDS as u64 - 1)?;
        let all_bytes = steps.checked_add(bytes)?;
        (all_bytes <= i64::MAX as u64).then_some(Stepping {
            slice,
            step,
            address,
            bytes,
            all_bytes,
        })
    }

    /// Whether it is one of this slice and step.
    pub(super) fn is_of(&self, slice: Slice<'c>, step: u64) -> bool {
        self.slice == slice && self.step == step
    }

    /// Puts the greatest distance from the slice's start at which the loads of all copies are inside it at the end of a block, and whether
    /// there is one.
    pub(super) fn room(&self, block: Block<'c>) -> (Value<'c>, Value<'c>) {
        self.room_of(block, self.all_bytes)
    }

    /// The same for the loads of one round.
    pub(super) fn room_of_one(&self, block: Block<'c>) -> (Value<'c>, Value<'c>) {
        self.room_of(block, self.bytes)
    }

    fn room_of(&self, block: Block<'c>, bytes: u64) -> (Value<'c>, Value<'c>) {
        let Slice { length, size, .. } = self.slice;
        let number = |number| Value::integer_like(number, length);
        // A number of the type, as it is that of bytes in memory.
        let all = block.push_binary(opcode::MUL, length, number(size));
        let needed = number(bytes);
        let room = block.push_binary(opcode::SUB, all, needed);
        let exists = block.push_comparison(predicate::LESS_OR_EQUAL, needed, all);
        (room, exists)
    }

    /// Puts whether the loads that this is the room of are inside at the end of a block, where `address` is the lowest of their first round.
    pub(super) fn is_inside(
        &self,
        block: Block<'c>,
        address: Value<'c>,
        room: Value<'c>,
    ) -> Value<'c> {
        let [address, start] =
            [address, self.slice.pointer].map(|pointer| block.push_address(pointer, room));
        let distance = block.push_binary(opcode::SUB, address, start);
        block.push_comparison(predicate::LESS_OR_EQUAL, distance, room)
    }
}

/// What an address is computed from: what the loop steps, as it is before it.
fn origin<'c>(found: &Loop<'c>, address: Value<'c>) -> Option<Value<'c>> {
    let mut value = address;
    while value.is_instruction() {
        let next = match value.opcode() {
            opcode::GET_ELEMENT_POINTER => value.operand(0)?,
            opcode::ADDRESS_SPACE_CAST if without_casts(value).as_parameter().is_none() => {
                value.operand(0)?
            }
            opcode::PHI if value.block() == found.header => value.incoming_from(found.before)?,
            _ => break,
        };
        value = next;
    }
    Some(value)
}

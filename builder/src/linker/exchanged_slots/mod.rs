//! Local arrays that are exchanged keep their places, and their addresses are exchanged.
//!
//! ```text
//! swap(&mut above, &mut row)          at of above, at of row = at of row, at of above
//! row = next (and `next` ends)        at of row, at of next = at of next, at of row
//! ```
//!
//! Dynamic programming keeps a row and the one above. In CUDA C++ two pointers are exchanged, or the row's number chooses one of two arrays; in Rust the
//! arrays themselves are exchanged or assigned, which copies all of their elements in each round, by local memory where an index is not constant. LLVM takes
//! `mem::swap` apart before it could see what it is of. So calls of it stay calls until LLVM's pipeline is done. Then the arrays of a group that are exchanged with
//! each other become parts of one slot, and where each of them begins is a value that the exchange changes. Arrays that are accessed at constant places only are
//! exchanged as LLVM does it, since they become registers.
//!
//! An address that was computed before an exchange and is used behind it is computed anew where it is used. That cannot be done of one that a phi
//! chooses: where such an address lives on behind an exchange, the arrays are left alone.

mod ends;
mod uses;

use rustc_hash::FxHashMap as HashMap;

use crate::llvm::{Attribute, Block, Module, Place, Value, opcode};
use crate::names;
use uses::{Use, Uses};

/// Longer arrays are exchanged by their addresses: shorter ones go through registers.
const MOST_COPIED: u64 = 64;

/// What the joined slots are aligned to at least: the widest access.
const LEAST_ALIGNMENT: u64 = 16;

/// Keeps the calls of `mem::swap` of long values, and gives the names of the functions that are called.
pub(super) fn hold(module: &Module<'_>) -> Vec<String> {
    let functions = module.functions().into_iter();
    let mut held = Vec::new();
    for function in functions.filter(|function| is_swap(*function)) {
        function.remove_flag(Attribute::Function, "alwaysinline");
        function.add_flag(Attribute::Function, "noinline");
        held.push(function.name());
    }
    held
}

/// Whether a function is `mem::swap` of a type that is longer than what is copied.
fn is_swap(function: Value<'_>) -> bool {
    let bytes = function.number(Attribute::Parameter(0), "dereferenceable");
    let symbol = function.name();
    // Demangling every symbol would take longer.
    bytes.is_some_and(|bytes| bytes > MOST_COPIED)
        && !function.is_declaration()
        && symbol.contains("4swap")
        && names::demangle(&symbol).starts_with("core::mem::swap::<")
}

/// Lets those be inlined that exchange something else than two slots, once they are called with what they exchange; whether there are some.
pub(super) fn release_others(module: &Module<'_>, held: &mut Vec<String>) -> bool {
    let is_of_slots = |name: &mut String| {
        let calls = module.function(name).into_iter().flat_map(Value::calls);
        calls.into_iter().all(|call| slots_of(call).is_some())
    };
    let before = held.len();
    let others = held.extract_if(.., |name| !is_of_slots(name));
    release(module, others.collect());
    held.len() < before
}

/// Lets what is left of them be inlined; whether something is.
pub(super) fn release(module: &Module<'_>, held: Vec<String>) -> bool {
    let mut is_called = false;
    for function in held.iter().filter_map(|name| module.function(name)) {
        is_called |= function.calls().next().is_some();
        function.remove_flag(Attribute::Function, "noinline");
        function.add_flag(Attribute::Function, "alwaysinline");
    }
    is_called
}

/// Exchanges addresses in the place of arrays; whether it did.
pub(super) fn resolve(module: &Module<'_>, held: &[String]) -> bool {
    let mut is_changed = false;
    for function in module.functions() {
        let Some(entry) = function.blocks().first().copied() else {
            continue;
        };
        for group in groups(module, function, entry, held) {
            if group.is_worth_it() && group.is_right() {
                group.rewrite(module, entry);
                is_changed = true;
            }
        }
    }
    is_changed
}

/// The two slots that the first two arguments of a call are.
fn slots_of(call: Value<'_>) -> Option<[Value<'_>; 2]> {
    let entry = call.function()?.blocks().first().copied()?;
    let slot = |n| call.operand(n).filter(|slot| is_slot(*slot, entry));
    let slots = [slot(0)?, slot(1)?];
    (slots[0] != slots[1]).then_some(slots)
}

/// Whether a value is a slot that lives as long as the function runs.
fn is_slot<'c>(value: Value<'c>, entry: Block<'c>) -> bool {
    value.is_instruction()
        && value.opcode() == opcode::ALLOCA
        && value.block() == entry
        && value.operand(0).and_then(Value::as_integer) == Some(1)
}

/// Two slots, and the call that exchanges what is in them.
struct Exchange<'c> {
    call: Value<'c>,
    slots: [Value<'c>; 2],
}

/// Slots that are exchanged with each other.
struct Group<'c> {
    bytes: u64,
    slots: Vec<Uses<'c>>,
    exchanges: Vec<Exchange<'c>>,
}

/// All groups of a function.
fn groups<'c>(
    module: &Module<'c>,
    function: Value<'c>,
    entry: Block<'c>,
    held: &[String],
) -> Vec<Group<'c>> {
    let bytes = |slot: Value<'c>| module.size_of(slot.allocated_type());
    let mut exchanges = Vec::new();
    for call in function.instructions() {
        let is_exchange = is_swap_call(call, held) || is_move(module, call, entry);
        if is_exchange
            && let Some(slots) = slots_of(call)
            && bytes(slots[0]) == bytes(slots[1])
        {
            exchanges.push(Exchange { call, slots });
        }
    }
    let mut groups: Vec<Vec<Exchange<'c>>> = Vec::new();
    for exchange in exchanges {
        let has_slot = |other: &Exchange<'c>| {
            let mut slots = other.slots.iter();
            slots.any(|slot| exchange.slots.contains(slot))
        };
        let mut joined = vec![];
        let others = groups.extract_if(.., |group| group.iter().any(has_slot));
        joined.extend(others.flatten());
        joined.push(exchange);
        groups.push(joined);
    }
    let group = |exchanges: Vec<Exchange<'c>>| {
        let mut slots: Vec<Value<'c>> = Vec::new();
        for slot in exchanges.iter().flat_map(|exchange| exchange.slots) {
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        }
        let calls: Vec<_> = exchanges.iter().map(|exchange| exchange.call).collect();
        let bytes = bytes(slots[0]);
        let slots = slots.into_iter().map(|slot| Uses::of(slot, &calls));
        Some(Group {
            bytes,
            slots: slots.collect::<Option<_>>()?,
            exchanges,
        })
    };
    groups.into_iter().filter_map(group).collect()
}

fn is_swap_call(call: Value<'_>, held: &[String]) -> bool {
    let callee = call.is_call().then(|| call.callee()).flatten();
    let name = callee.filter(|_| !held.is_empty()).map(Value::name);
    name.is_some_and(|name| held.contains(&name))
}

/// Whether a call copies the whole of a slot, whose copy alone is read behind.
fn is_move<'c>(module: &Module<'c>, call: Value<'c>, entry: Block<'c>) -> bool {
    use super::copies::{FROM, SIZE, TO, VOLATILE};
    let number = |n| call.operand(n).and_then(Value::as_integer);
    let slot = |n| call.operand(n).filter(|slot| is_slot(*slot, entry));
    let bytes = |slot: Value<'c>| module.size_of(slot.allocated_type());
    call.is_call_of(&["llvm.memcpy.p", "llvm.memmove.p"])
        && number(VOLATILE) == Some(0)
        && number(SIZE).is_some_and(|size| size > MOST_COPIED && slot(TO).map(bytes) == Some(size))
        && slot(FROM).is_some_and(|from| ends::ends_behind(module, from, call))
}

impl<'c> Group<'c> {
    /// Whether an index is not constant: the slots stay in memory then.
    fn is_worth_it(&self) -> bool {
        self.slots.iter().any(|slot| slot.has_places)
    }

    /// Whether no address that is chosen lives on behind an exchange.
    fn is_right(&self) -> bool {
        let calls: Vec<_> = self
            .exchanges
            .iter()
            .map(|exchange| exchange.call)
            .collect();
        self.slots.iter().all(|slot| slot.fit_between(&calls))
    }

    /// Makes parts of one slot of them.
    fn rewrite(self, module: &Module<'c>, entry: Block<'c>) {
        let Some(first) = entry.instructions().first().copied() else {
            return;
        };
        let alignments = self.slots.iter().map(|slot| slot.slot.alignment().into());
        let alignment = alignments.fold(LEAST_ALIGNMENT, u64::max);
        let part = self.bytes.next_multiple_of(alignment);
        let number = Value::integer(0, first);
        let all = module.bytes_type(part * self.slots.len() as u64);
        let joined = first.build_slot_before(all, alignment as u32);
        let end_of_slots = entry
            .instructions()
            .into_iter()
            .find(|one| one.opcode() != opcode::ALLOCA);
        let Some(begin) = end_of_slots else { return };
        let mut starts: HashMap<Value<'c>, Value<'c>> = HashMap::default();
        for (slot, n) in self.slots.iter().zip(0..) {
            let start = first.build_slot_before(number.ty(), 8);
            begin.build_store_before(Value::integer(n * part, begin), start, 8);
            starts.insert(slot.slot, start);
        }
        for Exchange { call, slots } in self.exchanges {
            let [one, other] = slots.map(|slot| starts[&slot]);
            let [of_one, of_other] =
                [one, other].map(|start| call.build_load_before(number.ty(), start, 8));
            call.build_store_before(of_one, other, 8);
            call.build_store_before(of_other, one, 8);
            call.erase();
        }
        for slot in self.slots {
            let begin = Beginning {
                joined,
                slot: slot.slot,
                start: starts[&slot.slot],
            };
            let mut known = HashMap::default();
            slot.uses
                .iter()
                .for_each(|one| begin.replace(one, &mut known));
            slot.lifetimes.into_iter().for_each(Value::erase);
        }
    }
}

/// Where a slot of a group is: as many bytes behind the start of the joined slot as another slot says.
struct Beginning<'c> {
    joined: Value<'c>,
    slot: Value<'c>,
    start: Value<'c>,
}

impl<'c> Beginning<'c> {
    fn replace(&self, one: &Use<'c>, known: &mut HashMap<(Value<'c>, Value<'c>), Value<'c>>) {
        for mark in ["alias.scope", "noalias"] {
            // What does not alias in a round does in two.
            one.user.drop_metadata(mark);
        }
        if one.root == self.slot {
            let address = *known
                .entry((one.pointer, one.at))
                .or_insert_with(|| self.address(one.pointer, one.at));
            one.user.set_operand(one.operand, address);
        }
    }

    /// What an address in the slot is before an instruction.
    fn address(&self, pointer: Value<'c>, at: Value<'c>) -> Value<'c> {
        if pointer == self.slot {
            let start = at.build_load_before(Value::integer(0, at).ty(), self.start, 8);
            return at.build_address_before(Place::before(at).byte_type(), self.joined, start);
        }
        let from = pointer.operand(0).map(|from| self.address(from, at));
        let copy = at.build_copy_before(pointer);
        if let Some(from) = from {
            copy.set_operand(0, from);
        }
        copy
    }
}

//! A reference that may be none is what was loaded through it.
//!
//! ```text
//! kept = x.get(i).filter(|x| **x > limit)                 kept = phi [&x[i], passed], [null, else]
//! ..                                                      ..
//! if let Some(&x) = kept { use(x) }                       if kept != null { use(load kept) }
//!
//! is_kept = phi [true, passed], [false, else]             element = phi [what the test has loaded, passed], [undef, else]
//! if is_kept { use(element) }
//! ```
//!
//! LLVM keeps the address: 64 bits that are compared with null, and are loaded from again where a barrier is between, behind which it does not
//! look. Where the slice is one that the kernel only reads, its elements are the same at any time. So the address is not needed where all that is
//! asked of it is whether it is null, and what it leads to, of which each way to it has loaded the element before.

use rustc_hash::FxHashMap as HashMap;

use super::branch_values::Edge;
use super::narrow::dominators::Dominators;
use crate::llvm::{Attribute, Block, Module, Place, Value, opcode, predicate};

/// Replaces such references in all functions; whether there were any.
pub(super) fn resolve(module: &Module<'_>) -> bool {
    let functions = module.functions().into_iter();
    functions.fold(false, |changed, function| {
        let here = in_function(function);
        changed | here
    })
}

fn in_function(function: Value<'_>) -> bool {
    let all = function.instructions().into_iter();
    let phis: Vec<_> = all.filter(|i| is_reference_or_none(*i)).collect();
    if phis.is_empty() {
        return false;
    }
    let dominators = Dominators::of(function);
    let mut is_changed = false;
    for phi in phis {
        if dominators.is_reachable(phi.block())
            && let Some(found) = Reference::of(phi, &dominators)
        {
            found.replace();
            is_changed = true;
        }
    }
    is_changed
}

/// A reference and all that is asked of it.
struct Reference<'c> {
    phi: Value<'c>,
    /// What compares it with null.
    tests: Vec<Value<'c>>,
    /// Each load through it, and what was loaded before on the ways on which it is not null.
    loads: Vec<(Value<'c>, HashMap<Block<'c>, Value<'c>>)>,
}

/// Whether an instruction is a phi of null and of elements of slices that the kernel only reads.
fn is_reference_or_none(instruction: Value<'_>) -> bool {
    if instruction.opcode() != opcode::PHI || !instruction.is_pointer() {
        return false;
    }
    let values = instruction.incoming();
    let is_none = |(value, _): &(Value<'_>, Block<'_>)| is_null(*value);
    values.iter().any(is_none)
        && !values.iter().all(is_none)
        && values.iter().all(|way| is_none(way) || is_element(way.0))
}

/// The constant of the generic address space, in which nothing lies there.
fn is_null(value: Value<'_>) -> bool {
    value.address_space() == 0 && value.is_zero()
}

/// Whether a value is an address inside a slice that nothing writes while the kernel runs: it is not null.
fn is_element(address: Value<'_>) -> bool {
    if let Some((function, number)) = address.as_parameter() {
        let at = Attribute::Parameter(number);
        let flags = ["noalias", "readonly", "nonnull"];
        return flags.iter().all(|flag| function.has_flag(at, flag));
    }
    address.is_instruction()
        && address.opcode() == opcode::GET_ELEMENT_POINTER
        && address.address_space() == 0
        && address.is_inbounds()
        && address.operand(0).is_some_and(is_element)
}

impl<'c> Reference<'c> {
    /// `None` if anything else needs the address.
    fn of(phi: Value<'c>, dominators: &Dominators<'c>) -> Option<Reference<'c>> {
        let (tests, loads): (Vec<_>, Vec<_>) = phi
            .users()
            .into_iter()
            .partition(|user| is_test(*user, phi));
        let mut behind: Vec<_> = tests.iter().flat_map(|test| edges_to_some(*test)).collect();
        let loads = loads.into_iter().map(|load| {
            let is_plain =
                load.opcode() == opcode::LOAD && !load.is_volatile() && !load.is_atomic();
            let is_some = is_plain && behind.iter_mut().any(|edge| edge.leads_to_use(load, 0));
            is_some.then(|| Some((load, loaded_before(phi, load, dominators)?)))?
        });
        let loads: Vec<_> = loads.collect::<Option<_>>()?;
        let is_needed = !tests.is_empty() && !loads.is_empty();
        is_needed.then_some(Reference { phi, tests, loads })
    }

    fn replace(self) {
        let place = Place::before(self.phi);
        let truth = |is_true: bool| place.constant(1, is_true.into());
        let is_some = self.phi.build_phi_before(truth(true));
        for (value, from) in self.phi.incoming() {
            is_some.add_incoming(truth(!is_null(value)), from);
        }
        for test in self.tests {
            let place = Place::before(test);
            test.replace_by(match test.predicate() {
                predicate::EQUAL => place.binary(opcode::XOR, is_some, truth(true)),
                _ => is_some,
            });
        }
        for (load, before) in self.loads {
            let Some(&like) = before.values().next() else {
                continue;
            };
            let element = self.phi.build_phi_before(like);
            for (_, from) in self.phi.incoming() {
                let none = || Value::undefined(like.ty(), like);
                element.add_incoming(before.get(&from).copied().unwrap_or_else(none), from);
            }
            load.replace_by(match element.ty() == load.ty() {
                true => element,
                false => Place::before(load).same_bits(element, load.ty()),
            });
        }
        self.phi.erase();
    }
}

/// Whether an instruction compares a reference with null.
fn is_test<'c>(instruction: Value<'c>, reference: Value<'c>) -> bool {
    instruction.opcode() == opcode::ICMP
        && [predicate::EQUAL, predicate::NOT_EQUAL].contains(&instruction.predicate())
        && instruction.operand(0) == Some(reference)
        && instruction.operand(1).is_some_and(is_null)
}

/// The edges on which a test has said that the reference is not null.
fn edges_to_some<'c>(test: Value<'c>) -> impl Iterator<Item = Edge<'c>> {
    let branches = test.users().into_iter();
    branches.filter_map(move |branch| {
        if branch.opcode() != opcode::BRANCH {
            return None;
        }
        let [yes, no]: [Block<'c>; 2] = branch.successors().try_into().ok()?;
        let to = match test.predicate() {
            predicate::EQUAL => no,
            _ => yes,
        };
        (yes != no).then(|| Edge::new(branch.block(), to))
    })
}

/// What was loaded on each way on which a reference is not null, by the block that the way comes from: of as many bits as `load` gives.
fn loaded_before<'c>(
    phi: Value<'c>,
    load: Value<'c>,
    dominators: &Dominators<'c>,
) -> Option<HashMap<Block<'c>, Value<'c>>> {
    let ways = phi
        .incoming()
        .into_iter()
        .filter(|(value, _)| !is_null(*value));
    let loaded = ways.map(|(address, from)| {
        let is_same = |other: &Value<'c>| {
            other.opcode() == opcode::LOAD
                && other.operand(0) == Some(address)
                && !other.is_volatile()
                && !other.is_atomic()
                && (other.ty() == load.ty() || bits(*other).is_some() && bits(*other) == bits(load))
        };
        let mut loads = address.users().into_iter().filter(is_same);
        let is_before = |other: &Value<'c>| {
            dominators.is_reachable(from) && dominators.dominates(other.block(), from)
        };
        Some((from, loads.find(is_before)?))
    });
    let loaded: HashMap<_, _> = loaded.collect::<Option<_>>()?;
    let mut types = loaded.values().map(|value| value.ty());
    let first = types.next()?;
    types.all(|ty| ty == first).then_some(loaded)
}

/// The width of a number; `None` of what no other type has the bits of.
fn bits(value: Value<'_>) -> Option<u32> {
    let bits = value.integer_bits().or_else(|| value.float_bits());
    bits.filter(|_| !value.is_pointer())
}

//! Where a launch's panics are told, and which launch it is: two numbers that every function may ask for by calling a marker.
//!
//! The host library passes both with each launch, as parameters behind the kernel's own. Functions that were not inlined get them as
//! parameters, too, from whoever calls them; only those do that lead to a marker, which in a module that does not panic is none. Calls
//! through pointers are of one type for all functions whose address is taken: if one of those leads to a marker, all of them get the
//! parameters, and all such calls pass them.
//!
//! A unit of the module does not see the others. So which of the functions that units have in common take the parameters, and whether
//! functions behind pointers do, has been decided for the whole module before.

use std::collections::{HashMap, HashSet};

use super::reach::{IndirectCalls, is_indirect_call};
use crate::llvm::{Attribute, Module, Value, calling_convention::PTX_KERNEL};

/// The markers, in the order of the parameters.
pub(super) const MARKERS: [&str; 2] = ["__warpsmith_panic_log", "__warpsmith_launch"];

/// The attribute of a function that another unit has or uses, if it takes the parameters there and here.
pub(super) const MARK: &str = "warpsmith-takes-launch";

/// Whether this symbol is one that the linker replaces.
pub(super) fn is_marker(symbol: &str) -> bool {
    MARKERS.contains(&symbol)
}

/// Puts parameters in the place of the markers. Gives the kernels that have them from here on. `by_pointer`: functions that are called
/// through pointers take the parameters in all units.
pub(super) fn pass(module: &Module<'_>, by_pointer: bool) -> HashSet<String> {
    let markers: Vec<_> = MARKERS.iter().map(|name| module.function(name)).collect();
    let calls = IndirectCalls::of(module);
    let marked = module
        .functions()
        .into_iter()
        .filter(|function| function.text_attribute(Attribute::Function, MARK).is_some());
    let (leading, by_pointer) = leading_to(
        &calls,
        markers.iter().flatten().copied(),
        marked.collect(),
        by_pointer,
    );
    // The order of the module, so that the same input gives the same text.
    let old: Vec<Value<'_>> = module
        .functions()
        .into_iter()
        .filter(|function| leading.contains(function))
        .collect();
    let new: HashMap<Value<'_>, [Value<'_>; 2]> = old
        .iter()
        .map(|function| {
            let own = function.parameter_count();
            let new = function.with_more_parameters(module, 2);
            let parameter = |n| new.parameter(own + n).expect("a parameter that was added");
            (new, [parameter(0), parameter(1)])
        })
        .collect();
    for (&function, parameters) in &new {
        for instruction in function.instructions() {
            if !instruction.is_call() {
                continue;
            }
            let callee = instruction.callee();
            if let Some(number) = markers.iter().position(|&m| m.is_some() && m == callee) {
                instruction.replace_by(parameters[number]);
            } else if callee.is_some_and(|callee| new.contains_key(&callee))
                || by_pointer && is_indirect_call(instruction)
            {
                instruction.with_more_arguments(parameters);
            }
        }
    }
    for function in old.into_iter().chain(markers.into_iter().flatten()) {
        function.delete_function();
    }
    new.into_keys()
        .filter(|function| function.calling_convention() == PTX_KERNEL)
        .map(Value::name)
        .collect()
}

/// The functions in which a marker is called, or a function that leads to one; and whether functions behind pointers do.
fn leading_to<'c>(
    calls: &IndirectCalls<'c>,
    markers: impl Iterator<Item = Value<'c>>,
    marked: Vec<Value<'c>>,
    by_pointer: bool,
) -> (HashSet<Value<'c>>, bool) {
    let mut found: HashSet<Value<'c>> = markers.flat_map(|marker| calls.reaching(marker)).collect();
    for function in marked {
        found.insert(function);
        found.extend(calls.reaching(function));
    }
    let by_pointer = by_pointer
        || calls
            .callees()
            .iter()
            .any(|function| found.contains(function));
    if by_pointer {
        for &function in calls.callees().iter().chain(calls.callers()) {
            found.insert(function);
            found.extend(calls.reaching(function));
        }
    }
    (found, by_pointer)
}

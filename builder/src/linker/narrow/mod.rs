//! Integer arithmetic in as few bits and instructions as what is known of its operands allows.
//!
//! It runs after LLVM's pipeline, which narrows what ranges alone decide.

mod addresses;
pub(super) mod bounds;
mod bypass;
mod capped;
mod casts;
mod checks;
mod common_addresses;
mod conditions;
mod conversions;
mod counters;
pub(super) mod decided;
mod distances;
pub(super) mod dominators;
mod early_divisions;
mod empty_rounds;
mod factors;
mod highest_bits;
pub(super) mod implied;
mod indices;
mod inside;
mod last_places;
mod loop_reciprocals;
mod minima;
mod near_addresses;
mod orders;
mod parts;
mod planes;
mod polynomials;
pub(super) mod products;
mod quotients;
mod ranges;
mod replace;
mod ring;
mod rounds;
mod same_addresses;
pub(super) mod short_elements;
pub(super) mod short_lengths;
mod slice_ends;
mod sums;
mod sums_below;
mod tiny_divisions;
mod told;
mod unequal;
mod values;
mod webs;
mod widths;

use crate::llvm::{Module, TargetMachine, Value, opcode};
use dominators::Dominators;

/// What follows: the divisions that are left, narrowed by their ranges.
const CLEAN_UP: &str = "function(correlated-propagation,instcombine<no-verify-fixpoint>,\
    early-cse<memssa>,simplifycfg)";

/// Brings divisions to where their results are used: behind the tests for panics between them, which other divisions stand behind, too.
const SINK: &str = "function(sink)";

/// What follows divisions by two ways. `instcombine` would compare 64 bits where the upper 32 decide.
const MERGE: &str = "function(early-cse<memssa>,simplifycfg)";

/// What follows divisions by one number, in their function.
const COMMON: &str = "early-cse";

/// What follows accesses that are at one address now, in their function.
const SAME_ADDRESSES: &str = "early-cse<memssa>";

/// What follows branches that were joined, in their function.
const SIMPLIFY: &str = "simplifycfg";

/// Decides the comparisons that are known: before loops are unrolled, as a way out of a loop is one less then.
pub(super) fn decide(module: &Module<'_>, machine: &TargetMachine<'_>) -> Result<(), String> {
    if empty_rounds::run(module)? {
        module.run_passes(CLEAN_UP, Some(machine))?;
    }
    let mut is_changed = false;
    for function in module.functions() {
        let mut instructions = function.instructions().into_iter();
        if instructions.any(slice_ends::is_of_addresses) {
            is_changed |= slice_ends::run(module, &Dominators::of(function));
        }
    }
    for function in module.functions() {
        if function
            .instructions()
            .into_iter()
            .any(checks::is_comparison)
        {
            is_changed |= distances::run(&Dominators::of(function));
            is_changed |= checks::run(&Dominators::of(function));
        }
        if function.instructions().into_iter().any(inside::is_both) {
            is_changed |= inside::run(&Dominators::of(function));
        }
    }
    for function in module.functions() {
        let mut instructions = function.instructions().into_iter();
        if instructions.any(sums_below::may_be_sum) {
            is_changed |= sums_below::run(module, function)?;
        }
    }
    if is_changed {
        module.run_passes(CLEAN_UP, Some(machine))?;
    }
    for function in module.functions() {
        if function.instructions().into_iter().any(webs::may_be_short) {
            let dominators = Dominators::of(function);
            if webs::run_counters(module, &dominators) {
                widths::run_counters(&dominators);
            }
        }
    }
    Ok(())
}

/// Narrows what is left.
pub(super) fn run(module: &Module<'_>, machine: &TargetMachine<'_>) -> Result<(), String> {
    let has = |is: fn(Value<'_>) -> bool| {
        let with = move |function: &Value<'_>| function.instructions().into_iter().any(is);
        let functions = module.functions().into_iter();
        functions.filter(with).collect::<Vec<_>>()
    };
    for function in has(same_addresses::is_access) {
        if same_addresses::run(module, &Dominators::of(function)) {
            module.run_passes_on(function, SAME_ADDRESSES)?;
        }
    }
    let mut is_changed = false;
    for function in has(|i| i.opcode() == opcode::UREM) {
        let dominators = Dominators::of(function);
        is_changed |= counters::run(&dominators);
        is_changed |= sums::run(&dominators);
    }
    for function in has(indices::is_wide) {
        is_changed |= indices::run(module, function, &Dominators::of(function));
    }
    if is_changed {
        module.run_passes(CLEAN_UP, Some(machine))?;
    }
    for function in has(webs::may_be_short) {
        webs::run(module, &Dominators::of(function));
    }
    if !has(bypass::is_slow).is_empty() {
        module.run_passes(SINK, Some(machine))?;
        has(bypass::is_slow).into_iter().for_each(bypass::run);
        module.run_passes(MERGE, Some(machine))?;
    }
    for function in has(minima::is_wide) {
        minima::run(module, &Dominators::of(function));
    }
    for function in has(widths::may_be_short) {
        widths::run(&Dominators::of(function));
    }
    for function in has(capped::is_wide) {
        capped::run(function, &Dominators::of(function));
    }
    for function in has(conversions::is_wide) {
        conversions::run(&Dominators::of(function));
    }
    // Of what has more bits there: `n - 1` where `n` may be 0.
    for function in has(last_places::may_be_last) {
        last_places::run(&Dominators::of(function));
    }
    for function in has(common_addresses::is_element) {
        common_addresses::run(module, function, &Dominators::of(function));
    }
    for function in module.functions() {
        let is_element = |i: &Value<'_>| addresses::is_element(module, *i);
        if function.instructions().iter().any(is_element) {
            addresses::run(module, &Dominators::of(function));
        }
    }
    for function in has(near_addresses::is_element) {
        near_addresses::run(module, function);
    }
    has(casts::is_cast).into_iter().for_each(casts::run);
    has(tiny_divisions::is_tiny)
        .into_iter()
        .for_each(tiny_divisions::run);
    for function in has(quotients::is_division) {
        if early_divisions::run(function, &Dominators::of(function)) {
            module.run_passes_on(function, SIMPLIFY)?;
        }
    }
    for function in has(quotients::is_division) {
        quotients::run(function);
        module.run_passes_on(function, COMMON)?;
    }
    loop_reciprocals::hoist(module)
}

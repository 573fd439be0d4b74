//! One panic for each function: all of its panics at known places lead to one block, which records and ends the thread.
//!
//! The block has no call in it, so the kernel gets no registers for one. It is in the function once, however many checks that has.

use super::panic_sites::HELD;
use super::panics::PANIC_AT;
use crate::llvm::{Attribute, Module, Value};

/// Makes all calls of the device library's panic one a function, and inlines that.
pub(super) fn merge(module: &Module<'_>) -> Result<(), String> {
    let Some(panic_at) = module.function(PANIC_AT).filter(|f| !f.is_declaration()) else {
        return Ok(());
    };
    // Ranges become one of three places.
    module.run_passes("always-inline", None)?;
    let mut functions: Vec<(Value<'_>, Vec<Value<'_>>)> = Vec::new();
    for call in panic_at.calls() {
        if let Some(function) = call.function() {
            match functions.iter_mut().find(|(known, _)| *known == function) {
                Some((_, calls)) => calls.push(call),
                None => functions.push((function, vec![call])),
            }
        }
    }
    for (function, calls) in functions {
        tail(module, function, &calls, panic_at);
    }
    for flag in HELD {
        panic_at.remove_flag(Attribute::Function, flag);
    }
    panic_at.add_flag(Attribute::Function, "alwaysinline");
    module.run_passes("always-inline,globaldce", None)
}

/// Lets all calls of a function lead to one.
fn tail<'c>(module: &Module<'c>, function: Value<'c>, calls: &[Value<'c>], panic_at: Value<'c>) {
    let [first, others @ ..] = calls else {
        return;
    };
    if others.is_empty() {
        return;
    }
    let block = function.append_block();
    let phis: Vec<Value<'c>> = (0..panic_at.parameter_count())
        .filter_map(|n| Some(block.push_phi(panic_at.parameter(n)?)))
        .collect();
    let location = first.debug_location();
    let one = block.push_call(panic_at, &phis);
    if let Some(location) = location {
        one.set_debug_location(location);
    }
    block.push_unreachable();
    for &call in calls {
        let from = call.block();
        for (n, phi) in (0..).zip(&phis) {
            if let Some(value) = call.operand(n) {
                phi.add_incoming(value, from);
            }
        }
        // Nothing comes after it but the end of the block.
        let instructions = from.instructions();
        let rest = instructions
            .iter()
            .rev()
            .take_while(|other| **other != call);
        rest.for_each(|instruction| instruction.erase());
        call.erase();
        let jump = from.push_jump(block);
        // The code generator would take away a block that is empty, and put what its panic tells into registers before the check.
        jump.build_asm_before("", "", module.void_type(), &[]);
    }
}

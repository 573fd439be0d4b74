//! Shared memory asked for by `shared!`: calls of two marker functions become shared objects.
//!
//! `__warpsmith_shared_static(size, align)`: each *call instruction* in unoptimised code is one object. The
//! device library makes the call in a function that is generic over a closure type, so every use of
//! `shared!`, and every instantiation of a generic function around it, has a call of its own.
//! `__warpsmith_shared_dynamic(align)` is the base of the memory whose size the launch decides.

use super::globals::{self, SHARED};
use super::symbols::DYNAMIC_SHARED_MEMORY;
use crate::error::BuildError;
use crate::llvm::{Attribute, Module, Value, ValueKind};
use crate::names::demangle;

const STATIC: &str = "__warpsmith_shared_static";
const DYNAMIC: &str = "__warpsmith_shared_dynamic";

/// Replaces all calls of the markers.
pub(crate) fn replace_markers(module: &Module<'_>) -> Result<(), BuildError> {
    for (number, call) in calls(module, STATIC)?.into_iter().enumerate() {
        let (Some(size), Some(align)) = (constant(call, 0), constant(call, 1)) else {
            return Err(not_constant(call));
        };
        let global =
            module.add_global(&format!("shared_{number}"), module.bytes_type(size), SHARED);
        global.set_initialiser(Value::undefined(global.value_type(), global));
        global.internalise();
        global.set_alignment(globals::generous_alignment(size, alignment(align)));
        replace(call, global);
    }
    let mut base: Option<Value<'_>> = None;
    for call in calls(module, DYNAMIC)? {
        let align = alignment(constant(call, 0).ok_or_else(|| not_constant(call))?).max(16);
        let global = *base.get_or_insert_with(|| {
            module.add_global(DYNAMIC_SHARED_MEMORY, module.bytes_type(0), SHARED)
        });
        global.set_alignment(align.max(global.alignment()));
        replace(call, global);
    }
    Ok(())
}

fn alignment(wanted: u64) -> u32 {
    (wanted as u32).max(1).next_power_of_two()
}

fn constant(call: Value<'_>, argument: u32) -> Option<u64> {
    call.operand(argument)?.as_integer()
}

fn not_constant(call: Value<'_>) -> BuildError {
    let function = call
        .function()
        .map(|f| demangle(&f.name()))
        .unwrap_or_default();
    BuildError::Link(format!(
        "`{function}` asks for shared memory of a size that is not a constant"
    ))
}

/// All calls of the marker `name`.
fn calls<'c>(module: &Module<'c>, name: &str) -> Result<Vec<Value<'c>>, BuildError> {
    let Some(marker) = module.function(name) else {
        return Ok(Vec::new());
    };
    // `users` lists the newest use first; source order gives stable, readable names.
    let mut calls = Vec::new();
    for user in marker.users() {
        if user.kind() != ValueKind::Instruction || !user.is_call() || user.callee() != Some(marker)
        {
            return Err(BuildError::Link(format!(
                "the address of `{name}` is taken; it can only be called"
            )));
        }
        calls.push(user);
    }
    calls.reverse();
    Ok(calls)
}

/// Uses the object's address instead of the call, and lets the function around it disappear into its callers,
/// so that every access is seen to be a shared one.
fn replace(call: Value<'_>, global: Value<'_>) {
    if let Some(function) = call.function() {
        function.remove_flag(Attribute::Function, "noinline");
        function.remove_flag(Attribute::Function, "optnone");
        function.add_flag(Attribute::Function, "alwaysinline");
        // rustc repeats `noinline` on calls from other codegen units.
        for user in function
            .users()
            .into_iter()
            .filter(|u| u.kind() == ValueKind::Instruction && u.is_call())
        {
            user.remove_call_flag("noinline");
        }
    }
    call.replace_by(global.cast_to_generic());
}

//! Symbols that are used and not defined: which they are, who uses them, and what to do about it.

use std::collections::HashSet;

use super::launch_parameters::is_marker;
use super::symbols::{DYNAMIC_SHARED_MEMORY, demangle, resolved_by_driver};
use crate::error::UnresolvedSymbol;
use crate::llvm::{Module, Value, ValueKind};

/// Functions and globals that are used and not defined.
pub(super) fn values<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    let functions = module
        .functions()
        .into_iter()
        .filter(|f| f.is_declaration() && !f.is_intrinsic());
    let globals = module.globals().into_iter().filter(|g| g.is_declaration());
    functions
        .chain(globals)
        .filter(|v| !v.is_unused())
        .filter(|v| {
            let name = v.name();
            !name.starts_with("llvm.")
                && !is_marker(&name)
                && !resolved_by_driver(&name)
                && name != DYNAMIC_SHARED_MEMORY
        })
        .collect()
}

/// Describes every symbol that is still missing.
pub(super) fn describe(module: &Module<'_>) -> Vec<UnresolvedSymbol> {
    values(module)
        .into_iter()
        .map(|symbol| {
            let name = symbol.name();
            let user = user_of(symbol);
            UnresolvedSymbol {
                remedy: remedy(&name),
                symbol: demangle(&name),
                used_by: user
                    .and_then(|user| user.function())
                    .map(|function| demangle(&function.name())),
                location: user.and_then(Value::location),
            }
        })
        .collect()
}

/// An instruction that uses `symbol`: of the user's own code rather than `core`'s, if there is a choice.
fn user_of(symbol: Value<'_>) -> Option<Value<'_>> {
    let mut seen = HashSet::new();
    let mut queue: Vec<Value<'_>> = symbol.users();
    let mut instructions = Vec::new();
    while let Some(user) = queue.pop() {
        if !seen.insert(user) {
            continue;
        }
        match user.kind() {
            ValueKind::Instruction => instructions.push(user),
            _ => queue.extend(user.users()), // constants and initialisers on the way
        }
    }
    let rank = |v: &Value<'_>| {
        let name = v
            .function()
            .map(|f| demangle(&f.name()))
            .unwrap_or_default();
        let of_core = [
            "core::",
            "alloc::",
            "compiler_builtins::",
            "<core::",
            "<alloc::",
        ]
        .iter()
        .any(|c| name.starts_with(c));
        (of_core, name)
    };
    instructions.sort_by_key(rank);
    instructions.first().copied()
}

/// What to do about a missing symbol, by its name.
fn remedy(symbol: &str) -> String {
    // Most of C's mathematics is in `compiler_builtins`; these are not.
    const MATH: &[&str] = &[
        "acosh",
        "asinh",
        "atanh",
        "exp10",
        "frexp",
        "j0",
        "j1",
        "jn",
        "lgamma",
        "modf",
        "nextafter",
        "remainder",
        "sincos",
        "y0",
        "y1",
        "yn",
    ];
    let base = symbol
        .strip_suffix('f')
        .filter(|base| !base.is_empty())
        .unwrap_or(symbol);
    if MATH.contains(&base) || MATH.contains(&symbol) {
        return "the GPU has no C library: use `warpsmith_device::math`, or the crate `libm`"
            .into();
    }
    if symbol.starts_with("__nv_") {
        return "this is a function of NVIDIA's libdevice: give its bitcode with `CudaBuilder::libdevice`".into();
    }
    if symbol.contains("__rust_alloc")
        || symbol.contains("__rust_no_alloc_shim")
        || symbol.contains("__rust_realloc")
    {
        return "`alloc` needs an allocator: define a `#[global_allocator]` (the driver supplies `malloc` and `free`), or do \
                without the heap"
            .into();
    }
    if symbol.contains("rust_begin_unwind") {
        return "there is no panic handler: use the crate `warpsmith-device`, which has one, or write a `#[panic_handler]`".into();
    }
    if symbol.starts_with("__warpsmith_") {
        return "this marker belongs to another version of warpsmith-device: use the same version as of warpsmith-builder".into();
    }
    if symbol.starts_with("__sync_") || symbol.starts_with("__atomic_") {
        return "the GPU has no atomic operation of this width: use 32 or 64 bits".into();
    }
    "it is declared in an `extern` block and no linked crate defines it: define it, or remove the call".into()
}

//! Symbols that are used and not defined: which they are, who uses them, and what to do about it.

use std::path::PathBuf;

use super::launch_parameters::is_marker;
use super::symbols::{DYNAMIC_SHARED_MEMORY, resolved_by_driver};
use super::thread_exits;
use super::user_code::{self, UserCode};
use crate::error::UnresolvedSymbol;
use crate::llvm::{Module, Value, ValueKind};
use crate::names::demangle;

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
                && name != thread_exits::EXITS
                && !resolved_by_driver(&name)
                && name != DYNAMIC_SHARED_MEMORY
        })
        .collect()
}

/// Describes every symbol that is still missing. `libraries`: folders whose code is not the user's.
pub(super) fn describe(module: &Module<'_>, libraries: &[PathBuf]) -> Vec<UnresolvedSymbol> {
    values(module)
        .into_iter()
        .map(|symbol| {
            let name = symbol.name();
            let user = user_of(module, symbol, libraries);
            UnresolvedSymbol {
                remedy: remedy(&name, symbol),
                symbol: demangle(&name),
                used_by: user.function,
                location: user.location,
            }
        })
        .collect()
}

/// Where `symbol` is used: by the user's own code, if there is a choice.
fn user_of<'c>(module: &Module<'c>, symbol: Value<'c>, libraries: &[PathBuf]) -> UserCode {
    let mut users: Vec<UserCode> = user_code::instructions_that_use(symbol)
        .into_iter()
        .map(|instruction| user_code::leading_to(module, instruction, libraries))
        .collect();
    let rank = |user: &UserCode| (!user.is_users_own, user.function.clone());
    users.sort_by_key(rank);
    users.into_iter().next().unwrap_or_default()
}

/// What to do about a missing symbol, by its name, and by whether it is a function or a static.
fn remedy(symbol: &str, value: Value<'_>) -> String {
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
        return "the GPU has no C library: use the approximations of `warpsmith_device::float`, or the crate `libm`"
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
    if value.kind() != ValueKind::Function {
        return "it is declared in an `extern` block, and no linked crate defines it for the GPU, which cannot reach statics of the host: pass \
                the value, or the address of memory that the device reaches, as an argument; a static of the device's is made with \
                `device_static!`, `managed_static!` or `constant!`"
            .into();
    }
    "it is declared in an `extern` block and no linked crate defines it: define it, or remove the call".into()
}

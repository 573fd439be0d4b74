//! What rustc adds to a program with a heap when it links one itself, and here does not: two symbols of `alloc`.
//!
//! `#[global_allocator]` defines the functions that allocate. Beside them `alloc` calls a marker, which proves that
//! somebody meant to link an allocator and does nothing, and a handler of failed allocations, for which it has a
//! default under another name.

use crate::llvm::{Module, ValueKind};

const MARKER: &str = "35___rust_no_alloc_shim_is_unstable_v2";
const HANDLER: &str = "26___rust_alloc_error_handler";
const DEFAULT_HANDLER: &str = "25___rdl_alloc_error_handler";
/// Defined by `#[global_allocator]`.
const ALLOCATE: &str = "12___rust_alloc";

/// Supplies both, if the program defines an allocator.
pub(super) fn complete(module: &Module<'_>) {
    let functions = module.functions();
    if !functions
        .iter()
        .any(|f| !f.is_declaration() && f.name().ends_with(ALLOCATE))
    {
        return; // then the missing symbols are the user's mistake, and reported
    }
    for function in functions.into_iter().filter(|f| f.is_declaration()) {
        let name = function.name();
        if name.ends_with(MARKER) {
            for call in function.users() {
                if call.kind() == ValueKind::Instruction && call.is_call() {
                    call.erase();
                }
            }
        } else if let Some(prefix) = name.strip_suffix(HANDLER) {
            let default = format!("{prefix}{DEFAULT_HANDLER}");
            match module.function(&default) {
                Some(default) => function.replace_uses_with(default),
                None => function.set_name(&default),
            }
        }
    }
}

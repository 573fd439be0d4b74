//! Lets comparisons of memory, which `==` and `starts_with` of slices of integers are, be inlined: what is known of their pointers, that they lead
//! into memory that is only read, say, is then known to their loads.
//!
//! `compiler_builtins` defines them with the attribute `no-builtins`, with which LLVM inlines a function into none that lacks it. It says that a
//! loop must not become a call of the function that it makes up. LLVM's passes make loops calls of `memcpy` and `memset`, and none
//! a call of these.

use crate::llvm::{Attribute, Module};

const FUNCTIONS: [&str; 2] = ["memcmp", "bcmp"];

/// Lets them be inlined, where the module has them.
pub(super) fn inline(module: &Module<'_>) {
    let functions = FUNCTIONS.iter().filter_map(|name| module.function(name));
    for function in functions.filter(|function| !function.is_declaration()) {
        function.remove_text(Attribute::Function, "no-builtins");
    }
}

//! Names of symbols: those that the driver supplies, and those that the linker makes.

use crate::llvm::{Module, Value};

/// Symbols that the driver resolves when it loads the PTX.
const DRIVER_SYMBOLS: &[&str] = &["vprintf", "__assertfail", "malloc", "free"];

/// The dynamic shared memory's symbol in PTX, whose size the launch decides.
pub(super) const DYNAMIC_SHARED_MEMORY: &str = "__warpsmith_dynamic_shared_memory";

/// Whether the driver supplies the symbol (`vprintf`, `malloc`, device runtime calls ...).
pub(super) fn resolved_by_driver(name: &str) -> bool {
    // The last one is libdevice's question to the compiler; a pass of LLVM answers it.
    DRIVER_SYMBOLS.contains(&name) || name.starts_with("cuda") || name == "__nvvm_reflect"
}

/// The beginning of the name of a panic's location in a unit or in the whole module: no symbol of Rust's has it.
pub(super) const LOCATION: &str = "$location_";

/// Keeps functions although nothing calls them yet; gives those that were private and are to be again.
pub(super) fn keep<'c>(module: &Module<'c>, symbols: &[&str]) -> Vec<Value<'c>> {
    let functions = symbols.iter().filter_map(|symbol| module.function(symbol));
    let kept: Vec<_> = functions
        .filter(|function| function.is_internal())
        .collect();
    kept.iter().for_each(|function| function.externalise());
    kept
}

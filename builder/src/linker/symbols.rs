//! Names of symbols: those that the driver supplies, and those that the linker makes.

/// Symbols that the driver resolves when it loads the PTX.
const DRIVER_SYMBOLS: &[&str] = &["vprintf", "__assertfail", "malloc", "free"];

/// The dynamic shared memory's symbol in PTX, whose size the launch decides.
pub(super) const DYNAMIC_SHARED_MEMORY: &str = "__warpsmith_dynamic_shared_memory";

/// Whether the driver supplies the symbol (`vprintf`, `malloc`, device runtime calls ...).
pub(super) fn resolved_by_driver(name: &str) -> bool {
    // The last one is libdevice's question to the compiler; a pass of LLVM answers it.
    DRIVER_SYMBOLS.contains(&name) || name.starts_with("cuda") || name == "__nvvm_reflect"
}

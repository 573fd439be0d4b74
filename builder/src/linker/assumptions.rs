//! What LLVM was told to assume is forgotten before it generates code.
//!
//! ```text
//! within = n + 1 < length
//! assume(within)
//! x = load a + 4 * (n + 1)            x = load a + 4 * n + 4
//! ```
//!
//! Nothing is left that would use it, and the condition would be computed for it alone. Worse, LLVM's code generator takes what is computed for a condition
//! for something that is there, and makes addresses of it in the place of one base with constant distances.

use crate::llvm::{Module, Value};

/// What only the conditions used.
const CLEAN_UP: &str = "function(dce)";

/// Forgets all assumptions, and what was computed for them alone.
pub(super) fn forget(module: &Module<'_>) -> Result<(), String> {
    let Some(assume) = module.function("llvm.assume") else {
        return Ok(());
    };
    let calls: Vec<_> = assume.calls().collect();
    if calls.is_empty() {
        return Ok(());
    }
    calls.into_iter().for_each(Value::erase);
    module.run_passes(CLEAN_UP, None)
}

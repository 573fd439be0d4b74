//! Functions that a library hands out by name and version.

use core::ffi::c_int;

/// A function that a library may not export under its symbol, but hands out by name and version.
#[derive(Clone, Copy, Debug)]
pub struct PinnedSymbol {
    /// The symbol, whose signature is in [`signature`](crate::signature).
    pub symbol: &'static str,
    /// The name without a version.
    pub name: &'static str,
    /// The version of CUDA that introduced the signature: 1000 times the major version plus 10 times the minor.
    pub version: c_int,
}

impl PinnedSymbol {
    pub(crate) const fn new(symbol: &'static str, name: &'static str, version: c_int) -> Self {
        Self {
            symbol,
            name,
            version,
        }
    }
}

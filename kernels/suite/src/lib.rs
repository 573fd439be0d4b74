//! The host side of the reference suite: safe functions, CPU oracles, benchmark cases.

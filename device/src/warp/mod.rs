//! Warps.

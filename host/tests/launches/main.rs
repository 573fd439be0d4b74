//! Launches: arguments, options, types, panics of kernels, and what lives until work is done.

mod arguments;
mod attributes;
#[path = "../common/mod.rs"]
mod common;
mod lifetimes;
mod panics;
mod signature;
mod typed;
mod unwinding;

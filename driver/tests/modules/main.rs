//! Code: modules, libraries, linking, and the functions of the driver itself.

#[path = "../common/mod.rs"]
mod common;
mod kernels;
mod libraries;
mod linking;
mod loading;
mod symbols;

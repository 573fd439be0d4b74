//! Virtual memory: physical allocations, reserved addresses, mappings and who may access them. What a real driver answers was measured
//! on an H200.

mod access;
mod aliases;
#[path = "../common/mod.rs"]
mod common;
mod export;
mod kernels;
mod mappings;
mod multicast;
mod physical;
mod support;

//! Devices and contexts.

mod captured_access;
#[path = "../common/mod.rs"]
mod common;
mod contexts;
mod device_pools;
mod graphs;
mod peer_arrays;
mod peers;
mod runtime_library;
mod several;
mod two;

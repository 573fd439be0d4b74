//! Devices: which one a process gets, what it says it is, and several of them.

mod choice;
#[path = "../common/mod.rs"]
mod common;
mod driver_variables;
mod gpu;
mod held_up;
mod legacy_streams;
mod peer_access;
mod peer_boxes;
mod peers;
mod profiler;
mod reclaimed;

//! What a program is told: faults, leaks, what errors say, and a trace of what its device does.

#[path = "../common/mod.rs"]
mod common;
mod fault_data;
mod faults;
mod leaks;
mod messages;
mod mistakes;
mod trace;

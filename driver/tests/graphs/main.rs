//! Graphs: what is built and captured, how it runs and changes, what it allocates, and what kernels launch.

mod capture;
#[path = "../common/mod.rs"]
mod common;
mod conditions;
mod device;
mod event_nodes;
mod executables;
mod memory;
mod nodes;
mod updates;

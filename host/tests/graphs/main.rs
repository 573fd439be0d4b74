//! Graphs: order, nodes, children, memory, updates, and those that kernels launch.

mod children;
#[path = "../common/mod.rs"]
mod common;
mod device;
mod memory;
mod nodes;
mod order;
mod updates;

//! Graphs: order, nodes, captures, bodies, children, memory, updates, and those that kernels launch.

mod bodies;
mod captures;
mod children;
#[path = "../common/mod.rs"]
mod common;
mod device;
mod keepers;
mod memory;
mod nodes;
mod order;
mod several_devices;
mod update_rules;
mod updates;

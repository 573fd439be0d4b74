//! Graphs: order, nodes, captures, bodies, children, memory, updates, and those that kernels launch.

mod beside;
mod bodies;
mod captured_graphs;
mod captures;
mod changed_nodes;
mod children;
#[path = "../common/mod.rs"]
mod common;
mod device;
mod keepers;
mod loops;
mod memory;
mod nodes;
mod order;
mod order_of_devices;
mod several_devices;
mod update_rules;
mod updates;

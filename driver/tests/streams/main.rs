//! Streams and events: order, priorities, waits for memory and for other interfaces, and work that nothing orders.

#[path = "../common/mod.rs"]
mod common;
mod conflicts;
mod external_semaphores;
mod memory_operations;
mod order;
mod priorities;
mod who_waits;

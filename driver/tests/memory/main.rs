//! Memory in all its kinds but arrays and virtual memory: allocations, copies, pools, and what processes share.

mod allocations;
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod copy_batches;
mod exported_pools;
mod external_memory;
mod host_pools;
mod host_visibility;
mod interprocess;
mod leaks;
mod managed;
mod managed_batches;
mod managed_copies;
mod pageable;
mod pools;
mod shared_pools;
mod sizes;

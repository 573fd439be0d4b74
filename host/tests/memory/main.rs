//! Device memory: buffers, pools, parts, copies, and what processes and other interfaces share.

mod buffers;
#[path = "../common/mod.rs"]
mod common;
mod copy_batch;
mod external_memory;
mod freed_blocks;
mod host_pools;
mod interprocess;
mod parts;
mod pitched;
mod pointers;
mod pools;
mod variables;
mod virtual_memory;

//! NCCL's functions with no GPU: over shared memory between the threads and processes of one machine, on streams of the CUDA driver.
//!
//! It is for programs on warpsmith's simulator. It calls the driver that [`set_driver`] names: so it orders its work in streams and becomes
//! part of graphs as NCCL's own does. Whoever loads NCCL asks [`entry_point`] for its functions; `nccl/simulator/dropin` makes a
//! `libnccl.so.2` of them.
//!
//! What it finds that NCCL does not: ranks that make different calls, or the same with other counts, types, roots or reductions, get
//! `ncclInvalidUsage`, with both calls in `ncclGetLastError`. A rank whose process ends, or that is aborted, is an `ncclRemoteError` in
//! those that wait for it. As with NCCL, whoever waits for a rank that is alive and does not call waits until it aborts.
//!
//! From the top: `api` (the C functions) → `group` → `job` (work in a stream) → `collective` (which messages a collective is) →
//! `communicator` → `exchange` (messages), `split` → `world` (shared memory), `element` (reductions), `registration`,
//! `driver` → `failure`.

mod api;
mod collective;
mod communicator;
mod driver;
mod element;
mod exchange;
mod failure;
mod group;
mod job;
mod registration;
mod split;
mod world;

pub use api::entry_point;
pub use driver::{Driver, set_driver};

/// The version that it says it is: the one of NCCL whose interface it has.
pub const VERSION: i32 = 23203;

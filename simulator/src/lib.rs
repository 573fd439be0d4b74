//! A CUDA driver on the CPU: parses PTX, executes it, checks it.
//!
//! A program comes in through [`entry_point`]: the driver's C functions by their symbol names. `warpsmith-driver` puts `cust` and the host
//! library on top of them; `simulator/dropin` exports them as a `libcuda.so.1`. Whoever watches kernels run registers in [`observe`].
//!
//! The floors, from the top; each knows those below it alone:
//!
//! | module | what |
//! | --- | --- |
//! | `api` | the driver's functions, one file a concept |
//! | `graph` | graphs, captures as their source, executable graphs |
//! | `streams` | streams, events, and what is enqueued in them |
//! | [`observe`], `order_check` | who is registered to watch kernels run; conflicts between pieces of work that nothing orders |
//! | `device_runtime`, `module` | what kernels call; loaded code |
//! | `context` | contexts: memory, queues and sticky error |
//! | [`memory`], `work` | the simulated address space, its accounts, copies and fills; queues of asynchronous work |
//! | `device`, `settings` | what a simulated device reports about itself; the simulator's own switches |
//! | [`engine`] | lowers a parsed module to a compact form and executes it on warps of 32 lanes |
//! | [`ptx`], [`check`], [`numerics`] | the PTX front end; data races and uninitialised reads; the arithmetic of PTX, bit for bit |
//! | `error`, `registry`, `sync`, `report` | error codes, handles, locks, reports of faults |

mod api;
pub mod check;
mod context;
mod device;
mod device_runtime;
pub mod engine;
mod error;
mod graph;
pub mod memory;
mod module;
pub mod numerics;
pub mod observe;
mod order_check;
pub mod ptx;
mod registry;
mod report;
mod settings;
mod streams;
mod sync;
mod work;

pub use api::entry_point;

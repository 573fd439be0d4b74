//! A CUDA driver on the CPU: parses PTX, executes it, checks it.
//!
//! The only way in is [`entry_point`]: the driver's C functions by their symbol names. `warpsmith-driver` puts `cust` and the host
//! library on top of them; `simulator/dropin` exports them as a `libcuda.so.1`.
//!
//! | module | what |
//! | --- | --- |
//! | `api` | the driver's functions, one module a topic |
//! | `state` | contexts, handles, error codes |
//! | `streams`, `graph` | asynchronous work and its order |
//! | `module`, `pool`, `runtime` | loaded code, stream-ordered memory, what kernels call |
//! | `settings`, `report` | the simulator's own switches, and what it says about faults |
//! | `device` | what a simulated device reports about itself |
//! | [`memory`] | the simulated address space |
//! | [`ptx`] | lexer, parser, syntax tree; errors with line and column |
//! | [`engine`] | lowers a parsed module to a compact form and executes it on warps of 32 lanes |
//! | [`check`] | data races and uninitialised reads in shared memory |
//! | [`numerics`] | the arithmetic of PTX, bit for bit, as pure functions |

mod api;
pub mod check;
mod device;
pub mod engine;
mod graph;
pub mod memory;
mod module;
pub mod numerics;
mod pool;
pub mod ptx;
mod report;
mod runtime;
mod settings;
mod state;
mod streams;

pub use api::entry_point;
use warpsmith_abi as abi;

//! The builder's tests: PTX of small kernels, looked at instruction by instruction, and errors.
//!
//! The kernels are in `tests/fixtures`; they depend on `core` only. Each combination of fixture and options is
//! built once for the whole run. Where a `ptxas` is found, it must accept the PTX.

mod accesses;
mod arithmetic;
mod attributes;
mod barriers;
mod capabilities;
mod checks;
mod conditions;
mod convergence;
mod edits;
mod errors;
mod language;
mod launch;
mod lines;
mod local_arrays;
mod loop_exits;
mod loops;
mod memory;
mod narrow;
mod order;
mod panics;
mod projects;
mod rounds;
mod stacks;
mod stores;
mod support;
mod switches;
mod thread_exits;
mod units;
mod versions;

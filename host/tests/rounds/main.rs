//! Whatever this library makes is made, used and dropped a thousand times, and nothing of it is left: of the device, of its pools, of the
//! process. A group of cases has a process of its own, since all that is measured is a process's.

#[path = "../common/mod.rs"]
mod common;

mod arrays;
mod device;
mod device_memory;
mod footprint;
mod graphs;
mod heap;
mod host_memory;
mod interop;
mod leaks;
mod modules;
mod other_process;
mod plain;
mod refusals;
mod streams;
mod world;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

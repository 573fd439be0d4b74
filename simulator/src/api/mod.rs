//! The driver's C functions, one file a concept, and the table that finds them by symbol name.
//!
//! The functions here check pointers and translate between the C interface and the floors below, which know nothing of it. Handles are
//! numbers from the registries of those floors, never addresses: a wrong handle is found out, not followed. Pointers to parameters are
//! the caller's responsibility, as in C; null ones are refused.

mod entry;

mod array;
mod attributes;
mod capture;
mod context;
mod copy;
mod descriptor;
mod device;
mod error;
mod event;
mod extension;
mod external_memory;
mod external_semaphore;
mod fill;
mod function;
mod graph;
mod graph_exec;
mod graph_memory;
mod init;
mod interprocess;
mod jit_options;
mod launch;
mod library;
mod link;
mod lookup;
mod managed;
mod managed_batch;
mod memory;
mod memory_operation;
mod module;
mod multicast;
mod nodes;
mod parts;
mod peer;
mod pointer;
mod pool;
mod profiler;
mod stream;
mod texture;
mod unsupported;
mod virtual_memory;

pub use lookup::entry_point;

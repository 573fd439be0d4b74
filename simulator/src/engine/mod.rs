//! The execution engine: a parsed PTX module is lowered once into a compact form ([`Module::load`]) and grids of its
//! kernels are executed on all cores ([`run`]).
//!
//! The engine knows nothing of the driver's API. What it needs from it comes through two traits: [`DeviceMemory`]
//! (which addresses exist) and [`Runtime`] (printing and the calls a kernel makes into the device runtime).

#![allow(
    clippy::needless_range_loop,
    reason = "the loops are over the lanes of several registers at once"
)]

mod access;
mod dataflow;
mod environment;
mod exec;
mod fault;
mod instruction;
mod isa;
mod lower;
mod memory;
mod module;
pub mod observe;
mod program;
mod report;
mod run;
mod slot;
mod source;
mod statistics;
mod texels;

pub(crate) use environment::GRAPH_LAUNCH;
pub use environment::{
    AccessError, AllocationInfo, Checks, DeviceMemory, Environment, Extent, GridOrder, NoteSink,
    Runtime, RuntimeError, TouchSink,
};
pub use exec::level::VectorLevel;
pub use fault::{Fault, FaultKind, Note, NoteKind, SourceLocation};
pub(crate) use lower::is_runtime as is_runtime_function;
pub use module::{Global, Kernel, KernelParameter, LoadError, Module, Space};
pub use run::{Launch, run};
pub use statistics::Statistics;
pub use texels::{Faces, ObjectError, TexelRecord, Texels, TextureObject};

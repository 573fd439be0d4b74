//! Compiles kernels written in Rust to PTX, with stock stable rustc and a PTX linker over rustc's own LLVM.
//!
//! [`CudaBuilder`] is for `build.rs` and for tools; [`doctor()`] and [`setup`] are for tools such as `xtask`.
//!
//! The way of a kernel:
//!
//! 1. [`toolchain`] finds rustc and the LLVM library in its sysroot; [`core_source`] finds or fetches the source of
//!    `core`; [`sysroot`] compiles it for the GPU, once per toolchain, into the user's [`cache`].
//!    A toolchain that was not tested is tried with probe kernels first (`admission`).
//! 2. cargo compiles the kernel crate to *unoptimised* bitcode.
//! 3. The linker puts all bitcode into one module, does what rustc cannot (convergence, address spaces, kernel
//!    attributes, atomics' order, ...), and cuts it into units, one for each kernel. It optimises each with LLVM's own pipeline and
//!    translates it to PTX, unless the cache has the PTX of the same unit, and puts the PTX together.
//! 4. [`ptx`] reads back what each kernel needs; [`ptxas`] asks NVIDIA's assembler, where there is one; [`nvcc`] makes what kernels are
//!    compared with.
//!
//! Environment: `WARPSMITH_CACHE` (the cache folder), `WARPSMITH_PTXAS` (the assembler), `WARPSMITH_DUMP_IR` (a folder
//! for the LLVM IR before and after optimisation).

mod admission;
mod arch;
mod build;
mod builder;
mod builtins;
pub mod cache;
mod code;
mod comments;
pub mod core_source;
mod deferred;
mod device_core;
mod device_crate;
mod doctor;
mod environment;
mod error;
mod fingerprint;
mod hints;
mod line_readers;
mod linker;
mod llvm;
mod module_crate;
mod moved_lines;
mod names;
pub mod nvcc;
mod nvidia_tools;
mod options;
mod parallel;
mod parse;
mod pip;
pub mod ptx;
pub mod ptxas;
mod rustc_error;
pub mod setup;
mod shared_units;
mod source_location;
mod sources;
pub mod sysroot;
pub mod toolchain;

pub use arch::{Arch, PtxVersion};
pub use build::PtxOutput;
pub use builder::CudaBuilder;
pub use doctor::{Ingredient, doctor};
pub use environment::PTX_FILES;
pub use error::{ArchLacks, BuildError, UnresolvedSymbol, Untranslatable};
pub use options::{AfterPanic, DebugInfo, PanicStrategy};
pub use rustc_error::RustcError;
pub use source_location::SourceLocation;

/// The book's page on projects: its build scripts are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/howto/project.md")]
struct HowTo;

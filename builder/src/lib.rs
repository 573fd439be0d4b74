//! Compiles a kernel crate to PTX with stock rustc and a PTX linker over rustc's own LLVM.

mod arch;
mod builder;
pub mod cache;
pub mod core_source;
mod device_crate;
mod error;
mod linker;
mod llvm;
pub mod sysroot;
pub mod toolchain;

pub use arch::{Arch, PtxVersion};
pub use builder::{AfterPanic, CudaBuilder, PanicStrategy, PtxOutput};
pub use error::BuildError;

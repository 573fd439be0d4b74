//! A small layer over the LLVM C API of [`sys`]: contexts, modules, values.
//!
//! It knows nothing of Rust or of kernels. Values borrow their [`Context`], so they cannot outlive it; a value
//! that was erased must not be used again, which the linker's passes hold by collecting before changing.
//!
//! From the base up: [`opcode`], [`predicate`], `differences` (between LLVM's versions), [`sys`], [`guarded`], `library`, `context`, `scope`, `location`, `value` (with
//! `function`, `instruction` and `build`, which add to its methods), `target_machine`, `module`, `parameters`, `operations` and `ways` (more methods of
//! `value`), `place`, `debug_builder`, `probe`.

mod block;
mod build;
mod context;
mod debug_builder;
mod differences;
mod function;
pub mod guarded;
mod instruction;
mod library;
mod location;
mod module;
pub mod opcode;
mod operations;
mod parameters;
mod place;
pub mod predicate;
mod probe;
mod scope;
pub mod sys;
mod target_machine;
mod value;
mod ways;

pub use block::Block;
pub use context::Context;
pub use debug_builder::DebugBuilder;
pub use library::load;
pub use location::Location;
pub use module::Module;
pub use place::Place;
pub use scope::Scope;
pub use target_machine::TargetMachine;
pub use value::{
    Attribute, Ordering, RmwOperation, Value, ValueKind, calling_convention, fast_math,
};

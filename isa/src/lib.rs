//! The PTX instruction set as data.
//!
//! Nothing here compiles, executes or checks anything: the crate says what each instruction form is, and its readers (the
//! builder's linker, the simulator's front end, engine and checks) decide what follows from it. It depends on nobody.
//!
//! [`forms`] holds the tables, one file a family, each entry a syntax line of the PTX ISA manual ([`form`] explains how to
//! read it). [`find`](find()) gives the form of an instruction. `cargo xtask isa --check` compares every entry with ptxas.

#![no_std]

#[cfg(feature = "sample")]
extern crate alloc;

mod availability;
pub mod capability;
pub mod effect;
mod filling;
mod find;
mod fit;
pub mod form;
pub mod forms;
mod index;
mod matched;
mod matrix;
mod misfit;
mod misnamed;
mod modifier;
mod name;
mod needed;
pub mod nvvm;
pub mod operand;
mod phrase;
pub mod phrases;
mod refusal;
#[cfg(feature = "sample")]
pub mod sample;
pub mod special_registers;
mod target;
mod text;
mod words;

pub use find::{accept, check_special, find, matches, operands_first};
pub use fit::{Misfit, closest};
pub use index::forms_of;
pub use matched::{Match, MemoryEffect};
pub use modifier::ModifierClass;
pub use name::Name;
pub use phrase::{Named, Phrase, Subject};
pub use refusal::{Elements as MatrixElements, Matrices, Refusal};
pub use target::{Features, PtxVersion, Since, Target, Targets};

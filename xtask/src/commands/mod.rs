//! The commands, one module each.

pub mod bench;
mod bench_build;
mod bench_toolchains;
pub mod build_ptx;
pub mod bundle;
pub mod codegen;
pub mod doctor;
pub mod fuzz;
pub mod isa;
pub mod miri;
pub mod new;
pub mod record;
pub mod run;
pub mod sanitize;
pub mod setup;
pub mod simulator;
pub mod test;

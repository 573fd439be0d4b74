//! Looks for defects: random programs, PTX, driver calls, host programs and mutants of the reference kernels, each compared with
//! what must come of it. `docs/src/reference/fuzzing.md` says what each kind does.
//!
//! The floors, from the top: `fuzzer` runs rounds and cases in processes of their own (`isolated`) and makes
//! what fails smaller (`reduction`); `kinds` lists the kinds; each (`kind`) is a
//! module (`programs`, `ptx`, `api`, `host`, `mutants`), which generates with `choose`, and tells by `report` what it tries and finds.

mod api;
mod choose;
mod folders;
pub mod fuzzer;
mod host;
mod isolated;
mod kind;
pub mod kinds;
mod mutants;
mod programs;
mod ptx;
mod reduction;
mod report;

pub use folders::case_files;
pub use kind::Kind;
pub use report::Report;

//! The host side of the reference suite: for each kernel of `warpsmith-kernels` a problem, a CPU oracle and a benchmark.
//!
//! ```no_run
//! use warpsmith_host::prelude::*;
//! use warpsmith_suite::{Session, cases};
//!
//! # fn main() -> anyhow::Result<()> {
//! let session = Session::new(&Gpu::open_default()?)?;
//! for case in cases() {
//!     let outcome = case.run(&session, None, 1, &mut |_| ())?;
//!     println!("{}: {:?}", outcome.name, outcome.verified);
//! }
//! # Ok(())
//! # }
//! ```

pub mod bench;
pub mod case;
mod cases;
pub mod check;
pub mod equalize;
pub mod histograms;
pub mod program;
pub mod random;
pub mod session;
pub mod set;
pub mod suite;
pub mod table;
pub mod twins;

pub use case::{Case, Outcome, Progress};
pub use cases::cases;
pub use session::Session;
pub use set::Set;

/// The kernels' PTX.
pub const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

/// The PTX of the kernels that are wrong on purpose (`warpsmith_kernels::broken`), for the tests of the checks.
#[doc(hidden)]
pub const BROKEN_PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/broken.ptx"));

/// The case of this name.
pub fn case(name: &str) -> Option<&'static Case> {
    suite::SUITE.case(name)
}

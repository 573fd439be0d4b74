//! The driver seam: the real CUDA driver or the simulator, chosen at run time, behind cust's symbols.
//!
//! Nothing links against a CUDA library. This crate defines every `cu*` symbol that `cust` (through `cust_raw`) expects of one; each
//! jumps through a table filled at run time, either from `libcuda.so.1` or from the simulator that the program brings (see
//! [`provide_simulator`]). What `cust` lacks stands in [`raw`] with the same names and the newest types, whose enumerations are
//! newtype integers: an error code that a newer driver invents is a value, not undefined behaviour.
//!
//! The choice is made once in a process: by [`select`], or by the first driver call, which takes [`Choice::Default`].
//!
//! ```
//! use warpsmith_driver::{raw, select, Choice};
//! # warpsmith_driver::provide_simulator! {
//! #     // SAFETY: the simulator compiles each of its functions against the signature of its name.
//! #     unsafe { warpsmith_driver::SimulatorBackend::new(warpsmith_simulator::entry_point) }
//! # }
//!
//! # fn main() -> Result<(), warpsmith_driver::SelectError> {
//! select(Choice::Simulator)?;
//! let mut version = 0;
//! // SAFETY: `version` outlives the call.
//! unsafe {
//!     assert_eq!(raw::cuInit(0), raw::CUresult::CUDA_SUCCESS);
//!     assert_eq!(raw::cuDriverGetVersion(&mut version), raw::CUresult::CUDA_SUCCESS);
//! }
//! assert!(version >= 12000);
//! # Ok(())
//! # }
//! ```

mod environment;
pub mod error;
mod extension;
mod jumps;
mod library;
pub mod raw;
mod select;
mod simulator;
mod symbols;
mod table;

pub use extension::{configure_simulator, fault, simulator_report};
#[doc(hidden)]
pub use linkme;
pub use select::{Backend, Choice, SelectError, backend, cuda_available, select};
#[doc(hidden)]
pub use simulator::SIMULATORS;
pub use simulator::SimulatorBackend;

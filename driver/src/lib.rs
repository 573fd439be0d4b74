//! The driver seam: the real CUDA driver or the simulator, chosen at run time, behind cust's symbols.
//!
//! Nothing links against a CUDA library. This crate defines every `cu*` symbol that `cust` (through `cust_raw`) expects of one; each
//! jumps through a table filled at run time, either from `libcuda.so.1` or from [`warpsmith_simulator::entry_point`]. What `cust`
//! lacks stands in [`raw`] with the same names and the newest types, whose enumerations are newtype integers: an error code that a
//! newer driver invents is a value, not undefined behaviour.
//!
//! The choice is made once in a process: by [`select`], or by the first driver call, which takes [`Choice::Default`].
//!
//! ```
//! use warpsmith_driver::{raw, select, Choice};
//!
//! select(Choice::Simulator)?;
//! let mut version = 0;
//! // SAFETY: `version` outlives the call.
//! unsafe {
//!     assert_eq!(raw::cuInit(0), raw::CUresult::CUDA_SUCCESS);
//!     assert_eq!(raw::cuDriverGetVersion(&mut version), raw::CUresult::CUDA_SUCCESS);
//! }
//! assert!(version >= 12000);
//! # Ok::<(), warpsmith_driver::SelectError>(())
//! ```

mod backend;
pub mod error;
pub mod raw;
mod report;
mod table;

pub use backend::{Backend, Choice, SelectError, backend, cuda_available, select};
pub use report::{configure_simulator, simulator_report};

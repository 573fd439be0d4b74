//! The CUDA driver's C interface: every type and function under its C name, answered by the chosen driver.
//!
//! A function's safety contract is that of the driver function of its name. A function that the driver at hand lacks answers
//! `CUDA_ERROR_NOT_SUPPORTED`; with no driver at all every function answers `CUDA_ERROR_NO_DEVICE`.

pub use crate::jumps::*;
pub use warpsmith_abi::*;

//! The result of a driver call, and the driver's error codes.

pub(crate) mod code;

use warpsmith_abi::CUresult;

/// The result of a driver call.
pub(crate) type Result<T = ()> = core::result::Result<T, CUresult>;

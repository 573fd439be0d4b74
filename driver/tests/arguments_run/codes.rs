//! The codes that calls answer, as numbers: tables name them.

pub const SUCCESS: u32 = 0;
pub const INVALID_VALUE: u32 = 1;
pub const INVALID_DEVICE: u32 = 101;
pub const INVALID_CONTEXT: u32 = 201;
pub const INVALID_HANDLE: u32 = 400;
pub const NOT_FOUND: u32 = 500;
pub const CONTEXT_IS_DESTROYED: u32 = 709;
pub const NOT_SUPPORTED: u32 = 801;

//! `use warpsmith_device::prelude::*;` at the head of a kernel module.

pub use crate::launch::{Kernel, SafeKernel};
pub use crate::view::{Matrix, MatrixOut, PerBlock, PerThread, PerThread3d};
pub use crate::{arch, block, clock, fence, grid, kernel, shared, thread, warp};

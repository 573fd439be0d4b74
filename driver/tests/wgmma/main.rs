//! `wgmma` on the simulator, and on a device of compute capability 9.0.

#[path = "../common/mod.rs"]
mod common;
mod gemm;
mod products;

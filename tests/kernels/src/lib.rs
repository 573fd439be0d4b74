//! Kernels that the end-to-end tests launch.
#![no_std]

pub mod basics;
pub mod warps;

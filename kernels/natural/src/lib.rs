//! Kernels as a newcomer writes them: safe where that is natural, with iterators, slices and `usize`, and without tuning. Each has a twin in
//! `twins`: the same algorithm in CUDA C++, written as plainly.
//!
//! They show what a user meets first. `cargo xtask build-ptx --against-nvcc` compares the code of both, `cargo xtask bench natural` the
//! times. A kernel that is slower than its twin is a matter for the builder or the device library: it is not tuned here.
#![no_std]

pub mod nbody;
pub mod radix_histogram;
pub mod saxpy;
pub mod smith_waterman;
pub mod softmax_warp;

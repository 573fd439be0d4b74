//! Kernels that the end-to-end tests launch, one module for each part of the device library.
//!
//! Each kernel shows one thing, so that its PTX can be read beside the snapshot and its result beside the expectation.
//! Kernels that need a newer architecture than `sm_70` say so with `cfg(warpsmith_arch_at_least)`; on the host all exist.
#![no_std]
// Kernels do on purpose what a program would not: divide by zero, write the same barrier twice, and forget a copy.
#![allow(
    clippy::eq_op,
    clippy::forget_non_drop,
    clippy::if_same_then_else,
    clippy::manual_is_multiple_of
)]

pub mod atomics;
pub mod barriers;
pub mod basics;
pub mod checks;
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "90"))]
pub mod clusters;
pub mod cooperative;
pub mod copies;
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "90"))]
pub mod dependent;
pub mod dpx;
pub mod elements;
pub mod exchanges;
pub mod faults;
pub mod floats;
pub mod graphs;
pub mod guide;
pub mod guide_memory;
pub mod half;
pub mod index32;
pub mod insertions;
pub mod language;
pub mod local_arrays;
pub mod local_atomics;
pub mod long_copies;
pub mod loops;
pub mod matrix;
pub mod memory;
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "80"))]
pub mod mma;
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "90"))]
pub mod multicast;
pub mod narrow;
pub mod output;
pub mod panics;
pub mod rounds;
pub mod safe;
pub mod shared_memory;
pub mod stacks;
pub mod statics;
pub mod steps;
pub mod stores;
pub mod switches;
pub mod tables;
pub mod texture;
pub mod utf16;
pub mod views;
pub mod warps;
pub mod wide_integers;

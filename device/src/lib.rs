//! The library that kernels are written with: threads, warps, shared memory, barriers, atomics, matrix units.
//!
//! A kernel is a plain Rust function with [`#[kernel]`](macro@kernel):
//!
//! ```
//! use warpsmith_device::prelude::*;
//!
//! /// `y += a * x`, one element a thread.
//! #[kernel(launch_bounds(256))]
//! pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
//!     if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
//!         *y += a * x;
//!     }
//! }
//! ```
//!
//! The crate compiles for two targets. For `nvptx64-nvidia-cuda` its functions are what their documentation says they
//! become in PTX. On the host the same items exist with the same types, so that `cargo check`, rust-analyzer and the
//! generated launchers work; calling an intrinsic there panics and says so.
//!
//! # What safe code can rely on
//!
//! A safe kernel reaches memory through views that cannot race: `&[T]` is read-only for the whole grid, and an output
//! view hands each thread its own elements. Shared memory is reached in phases divided by barriers
//! ([`shared!`]). One rule is left to the author, because no type can express it: **every thread of a block reaches the
//! same block-wide barriers in the same order** (and every lane named by a mask the same warp operation). The simulator
//! checks it on every run.
#![no_std]
// Inline assembly for this target is unstable too; the builder enables that for every device crate.
#![cfg_attr(
    target_arch = "nvptx64",
    feature(stdarch_nvptx, link_llvm_intrinsics, core_float_math)
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]
// On the host an intrinsic's arguments go nowhere.
#![cfg_attr(
    not(target_arch = "nvptx64"),
    allow(
        unused_variables,
        unused_mut,
        unused_unsafe,
        unused_macros,
        dead_code,
        unreachable_code
    )
)]

// The macros' expansions name the crate by its full path, here too.
extern crate self as warpsmith_device;

#[macro_use]
mod device_only;
#[macro_use]
mod instruction;

pub mod arch;
pub mod atomic;
pub mod block;
pub mod clock;
pub mod cluster;
mod cooperative;
pub mod fence;
pub mod grid;
pub mod half;
pub mod hint;
pub mod launch;
pub mod panic;
pub mod prelude;
pub mod shared;
pub mod thread;
pub mod view;
pub mod warp;
pub mod wmma;

#[doc(hidden)]
pub mod __private;

pub use warpsmith_macros::kernel;

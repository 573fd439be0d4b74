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
//! A safe kernel reaches memory through views that cannot race: `&[T]` and textures are read-only for the whole grid, and an output
//! view or a surface hands each thread its own elements. Shared memory is reached in phases divided by barriers
//! ([`shared!`]). One rule is left to the author, because no type can express it: **every thread of a block reaches the
//! same block-wide barriers in the same order**, those of shared arrays with the same arrays (and every lane named by a mask
//! the same warp operation). The simulator checks it on every run.
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
#[macro_use]
mod pair;

pub mod arch;
pub mod atomic;
pub mod block;
pub mod clock;
pub mod cluster;
mod cooperative;
mod copy_groups;
pub mod dependent;
pub mod dpx;
pub mod fence;
pub mod float;
pub mod graph;
pub mod grid;
pub mod half;
pub mod hint;
pub mod index;
pub mod launch;
pub mod mem;
pub mod mma;
pub mod panic;
pub mod parameter;
pub mod prelude;
pub mod print;
pub mod shared;
pub mod space;
mod special_registers;
pub mod statics;
pub mod strided;
pub mod texture;
pub mod thread;
mod unroll;
pub mod vector;
pub mod view;
pub mod warp;
pub mod wmma;

#[doc(hidden)]
pub mod __private;

/// Makes a function a GPU kernel, and generates its typed launcher for the host.
///
/// On the device the function becomes a PTX entry of its own name. On the host it becomes a type and a function of that
/// name, for the host library: `module.kernel(saxpy)`. A kernel cannot be called as a function.
///
/// # Parameters
///
/// | Type | What it is |
/// | --- | --- |
/// | `f32`, `u32`, `usize`, ... | by value |
/// | `T` with `T: bytemuck::Pod` | by value; may be large (up to 32,764 bytes in all), and is not copied per thread |
/// | `&[T]` | device memory that the whole grid only reads; loads become `ld.global.nc` |
/// | `&T` | one such value |
/// | [`PerThread<[T]>`](view::PerThread), [`PerBlock<[T]>`](view::PerBlock), [`MatrixOut<T>`](view::MatrixOut), ... | device memory of which each thread writes its own part |
/// | [`AtomicSlice<T>`](atomic::AtomicSlice) | device memory that all threads change by atomic operations |
/// | [`Matrix<T>`](view::Matrix) | a read-only matrix with a row stride |
/// | [`Texture2d<T>`](texture::Texture2d), [`LinearTexture<T>`](texture::LinearTexture), ... | texels that threads fetch by coordinates |
/// | [`Surface2d<T>`](texture::Surface2d), ... | texels of which each thread reads and writes its own |
/// | [`AfterPrimary<&[T]>`](dependent::AfterPrimary), ... | memory that the kernel reaches when the grids before it have ended |
/// | [`Condition`](graph::Condition), [`DeviceGraph`](graph::DeviceGraph) | the condition of a conditional node; a graph that the kernel launches |
/// | `*const T`, `*mut T` | device memory, unchecked: the kernel must be an `unsafe fn` |
///
/// # Arguments
///
/// - `launch_bounds(x, y, z, exact, min_blocks = N, max_cluster = N)`: the most threads a block may have (y and z may be
///   left out); with `exact` the block has exactly this size, and its dimensions are constants in the kernel;
///   `min_blocks`: how many blocks should fit on a multiprocessor; `max_cluster`: the largest cluster it may be launched
///   in. They become `.maxntid` or `.reqntid`, `.minnctapersm`, `.maxclusterrank`.
/// - `max_registers = N`: registers a thread may use (`.maxnreg`).
/// - `cluster(x, y, z)`: blocks form clusters of this shape (`.reqnctapercluster`; `sm_90`).
/// - `instantiate(f32, f64)`, `instantiate((f32, 128), (f64, 64))`: the instantiations of a generic kernel. Their entries
///   are called `NAME__f32`, `NAME__f32_128`.
/// - `name = "..."`: the entry's name.
/// - `fmad = bool`, `ftz = bool`, `approx_div = bool`, `approx_sqrt = bool`: floating-point switches for this kernel alone.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// pub struct Line {
///     slope: f32,
///     offset: f32,
/// }
///
/// /// Evaluates a line.
/// #[kernel(launch_bounds(256, min_blocks = 4))]
/// pub fn evaluate(line: Line, x: &[f32], mut y: PerThread<[f32]>) {
///     let Some(x) = x.get(thread::index()) else { return };
///     if let Some(y) = y.mine() {
///         *y = line.slope * x + line.offset;
///     }
/// }
///
/// /// Adds two arrays of any element type in the list.
/// #[kernel(instantiate(f32, u64))]
/// pub fn add<T: bytemuck::Pod + core::ops::Add<Output = T>>(a: &[T], b: &[T], mut sum: PerThread<[T]>) {
///     for (i, sum) in sum.strided() {
///         *sum = a[i] + b[i];
///     }
/// }
/// ```
pub use warpsmith_macros::kernel;

/// Stops the whole grid if a condition does not hold, by CUDA C++'s `assert` protocol.
///
/// Each thread in which it does not hold prints one line on the host's standard error (file, line, module, block,
/// thread, the condition's text) at the next synchronisation, which gives `CUDA_ERROR_ASSERT`; the CUDA context is lost.
/// Where the context should survive, use Rust's own `assert!`: it becomes a panic, see [`panic`](mod@panic).
///
/// The condition is always evaluated; [`gpu_debug_assert!`] is for checks that a release build leaves out.
///
/// Becomes a branch to `call __assertfail`. Any arch.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn check(x: &[f32]) {
///     if let Some(x) = x.get(thread::index()) {
///         gpu_assert!(*x >= 0.0, "a length cannot be negative");
///     }
/// }
/// ```
pub use warpsmith_macros::gpu_assert;

/// Prints a line from every thread that calls it: [`gpu_println!`] without the end of line.
pub use warpsmith_macros::gpu_print;

/// Prints a line from every thread that calls it, with Rust's format strings.
///
/// The lines of different threads come in any order, on the host's standard output, when the host synchronises. What
/// CUDA's printf cannot do does not compile. Differences to `println!`:
///
/// - `{}` of a float has six significant digits (C's `%g`), `{:?}` as many as are needed to tell all values apart
///   (`%.9g`, `%.17g`), `{:.3}` three decimals;
/// - integers have at most 64 bits; a `&str` is cut off after 128 bytes (a `&CStr` is not); there are at most 32
///   arguments;
/// - there is no centring, no fill but spaces and zeros, no precision from an argument, no `{:b}`, no `{:#?}`.
///
/// Becomes `call vprintf` with the arguments in local memory. Any arch.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn show(x: &[f32]) {
///     let i = thread::index();
///     if let Some(x) = x.get(i) {
///         gpu_println!("x[{i}] = {x:>8.3}, bits {:#010x}", x.to_bits());
///     }
/// }
/// ```
pub use warpsmith_macros::gpu_println;

/// [`gpu_assert!`] in builds with debug assertions; in others the condition is not even evaluated.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn check(x: &[f32]) {
///     gpu_debug_assert!(x.len() % 2 == 0);
/// }
/// ```
#[macro_export]
macro_rules! gpu_debug_assert {
    ($($arguments:tt)*) => {
        if cfg!(debug_assertions) {
            $crate::gpu_assert!($($arguments)*);
        }
    };
}

//! The calling thread: its index in its block and in the grid.
//!
//! Numbers are unsigned, as in CUDA C++; x varies fastest. The single special registers have `cuda_std`'s names too
//! (`thread_idx_x()`), and so do `index_1d()`, `index_2d()`, `index_3d()`.

use crate::{block, grid};

/// The single special registers, under `cuda_std`'s names.
pub use crate::special_registers::{
    block_dim_x, block_dim_y, block_dim_z, block_idx_x, block_idx_y, block_idx_z, grid_dim_x,
    grid_dim_y, grid_dim_z, thread_idx_x, thread_idx_y, thread_idx_z,
};

/// `%tid`: the thread's position in its block, as CUDA C++'s `threadIdx`. Any arch.
///
/// ```no_run
/// let (x, y, _) = warpsmith_device::thread::idx();
/// # let _ = (x, y);
/// ```
#[inline(always)]
pub fn idx() -> (u32, u32, u32) {
    (thread_idx_x(), thread_idx_y(), thread_idx_z())
}

/// The thread's number in a grid that extends along x: `block_idx.x * block_dim.x + thread_idx.x`, in 64 bits.
///
/// Becomes one `mad.wide.u32`. In a launch with more dimensions several threads share a number; see [`linear_index`].
///
/// ```no_run
/// # use warpsmith_device::thread;
/// fn mine(x: &[f32]) -> Option<&f32> {
///     x.get(thread::index())
/// }
/// # mine(&[]);
/// ```
#[inline(always)]
pub fn index() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}

/// [`index`] in 32 bits, for grids of fewer than 2^32 threads along x.
///
/// ```no_run
/// let index: u32 = warpsmith_device::thread::index_1d();
/// # let _ = index;
/// ```
#[inline(always)]
pub fn index_1d() -> u32 {
    block_idx_x()
        .wrapping_mul(block_dim_x())
        .wrapping_add(thread_idx_x())
}

/// The thread's position in the grid: `(x, y)`.
///
/// ```no_run
/// let (x, y) = warpsmith_device::thread::index_2d();
/// # let _ = (x, y);
/// ```
#[inline(always)]
pub fn index_2d() -> (u32, u32) {
    (
        index_1d(),
        block_idx_y()
            .wrapping_mul(block_dim_y())
            .wrapping_add(thread_idx_y()),
    )
}

/// The thread's position in the grid: `(x, y, z)`.
///
/// ```no_run
/// let (x, y, z) = warpsmith_device::thread::index_3d();
/// # let _ = (x, y, z);
/// ```
#[inline(always)]
pub fn index_3d() -> (u32, u32, u32) {
    let (x, y) = index_2d();
    (
        x,
        y,
        block_idx_z()
            .wrapping_mul(block_dim_z())
            .wrapping_add(thread_idx_z()),
    )
}

/// The thread's number in its block, x fastest: what the hardware makes warps of.
///
/// ```no_run
/// let in_block: u32 = warpsmith_device::thread::linear_in_block();
/// # let _ = in_block;
/// ```
#[inline(always)]
pub fn linear_in_block() -> u32 {
    (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x()
}

/// The thread's number in the whole grid whatever its dimensions: all threads of block 0, then of block 1, ...
///
/// ```no_run
/// let number: usize = warpsmith_device::thread::linear_index();
/// # let _ = number;
/// ```
#[inline(always)]
pub fn linear_index() -> usize {
    grid::linear_block() as usize * block::threads() as usize + linear_in_block() as usize
}

/// Whether this is thread (0, 0, 0) of block (0, 0, 0).
///
/// ```no_run
/// if warpsmith_device::thread::is_first() { /* once per grid */ }
/// ```
#[inline(always)]
pub fn is_first() -> bool {
    let (x, y, z) = idx();
    let (bx, by, bz) = block::idx();
    (x | y | z | bx | by | bz) == 0
}

/// `__syncthreads()`: [`block::sync`] under `cuda_std`'s name.
///
/// ```no_run
/// warpsmith_device::thread::sync_threads();
/// ```
#[inline(always)]
pub fn sync_threads() {
    block::sync();
}

/// Ends the calling thread. The others go on; block barriers no longer wait for this one.
///
/// Becomes `exit;`, and before it, from sm_80 on, `cp.async.wait_all`: no copy of the thread's ([`shared::copies`](crate::shared::copies()))
/// outlives it. Any arch. In a kernel that lends shared memory across its cluster
/// ([`SharedFilled::across_cluster`](crate::shared::SharedFilled::across_cluster)), the last thread of a block first waits until all blocks
/// of the cluster have ended, so that neighbours find the block's memory; that is about 12 instructions more.
///
/// ```no_run
/// warpsmith_device::thread::exit();
/// ```
#[inline(always)]
pub fn exit() -> ! {
    on_device! {
        // Others may read an array that is being filled by this thread's copies, which its end would leave behind.
        crate::copy_groups::settle();
        // SAFETY: the linker puts what a thread owes its cluster there, or nothing.
        unsafe { __warpsmith_thread_exits() };
        exit_uncounted()
    }
}

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    fn __warpsmith_thread_exits();
}

/// [`exit`] where the shared memory of the thread's block is not used by other blocks.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub(crate) fn exit_uncounted() -> ! {
    // SAFETY: no other thread uses the memory of an ended one; barriers do not wait for it.
    unsafe { core::arch::asm!("exit;", options(noreturn)) }
}

/// CUDA C++'s `__trap()`: aborts the whole grid; the host gets `CUDA_ERROR_LAUNCH_FAILED`, and the context is lost.
///
/// Becomes `trap;`. Any arch.
///
/// ```no_run
/// warpsmith_device::thread::trap();
/// ```
#[inline(always)]
pub fn trap() -> ! {
    // SAFETY: `trap` ends the grid and returns to no thread, as `noreturn` says.
    on_device! { unsafe { core::arch::asm!("trap;", options(noreturn)) } }
}

/// CUDA C++'s `__brkpt()`: stops in a debugger.
///
/// Becomes `brkpt;`. Any arch.
///
/// ```no_run
/// warpsmith_device::thread::breakpoint();
/// ```
#[inline(always)]
pub fn breakpoint() {
    // SAFETY: `brkpt` suspends the thread, and changes no register or memory of the program.
    on_device! { unsafe { core::arch::asm!("brkpt;") } }
}

/// CUDA C++'s `__nanosleep()`: suspends the thread for between 0 and twice the given time, at most about a millisecond.
///
/// Becomes `nanosleep.u32`. Any arch. Orders nothing.
///
/// ```no_run
/// warpsmith_device::thread::nanosleep(256);
/// ```
#[inline(always)]
pub fn nanosleep(nanoseconds: u32) {
    // SAFETY: `nanosleep` suspends the thread, and changes no register or memory of the program.
    on_device! { unsafe { core::arch::asm!("nanosleep.u32 {};", in(reg32) nanoseconds) } }
}

/// Adds one, for the calling warp, to hardware counter `COUNTER` (0 to 7), for profilers: CUDA C++'s `__prof_trigger()`.
///
/// Becomes `pmevent`. Any arch.
///
/// ```no_run
/// warpsmith_device::thread::profiler_event::<3>();
/// ```
///
/// ```compile_fail,E0080
/// // The others are not for applications.
/// warpsmith_device::thread::profiler_event::<8>();
/// ```
#[inline(always)]
pub fn profiler_event<const COUNTER: u32>() {
    const { assert!(COUNTER < 8, "the counters for applications are 0 to 7") };
    // SAFETY: `pmevent` raises a counter of the hardware, and changes no register or memory of the program.
    on_device! { unsafe { core::arch::asm!("pmevent {};", const COUNTER) } }
}

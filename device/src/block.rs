//! The block: its index in the grid, its size, and its barriers.
//!
//! # The rule of barriers
//!
//! A barrier is block-wide: every thread of the block that has not ended must reach it, the same one in the same order.
//! A barrier under a condition is right only when the condition is the same for all threads of the block. Neither the
//! compiler nor the hardware checks this (the hardware hangs or pairs the wrong barriers); the simulator does, and says
//! which threads arrived where.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::special_registers as register;

/// `%ctaid`: the block's position in the grid, as CUDA C++'s `blockIdx`. Any arch.
///
/// ```no_run
/// let (x, y, z) = warpsmith_device::block::idx();
/// # let _ = (x, y, z);
/// ```
#[inline(always)]
pub fn idx() -> (u32, u32, u32) {
    (
        register::block_idx_x(),
        register::block_idx_y(),
        register::block_idx_z(),
    )
}

/// `%ntid`: the block's extent in threads, as CUDA C++'s `blockDim`. Any arch.
///
/// ```no_run
/// let (x, y, z) = warpsmith_device::block::dim();
/// # let _ = (x, y, z);
/// ```
#[inline(always)]
pub fn dim() -> (u32, u32, u32) {
    (
        register::block_dim_x(),
        register::block_dim_y(),
        register::block_dim_z(),
    )
}

/// The number of threads in the block.
///
/// ```no_run
/// let threads: u32 = warpsmith_device::block::threads();
/// # let _ = threads;
/// ```
#[inline(always)]
pub fn threads() -> u32 {
    let (x, y, z) = dim();
    x * (y * z)
}

/// CUDA C++'s `__syncthreads()`: waits for all threads of the block; what each of them wrote before, to shared or
/// global memory, all of them see after.
///
/// Becomes `bar.sync 0;`. Any arch. Threads that have ended are not waited for.
///
/// ```no_run
/// warpsmith_device::block::sync();
/// ```
#[inline(always)]
pub fn sync() {
    // SAFETY: a barrier touches no memory; that all threads reach it is the rule at the head of this module.
    on_device! { unsafe { asm!("bar.sync 0;") } }
}

/// CUDA C++'s `__syncthreads_count()`: [`sync`], and in how many threads `predicate` holds, the same in each.
///
/// Becomes `bar.red.popc.u32`. Any arch. Threads that have ended are not counted.
///
/// ```no_run
/// let odd = warpsmith_device::block::sync_count(warpsmith_device::thread::index() % 2 == 1);
/// # let _ = odd;
/// ```
#[inline(always)]
pub fn sync_count(predicate: bool) -> u32 {
    on_device! {
        let count: u32;
        // SAFETY: the barrier reads a predicate and writes a register; that all threads reach it is the rule at the head of
        // this module.
        unsafe {
            asm!("{{ .reg .pred %p; setp.ne.u32 %p, {i}, 0; bar.red.popc.u32 {o}, 0, %p; }}",
                i = in(reg32) u32::from(predicate), o = lateout(reg32) count);
        }
        count
    }
}

/// CUDA C++'s `__syncthreads_and()`: [`sync`], and whether `predicate` holds in every thread.
///
/// Becomes `bar.red.and.pred`. Any arch. Threads that have ended do not count.
///
/// ```no_run
/// let all = warpsmith_device::block::sync_and(true);
/// # let _ = all;
/// ```
#[inline(always)]
pub fn sync_and(predicate: bool) -> bool {
    on_device! {
        let all: u32;
        // SAFETY: the barrier reads a predicate and writes a register; that all threads reach it is the rule at the head of
        // this module.
        unsafe {
            asm!("{{ .reg .pred %p; setp.ne.u32 %p, {i}, 0; bar.red.and.pred %p, 0, %p; selp.u32 {o}, 1, 0, %p; }}",
                i = in(reg32) u32::from(predicate), o = lateout(reg32) all);
        }
        all != 0
    }
}

/// CUDA C++'s `__syncthreads_or()`: [`sync`], and whether `predicate` holds in any thread.
///
/// Becomes `bar.red.or.pred`. Any arch. Threads that have ended do not count.
///
/// ```no_run
/// let any = warpsmith_device::block::sync_or(false);
/// # let _ = any;
/// ```
#[inline(always)]
pub fn sync_or(predicate: bool) -> bool {
    on_device! {
        let any: u32;
        // SAFETY: the barrier reads a predicate and writes a register; that all threads reach it is the rule at the head of
        // this module.
        unsafe {
            asm!("{{ .reg .pred %p; setp.ne.u32 %p, {i}, 0; bar.red.or.pred %p, 0, %p; selp.u32 {o}, 1, 0, %p; }}",
                i = in(reg32) u32::from(predicate), o = lateout(reg32) any);
        }
        any != 0
    }
}

/// [`sync`] for code in which the threads of a warp may be diverged when they arrive.
///
/// Becomes `barrier.sync 0;`. Any arch. Threads that have ended are not waited for.
///
/// ```no_run
/// warpsmith_device::block::sync_diverged();
/// ```
#[inline(always)]
pub fn sync_diverged() {
    // SAFETY: a barrier touches no memory; that all threads reach it is the rule at the head of this module.
    on_device! { unsafe { asm!("barrier.sync 0;") } }
}

/// One of the block's hardware barriers 1 to 15, for a group of its warps: producers and consumers, for example.
///
/// ```compile_fail,E0080
/// // There are sixteen.
/// warpsmith_device::block::NamedBarrier::<16>.sync(32);
/// ```
///
/// (Barrier 0 is [`sync`]'s.) A barrier is complete when `threads` threads have come to it, be it by [`sync`] or by
/// [`arrive`]; `threads` is a multiple of 32, the same for all that take part, and whole warps come. The rule of
/// barriers holds for the group.
///
/// ```no_run
/// use warpsmith_device::{block::NamedBarrier, thread, warp};
/// /// Warp 0 fills a buffer, warp 1 waits for it.
/// const FILLED: NamedBarrier<1> = NamedBarrier;
/// if warp::index() == 0 {
///     // ... fill ...
///     FILLED.arrive(64);
/// } else if warp::index() == 1 {
///     FILLED.sync(64);
///     // ... read ...
/// }
/// ```
///
/// [`sync`]: NamedBarrier::sync
/// [`arrive`]: NamedBarrier::arrive
#[derive(Clone, Copy, Debug, Default)]
pub struct NamedBarrier<const ID: u32>;

impl<const ID: u32> NamedBarrier<ID> {
    const CHECK: () = assert!(
        ID >= 1 && ID <= 15,
        "a named barrier is 1 to 15; 0 is `block::sync`"
    );

    /// Arrives, and waits for the others; what they wrote before they came, this thread sees after.
    ///
    /// Becomes `bar.sync ID, threads;`. Any arch.
    ///
    /// ```no_run
    /// warpsmith_device::block::NamedBarrier::<2>.sync(128);
    /// ```
    #[inline(always)]
    pub fn sync(self, threads: u32) {
        let () = Self::CHECK;
        debug_assert!(threads.is_multiple_of(32));
        // SAFETY: a barrier touches no memory; `CHECK` holds for its number, and that all participating warps reach it is the
        // rule at the head of this module.
        on_device! { unsafe { asm!("bar.sync {}, {};", const ID, in(reg32) threads) } }
    }

    /// Arrives without waiting: what this thread wrote before, those who `sync` see after.
    ///
    /// Becomes `bar.arrive ID, threads;`. Any arch.
    ///
    /// ```no_run
    /// warpsmith_device::block::NamedBarrier::<2>.arrive(128);
    /// ```
    #[inline(always)]
    pub fn arrive(self, threads: u32) {
        let () = Self::CHECK;
        debug_assert!(threads.is_multiple_of(32));
        // SAFETY: a barrier touches no memory; `CHECK` holds for its number, and that all participating warps reach it is the
        // rule at the head of this module.
        on_device! { unsafe { asm!("bar.arrive {}, {};", const ID, in(reg32) threads) } }
    }
}

//! The warp: 32 threads that the hardware runs together, and what they exchange without memory.
//!
//! # The rule of masks
//!
//! Every operation with a `mask` names the lanes that take part: bit `n` is lane `n`. The calling lane's own bit is set,
//! and every lane that is named and has not ended executes the same operation with the same mask, else the result is
//! undefined (on the hardware; the simulator reports it). Lanes that have ended are skipped. [`FULL`] names all 32, and
//! is right wherever the whole warp arrives; in a block whose size is no multiple of 32 the missing lanes of the last
//! warp count as ended.
//!
//! Only [`sync`] orders memory. The other operations exchange values and order nothing.

mod collective;
mod matching;
mod shuffle;
mod vote;

pub use collective::{
    Reducible, exclusive_scan, inclusive_scan, reduce, reduce_add, reduce_and, reduce_max,
    reduce_min, reduce_or, reduce_xor,
};
pub use matching::{match_all, match_any};
pub use shuffle::{
    shuffle, shuffle_down, shuffle_down_in, shuffle_in, shuffle_up, shuffle_up_in, shuffle_xor,
    shuffle_xor_in, try_shuffle_down, try_shuffle_up,
};
pub use vote::{active_mask, all, any, ballot, elect, uniform};

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::thread;

/// The number of lanes in a warp.
pub const SIZE: u32 = 32;

/// The mask of all lanes.
pub const FULL: u32 = u32::MAX;

/// `%laneid`: the thread's index in its warp, 0 to 31. Any arch.
///
/// ```no_run
/// let lane: u32 = warpsmith_device::warp::lane();
/// # let _ = lane;
/// ```
#[inline(always)]
pub fn lane() -> u32 {
    on_device! {
        unsafe extern "C" {
            #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
            fn laneid() -> u32;
        }
        // SAFETY: reading a special register has no conditions.
        unsafe { laneid() }
    }
}

/// [`lane`] under `cuda_std`'s name.
///
/// ```no_run
/// let lane: u32 = warpsmith_device::warp::lane_id();
/// # let _ = lane;
/// ```
#[inline(always)]
pub fn lane_id() -> u32 {
    lane()
}

/// The number of the thread's warp in its block, from its position in the block (and so constant, which the
/// hardware's `%warpid` is not).
///
/// ```no_run
/// let warp: u32 = warpsmith_device::warp::index();
/// # let _ = warp;
/// ```
#[inline(always)]
pub fn index() -> u32 {
    thread::linear_in_block() / SIZE
}

macro_rules! lane_masks {
    ($($(#[$documentation:meta])* $name:ident = $register:literal;)*) => {$(
        $(#[$documentation])*
        ///
        #[doc = concat!("Becomes a read of `", $register, "`. Any arch.")]
        ///
        /// ```no_run
        #[doc = concat!("let mask: u32 = warpsmith_device::warp::", stringify!($name), "();")]
        /// # let _ = mask;
        /// ```
        #[inline(always)]
        pub fn $name() -> u32 {
            on_device! {
                let mask: u32;
                // SAFETY: reading a special register has no conditions.
                unsafe {
                    asm!(concat!("mov.u32 {}, ", $register, ";"), out(reg32) mask, options(pure, nomem, nostack));
                }
                mask
            }
        }
    )*};
}

lane_masks! {
    /// The mask of this lane alone.
    lanemask_eq = "%lanemask_eq";
    /// The mask of the lanes below this one.
    lanemask_lt = "%lanemask_lt";
    /// The mask of this lane and those below it.
    lanemask_le = "%lanemask_le";
    /// The mask of the lanes above this one.
    lanemask_gt = "%lanemask_gt";
    /// The mask of this lane and those above it.
    lanemask_ge = "%lanemask_ge";
}

/// CUDA C++'s `__syncwarp()`: waits for the lanes in `mask`; what each of them wrote before, all of them see after.
///
/// Becomes `bar.warp.sync`. Any arch. The lanes need not be converged, and may arrive from different points of the
/// program. Lanes outside the mask are not affected.
///
/// ```no_run
/// use warpsmith_device::warp;
/// warp::sync(warp::FULL);
/// ```
#[inline(always)]
pub fn sync(mask: u32) {
    // SAFETY: a barrier touches no memory; the mask follows the rule at the head of this module.
    on_device! { unsafe { asm!("bar.warp.sync {};", in(reg32) mask) } }
}

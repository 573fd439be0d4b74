//! Votes: what holds in some lanes, all lanes, and which.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

macro_rules! predicate_votes {
    ($($(#[$documentation:meta])* $name:ident = $mode:literal;)*) => {$(
        $(#[$documentation])*
        ///
        #[doc = concat!("Becomes `vote.sync.", $mode, ".pred`. Any arch. Lanes that have ended or are not in `mask` do not count.")]
        ///
        /// ```no_run
        /// use warpsmith_device::warp;
        #[doc = concat!("let result: bool = warp::", stringify!($name), "(warp::FULL, warp::lane() > 3);")]
        /// # let _ = result;
        /// ```
        #[inline(always)]
        pub fn $name(mask: u32, predicate: bool) -> bool {
            on_device! {
                let result: u32;
                // SAFETY: exchanges registers only; the mask follows the rule of masks.
                unsafe {
                    asm!(
                        "{{ .reg .pred %p; setp.ne.u32 %p, {i}, 0;",
                        concat!("vote.sync.", $mode, ".pred %p, %p, {m};"),
                        "selp.u32 {o}, 1, 0, %p; }}",
                        i = in(reg32) u32::from(predicate), o = lateout(reg32) result, m = in(reg32) mask,
                    );
                }
                result != 0
            }
        }
    )*};
}

predicate_votes! {
    /// CUDA C++'s `__all_sync()`: whether `predicate` holds in every lane of `mask`.
    all = "all";
    /// CUDA C++'s `__any_sync()`: whether `predicate` holds in any lane of `mask`.
    any = "any";
    /// Whether `predicate` is the same in every lane of `mask`.
    uniform = "uni";
}

/// CUDA C++'s `__ballot_sync()`: the mask of the lanes where `predicate` holds.
///
/// Becomes `vote.sync.ballot.b32`. Any arch. Lanes that have ended or are not in `mask` give 0.
///
/// ```no_run
/// use warpsmith_device::warp;
/// let even: u32 = warp::ballot(warp::FULL, warp::lane() % 2 == 0);
/// # let _ = even;
/// ```
#[inline(always)]
pub fn ballot(mask: u32, predicate: bool) -> u32 {
    on_device! {
        let result: u32;
        // SAFETY: exchanges registers only; the mask follows the rule of masks.
        unsafe {
            asm!(
                "{{ .reg .pred %p; setp.ne.u32 %p, {i}, 0; vote.sync.ballot.b32 {o}, %p, {m}; }}",
                i = in(reg32) u32::from(predicate), o = lateout(reg32) result, m = in(reg32) mask,
            );
        }
        result
    }
}

/// CUDA C++'s `__activemask()`: the lanes that happen to execute this instruction together.
///
/// Becomes `activemask.b32`. Any arch. It says nothing about the next instruction: the scheduler may split the warp
/// right after, and may have split it before. To find the lanes of a branch use [`ballot`] before the branch.
///
/// ```no_run
/// let lanes: u32 = warpsmith_device::warp::active_mask();
/// # let _ = lanes;
/// ```
#[inline(always)]
pub fn active_mask() -> u32 {
    on_device! {
        let mask: u32;
        // SAFETY: reads scheduler state only.
        unsafe { asm!("activemask.b32 {};", out(reg32) mask) };
        mask
    }
}

/// Chooses one lane of `mask`: true in that lane, false in the others.
///
/// Becomes `elect.sync` on `sm_90`; below, a ballot whose lowest lane is chosen. Which lane `elect.sync` chooses is up
/// to the hardware, but it is the same for the same mask.
///
/// ```no_run
/// use warpsmith_device::warp;
/// if warp::elect(warp::FULL) { /* once per warp */ }
/// ```
#[inline(always)]
pub fn elect(mask: u32) -> bool {
    #[cfg(warpsmith_arch_at_least = "90")]
    {
        on_device! {
            let elected: u32;
            // SAFETY: exchanges registers only; the mask follows the rule of masks.
            unsafe {
                asm!(
                    "{{ .reg .pred %p; elect.sync _|%p, {m}; selp.u32 {o}, 1, 0, %p; }}",
                    o = lateout(reg32) elected, m = in(reg32) mask,
                );
            }
            elected != 0
        }
    }
    #[cfg(not(warpsmith_arch_at_least = "90"))]
    {
        crate::warp::lane() == ballot(mask, true).trailing_zeros()
    }
}

//! Matches: which lanes hold the same value.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use bytemuck::Pod;

/// Refuses sizes that the instruction does not have.
///
/// ```compile_fail,E0080
/// use warpsmith_device::warp;
/// warp::match_any(warp::FULL, 1u16);
/// ```
const fn check_size(size: usize) {
    assert!(size == 4 || size == 8, "a matched value has 32 or 64 bits");
}

/// CUDA C++'s `__match_any_sync()`: the lanes of `mask` whose value has the same bits as this lane's, itself included.
///
/// Becomes `match.any.sync.b32` or `.b64`. Any arch. Bits are compared: `0.0` and `-0.0` differ, equal NaNs match.
///
/// ```no_run
/// use warpsmith_device::warp;
/// let same: u32 = warp::match_any(warp::FULL, warp::lane() % 3);
/// # let _ = same;
/// ```
#[inline(always)]
pub fn match_any<T: Pod>(mask: u32, value: T) -> u32 {
    const { check_size(size_of::<T>()) };
    on_device! {
        let same: u32;
        // SAFETY: exchanges registers only; the mask follows the rule of masks. The casts are between plain types of
        // one size.
        unsafe {
            if const { size_of::<T>() == 4 } {
                let word: u32 = core::mem::transmute_copy(&value);
                asm!("match.any.sync.b32 {}, {}, {};", lateout(reg32) same, in(reg32) word, in(reg32) mask);
            } else {
                let word: u64 = core::mem::transmute_copy(&value);
                asm!("match.any.sync.b64 {}, {}, {};", lateout(reg32) same, in(reg64) word, in(reg32) mask);
            }
        }
        same
    }
}

/// CUDA C++'s `__match_all_sync()`: if all lanes of `mask` hold the same bits, the mask of them, else `None`.
///
/// Becomes `match.all.sync.b32` or `.b64`. Any arch. Bits are compared: `0.0` and `-0.0` differ, equal NaNs match.
///
/// ```no_run
/// use warpsmith_device::warp;
/// let all_same: bool = warp::match_all(warp::FULL, 7u64).is_some();
/// # let _ = all_same;
/// ```
#[inline(always)]
pub fn match_all<T: Pod>(mask: u32, value: T) -> Option<u32> {
    const { check_size(size_of::<T>()) };
    on_device! {
        let same: u32;
        let matched: u32;
        // SAFETY: exchanges registers only; the mask follows the rule of masks. The casts are between plain types of one size,
        // which `check_size` holds.
        unsafe {
            if const { size_of::<T>() == 4 } {
                let word: u32 = core::mem::transmute_copy(&value);
                asm!(
                    "{{ .reg .pred %p; match.all.sync.b32 {s}|%p, {v}, {m}; selp.u32 {o}, 1, 0, %p; }}",
                    s = out(reg32) same, o = out(reg32) matched, v = in(reg32) word, m = in(reg32) mask,
                );
            } else {
                let word: u64 = core::mem::transmute_copy(&value);
                asm!(
                    "{{ .reg .pred %p; match.all.sync.b64 {s}|%p, {v}, {m}; selp.u32 {o}, 1, 0, %p; }}",
                    s = out(reg32) same, o = out(reg32) matched, v = in(reg64) word, m = in(reg32) mask,
                );
            }
        }
        (matched != 0).then_some(same)
    }
}

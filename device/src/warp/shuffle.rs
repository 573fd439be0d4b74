//! Shuffles: each lane reads a value that another lane holds.
//!
//! A value of any plain type moves, 32 bits at a time: an `f64` or `u64` takes two shuffles, a `u8` one. What a lane
//! reads from a lane that does not take part is undefined (some bits, which for plain data is a value that no code should
//! use).

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use bytemuck::Pod;

/// Applies a 32-bit exchange to every word of a value.
#[inline(always)]
fn by_words<T: Pod>(value: T, exchange: impl Fn(u32) -> u32) -> T {
    let mut out = value;
    let size = const { size_of::<T>() };
    let bytes: *mut u8 = (&raw mut out).cast();
    let mut at = 0;
    // SAFETY: all accesses are inside `out`, whose type has no invalid bytes.
    unsafe {
        while at + 4 <= size {
            let word = bytes.add(at).cast::<u32>();
            word.write_unaligned(exchange(word.read_unaligned()));
            at += 4;
        }
        if size % 4 >= 2 {
            let half = bytes.add(at).cast::<u16>();
            half.write_unaligned(exchange(u32::from(half.read_unaligned())) as u16);
            at += 2;
        }
        if size % 2 == 1 {
            let byte = bytes.add(at);
            byte.write(exchange(u32::from(byte.read())) as u8);
        }
    }
    out
}

/// The segment and clamp operand of `shfl`.
#[cfg(target_arch = "nvptx64")]
const fn control(width: u32, clamp: u32) -> u32 {
    ((32 - width) << 8) | clamp
}

/// Refuses widths that the instruction does not have.
///
/// ```compile_fail,E0080
/// use warpsmith_device::warp;
/// warp::shuffle_in::<3, u32>(warp::FULL, 1, 0);
/// ```
const fn check_width(width: u32) {
    assert!(
        width.is_power_of_two() && width <= 32,
        "a shuffle's width is 1, 2, 4, 8, 16 or 32"
    );
}

macro_rules! shuffles {
    ($($(#[$documentation:meta])* $name:ident, $in_segment:ident, $mode:literal, $clamp:literal, $operand:ident;)*) => {$(
        $(#[$documentation])*
        ///
        #[doc = concat!("Becomes `shfl.sync.", $mode, ".b32`, once for every 32 bits of `T`. Any arch.")]
        ///
        /// ```no_run
        /// use warpsmith_device::warp;
        #[doc = concat!("let value: f32 = warp::", stringify!($name), "(warp::FULL, 1.0f32, 1);")]
        /// # let _ = value;
        /// ```
        #[inline(always)]
        pub fn $name<T: Pod>(mask: u32, value: T, $operand: u32) -> T {
            $in_segment::<32, T>(mask, value, $operand)
        }

        #[doc = concat!("[`", stringify!($name), "`] within segments of `WIDTH` lanes (a power of two): each is a warp of its own.")]
        ///
        /// `mask` still names lanes of the whole warp.
        ///
        #[doc = concat!("Becomes `shfl.sync.", $mode, ".b32`. Any arch.")]
        ///
        /// ```no_run
        /// use warpsmith_device::warp;
        #[doc = concat!("let value = warp::", stringify!($in_segment), "::<8, u32>(warp::FULL, 7, 1);")]
        /// # let _ = value;
        /// ```
        #[inline(always)]
        pub fn $in_segment<const WIDTH: u32, T: Pod>(mask: u32, value: T, $operand: u32) -> T {
            const { check_width(WIDTH) };
            by_words(value, |word| on_device! {
                let out: u32;
                // SAFETY: exchanges registers only; the mask follows the rule of masks.
                unsafe {
                    asm!(
                        concat!("shfl.sync.", $mode, ".b32 {o}, {v}, {l}, {c}, {m};"),
                        o = lateout(reg32) out, v = in(reg32) word, l = in(reg32) $operand,
                        c = const control(WIDTH, $clamp), m = in(reg32) mask,
                    );
                }
                out
            })
        }
    )*};
}

shuffles! {
    /// CUDA C++'s `__shfl_sync()`: the value that lane `source` holds; `source` is taken modulo the width.
    shuffle, shuffle_in, "idx", 0x1f, source;
    /// CUDA C++'s `__shfl_up_sync()`: the value of the lane `delta` below; the lowest `delta` lanes keep their own.
    ///
    /// Only the low five bits of `delta` count.
    shuffle_up, shuffle_up_in, "up", 0, delta;
    /// CUDA C++'s `__shfl_down_sync()`: the value of the lane `delta` above; the highest `delta` lanes keep their own.
    ///
    /// Only the low five bits of `delta` count.
    shuffle_down, shuffle_down_in, "down", 0x1f, delta;
    /// CUDA C++'s `__shfl_xor_sync()`: the value of the lane whose number differs in the bits of `bits`.
    ///
    /// Within segments, a lane may read from an earlier segment; where the partner is in a later one, it keeps its own.
    shuffle_xor, shuffle_xor_in, "bfly", 0x1f, bits;
}

/// [`shuffle_up`], with `None` in the lowest `delta` lanes.
///
/// Becomes `shfl.sync.up.b32` and a comparison of the lane number. Any arch.
///
/// ```no_run
/// use warpsmith_device::warp;
/// let left: Option<u32> = warp::try_shuffle_up(warp::FULL, 7u32, 1);
/// # let _ = left;
/// ```
#[inline(always)]
pub fn try_shuffle_up<T: Pod>(mask: u32, value: T, delta: u32) -> Option<T> {
    let value = shuffle_up(mask, value, delta);
    (crate::warp::lane() >= delta).then_some(value)
}

/// [`shuffle_down`], with `None` in the highest `delta` lanes.
///
/// Becomes `shfl.sync.down.b32` and a comparison of the lane number. Any arch.
///
/// ```no_run
/// use warpsmith_device::warp;
/// let right: Option<u32> = warp::try_shuffle_down(warp::FULL, 7u32, 1);
/// # let _ = right;
/// ```
#[inline(always)]
pub fn try_shuffle_down<T: Pod>(mask: u32, value: T, delta: u32) -> Option<T> {
    let value = shuffle_down(mask, value, delta);
    (delta < crate::warp::SIZE - crate::warp::lane()).then_some(value)
}

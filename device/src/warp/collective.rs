//! Reductions and scans over a warp: the hardware's for 32-bit integers, shuffles for everything else.

#[cfg(warpsmith_arch_at_least = "80")]
use core::arch::asm;

use bytemuck::Pod;

use super::{FULL, lane, shuffle_xor, try_shuffle_up};

/// What the reductions become below `sm_80`: every lane folds the values of all lanes that take part.
#[cfg(not(warpsmith_arch_at_least = "80"))]
#[inline(always)]
fn fold(mask: u32, value: u32, operation: impl Fn(u32, u32) -> u32) -> u32 {
    let present = super::ballot(mask, true);
    if present == FULL {
        return reduce(value, operation);
    }
    let mut rest = present & (present - 1);
    let mut total = super::shuffle(mask, value, present.trailing_zeros());
    while rest != 0 {
        total = operation(total, super::shuffle(mask, value, rest.trailing_zeros()));
        rest &= rest - 1;
    }
    total
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for i32 {}
}

macro_rules! reductions {
    ($($(#[$documentation:meta])* $name:ident, $unsigned:literal, $signed:literal, $operation:expr;)*) => {
        /// What the hardware reduces over a warp: `u32` and `i32`.
        #[diagnostic::on_unimplemented(
            message = "the hardware does not reduce `{Self}` over a warp",
            note = "it does `u32` and `i32`; `warp::reduce(value, |a, b| ..)` takes any plain type"
        )]
        pub trait Reducible: sealed::Sealed + Copy {
            $(#[doc(hidden)] fn $name(self, mask: u32) -> Self;)*
        }

        reductions! { @ u32: $($name, $unsigned, $operation;)* }
        reductions! { @ i32: $($name, $signed, $operation;)* }

        $(
            $(#[$documentation])*
            ///
            #[doc = concat!("Becomes `redux.sync.", $unsigned, "` or `.", $signed, "` on `sm_80`; below, shuffles.")]
            /// Lanes that have ended or are not in `mask` do not count; every lane in it gets the result.
            ///
            /// ```no_run
            /// use warpsmith_device::warp;
            #[doc = concat!("let total = warp::", stringify!($name), "(warp::FULL, 1u32);")]
            /// # let _ = total;
            /// ```
            #[inline(always)]
            pub fn $name<T: Reducible>(mask: u32, value: T) -> T {
                value.$name(mask)
            }
        )*
    };
    (@ $ty:ty: $($name:ident, $ptx:literal, $operation:expr;)*) => {
        impl Reducible for $ty {$(
            #[inline(always)]
            fn $name(self, mask: u32) -> $ty {
                #[cfg(warpsmith_arch_at_least = "80")]
                {
                    on_device! {
                        let total: $ty;
                        // SAFETY: exchanges registers only; the mask follows the rule of masks.
                        unsafe {
                            asm!(concat!("redux.sync.", $ptx, " {}, {}, {};"),
                                lateout(reg32) total, in(reg32) self, in(reg32) mask);
                        }
                        total
                    }
                }
                #[cfg(not(warpsmith_arch_at_least = "80"))]
                {
                    let operation: fn($ty, $ty) -> $ty = $operation;
                    fold(mask, self as u32, |a, b| operation(a as $ty, b as $ty) as u32) as $ty
                }
            }
        )*}
    };
}

reductions! {
    /// CUDA C++'s `__reduce_add_sync()`: the sum, modulo 2^32.
    reduce_add, "add.u32", "add.s32", |a, b| a.wrapping_add(b);
    /// CUDA C++'s `__reduce_min_sync()`: the least.
    reduce_min, "min.u32", "min.s32", Ord::min;
    /// CUDA C++'s `__reduce_max_sync()`: the greatest.
    reduce_max, "max.u32", "max.s32", Ord::max;
    /// CUDA C++'s `__reduce_and_sync()`: bits that are set in all.
    reduce_and, "and.b32", "and.b32", |a, b| a & b;
    /// CUDA C++'s `__reduce_or_sync()`: bits that are set in any.
    reduce_or, "or.b32", "or.b32", |a, b| a | b;
    /// CUDA C++'s `__reduce_xor_sync()`: bits that are set in an odd number.
    reduce_xor, "xor.b32", "xor.b32", |a, b| a ^ b;
}

/// Reduces any plain type over the whole warp with an operation that is associative and commutative; every lane gets
/// the result. All 32 lanes take part.
///
/// Becomes five `shfl.sync.bfly.b32` for every 32 bits of `T`. Any arch. For floating-point sums all lanes get the
/// same bits: the tree is the same for each.
///
/// ```no_run
/// use warpsmith_device::warp;
/// let sum: f32 = warp::reduce(1.5f32, |a, b| a + b);
/// # let _ = sum;
/// ```
#[inline(always)]
pub fn reduce<T: Pod>(value: T, operation: impl Fn(T, T) -> T) -> T {
    let mut total = value;
    let mut distance = 16;
    while distance > 0 {
        total = operation(total, shuffle_xor(FULL, total, distance));
        distance /= 2;
    }
    total
}

/// The inclusive scan of any plain type over the whole warp with an associative operation: lane `n` gets the values of
/// lanes 0 to `n` combined in order. All 32 lanes take part.
///
/// Becomes five `shfl.sync.up.b32` for every 32 bits of `T`. Any arch.
///
/// ```no_run
/// use warpsmith_device::warp;
/// let running: u32 = warp::inclusive_scan(1u32, |a, b| a + b);
/// # let _ = running;
/// ```
#[inline(always)]
pub fn inclusive_scan<T: Pod>(value: T, operation: impl Fn(T, T) -> T) -> T {
    let mut total = value;
    let mut distance = 1;
    while distance < 32 {
        if let Some(before) = try_shuffle_up(FULL, total, distance) {
            total = operation(before, total);
        }
        distance *= 2;
    }
    total
}

/// The exclusive scan of any plain type over the whole warp: lane `n` gets the values of lanes 0 to `n - 1` combined in
/// order, lane 0 gets `first`. All 32 lanes take part.
///
/// Becomes six `shfl.sync.up.b32` for every 32 bits of `T`. Any arch.
///
/// ```no_run
/// use warpsmith_device::warp;
/// let before: u32 = warp::exclusive_scan(1u32, 0, |a, b| a + b);
/// # let _ = before;
/// ```
#[inline(always)]
pub fn exclusive_scan<T: Pod>(value: T, first: T, operation: impl Fn(T, T) -> T) -> T {
    let total = super::shuffle_up(FULL, inclusive_scan(value, operation), 1);
    if lane() == 0 { first } else { total }
}

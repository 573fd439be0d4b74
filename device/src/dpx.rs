//! DPX: maxima and minima of three numbers, of sums, and with the choice that was made: the inner loops of dynamic programming, such as
//! Smith-Waterman, Needleman-Wunsch and Floyd-Warshall. Guide §7.25.
//!
//! Each function takes `i32`, `u32`, [`I16x2`] or [`U16x2`]; those with ReLU, which takes a maximum with zero last, the signed ones. They
//! stand for the 36 functions of CUDA C++: `viaddmax` for `__viaddmax_s32`, `__viaddmax_u32`, `__viaddmax_s16x2` and
//! `__viaddmax_u16x2`. Sums wrap around; halves of a pair know nothing of each other.
//!
//! From sm_90 on each is one or two instructions of the hardware (`VIADDMNMX`, `VIMNMX`, `VIMNMX3`), which ptxas makes of the PTX that
//! stands with the function. Before, and on the host, the same results are computed in software. Any arch.

mod sealed {
    pub trait Sealed {}
}

macro_rules! pairs {
    ($($(#[$doc:meta])* $pair:ident of $half:ident: $ty:literal;)*) => {$(
        pair! {
            $(#[$doc])*
            ///
            /// Aligned to 4 bytes; the low half comes first in memory.
            ///
            /// ```
            #[doc = concat!("use warpsmith_device::dpx::", stringify!($pair), ";")]
            #[doc = concat!("let pair = ", stringify!($pair), "::new(6, 7);")]
            /// assert_eq!((pair.low(), pair.high(), pair.to_bits()), (6, 7, 0x0007_0006));
            #[doc = concat!("assert_eq!(", stringify!($pair), "::from_bits(0x0007_0006), pair);")]
            #[doc = concat!("assert_eq!(", stringify!($pair), "::splat(1).to_bits(), 0x0001_0001);")]
            /// ```
            $pair of $half, "A pair of its halves.", |value| value as u16, |bits| bits as $half
        }

        impl sealed::Sealed for $pair {}

        impl Dpx for $pair {
            type Chosen = (bool, bool);
            const ZERO: Self = Self(0);

            #[inline(always)]
            fn sum(self, other: Self) -> Self {
                by_halves!($pair, $half::wrapping_add, concat!("add.", $ty), self, other)
            }

            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                by_halves!($pair, Ord::max, concat!("max.", $ty), self, other)
            }

            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                by_halves!($pair, Ord::min, concat!("min.", $ty), self, other)
            }

            #[inline(always)]
            fn is(self, other: Self) -> (bool, bool) {
                (self.high() == other.high(), self.low() == other.low())
            }
        }
    )*};
}

/// An instruction on both halves where the architecture has it, and else an operation on each.
macro_rules! by_halves {
    ($pair:ident, $operation:path, $ptx:expr, $a:expr, $b:expr) => {{
        #[cfg(all(target_arch = "nvptx64", warpsmith_arch_at_least = "90"))]
        {
            let result: u32;
            // SAFETY: arithmetic on registers.
            unsafe {
                core::arch::asm!(concat!($ptx, " {result}, {a}, {b};"), result = out(reg32) result, a = in(reg32) $a.0,
                    b = in(reg32) $b.0, options(pure, nomem, nostack));
            }
            $pair(result)
        }
        #[cfg(not(all(target_arch = "nvptx64", warpsmith_arch_at_least = "90")))]
        {
            $pair::new(
                $operation($a.low(), $b.low()),
                $operation($a.high(), $b.high()),
            )
        }
    }};
}

pairs! {
    /// Two `i16` in one register: CUDA C++'s `s16x2`.
    I16x2 of i16: "s16x2";
    /// Two `u16` in one register: CUDA C++'s `u16x2`.
    U16x2 of u16: "u16x2";
}

/// A type that the functions here take: `i32`, `u32`, [`I16x2`] and [`U16x2`].
pub trait Dpx: sealed::Sealed + Copy {
    /// Whether the first operand was chosen: a `bool`, or of a pair one for each half, the high one first.
    type Chosen;
    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    fn sum(self, other: Self) -> Self;
    #[doc(hidden)]
    fn maximum(self, other: Self) -> Self;
    #[doc(hidden)]
    fn minimum(self, other: Self) -> Self;
    #[doc(hidden)]
    fn is(self, other: Self) -> Self::Chosen;
}

/// A signed one: `i32` and [`I16x2`].
#[diagnostic::on_unimplemented(
    message = "there is no ReLU of `{Self}`",
    label = "a maximum with zero changes nothing of what has no sign",
    note = "`i32` and `I16x2` have it"
)]
pub trait SignedDpx: Dpx {}
impl SignedDpx for i32 {}
impl SignedDpx for I16x2 {}

macro_rules! words {
    ($($ty:ident)*) => {$(
        impl sealed::Sealed for $ty {}

        impl Dpx for $ty {
            type Chosen = bool;
            const ZERO: $ty = 0;

            #[inline(always)]
            fn sum(self, other: $ty) -> $ty {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn maximum(self, other: $ty) -> $ty {
                self.max(other)
            }

            #[inline(always)]
            fn minimum(self, other: $ty) -> $ty {
                self.min(other)
            }

            #[inline(always)]
            fn is(self, other: $ty) -> bool {
                self == other
            }
        }
    )*};
}
words! { i32 u32 }

/// The maximum with zero.
#[inline(always)]
fn relu<T: SignedDpx>(value: T) -> T {
    value.maximum(T::ZERO)
}

/// The largest of three. PTX: `max`, `max`. CUDA C++: `__vimax3_s32` and its like.
///
/// ```
/// use warpsmith_device::dpx::{U16x2, vimax3};
/// assert_eq!(vimax3(-15, 8, 5), 8);
/// let [a, b, c] = [0x0005_0002, 0x0007_0004, 0x0002_0006].map(U16x2::from_bits);
/// assert_eq!(vimax3(a, b, c).to_bits(), 0x0007_0006);
/// ```
#[inline(always)]
pub fn vimax3<T: Dpx>(a: T, b: T, c: T) -> T {
    a.maximum(b).maximum(c)
}

/// The smallest of three. PTX: `min`, `min`. CUDA C++: `__vimin3_s32` and its like.
///
/// ```
/// assert_eq!(warpsmith_device::dpx::vimin3(7u32, 3, 5), 3);
/// ```
#[inline(always)]
pub fn vimin3<T: Dpx>(a: T, b: T, c: T) -> T {
    a.minimum(b).minimum(c)
}

/// The largest of two and zero. PTX: `max`, `max` with 0. CUDA C++: `__vimax_s32_relu`, `__vimax_s16x2_relu`.
///
/// ```
/// assert_eq!(warpsmith_device::dpx::vimax_relu(-3, -2), 0);
/// ```
#[inline(always)]
pub fn vimax_relu<T: SignedDpx>(a: T, b: T) -> T {
    relu(a.maximum(b))
}

/// The smaller of two, and zero where it is negative. PTX: `min`, `max` with 0. CUDA C++: `__vimin_s32_relu`, `__vimin_s16x2_relu`.
///
/// ```
/// use warpsmith_device::dpx::vimin_relu;
/// assert_eq!((vimin_relu(-3, 2), vimin_relu(3, 2)), (0, 2));
/// ```
#[inline(always)]
pub fn vimin_relu<T: SignedDpx>(a: T, b: T) -> T {
    relu(a.minimum(b))
}

/// The largest of three and zero. PTX: `max`, `max`, `max` with 0. CUDA C++: `__vimax3_s32_relu`, `__vimax3_s16x2_relu`.
///
/// ```
/// use warpsmith_device::dpx::vimax3_relu;
/// assert_eq!((vimax3_relu(-15, 8, 5), vimax3_relu(-15, -2, -4)), (8, 0));
/// ```
#[inline(always)]
pub fn vimax3_relu<T: SignedDpx>(a: T, b: T, c: T) -> T {
    relu(vimax3(a, b, c))
}

/// The smallest of three, and zero where it is negative. PTX: `min`, `min`, `max` with 0. CUDA C++: `__vimin3_s32_relu`,
/// `__vimin3_s16x2_relu`.
///
/// ```
/// use warpsmith_device::dpx::vimin3_relu;
/// assert_eq!((vimin3_relu(15, 8, 5), vimin3_relu(-15, 8, 5)), (5, 0));
/// ```
#[inline(always)]
pub fn vimin3_relu<T: SignedDpx>(a: T, b: T, c: T) -> T {
    relu(vimin3(a, b, c))
}

/// The larger of two, and whether it is the first: also where both are equal. PTX: `max`, `setp.eq`. CUDA C++: `__vibmax_s32` and its
/// like.
///
/// ```
/// use warpsmith_device::dpx::{I16x2, vibmax};
/// assert_eq!((vibmax(9, 6), vibmax(6, 9), vibmax(6, 6)), ((9, true), (9, false), (6, true)));
/// // High half, low half.
/// assert_eq!(vibmax(I16x2::new(-1, 2), I16x2::new(1, 2)), (I16x2::new(1, 2), (true, false)));
/// ```
#[inline(always)]
pub fn vibmax<T: Dpx>(a: T, b: T) -> (T, T::Chosen) {
    let value = a.maximum(b);
    (value, value.is(a))
}

/// The smaller of two, and whether it is the first: also where both are equal. PTX: `min`, `setp.eq`. CUDA C++: `__vibmin_s32` and its
/// like.
///
/// ```
/// use warpsmith_device::dpx::vibmin;
/// // The guide's comment says `true` here, CUDA's own header computes `9 <= 6`.
/// assert_eq!((vibmin(9u32, 6), vibmin(6u32, 6)), ((6, false), (6, true)));
/// ```
#[inline(always)]
pub fn vibmin<T: Dpx>(a: T, b: T) -> (T, T::Chosen) {
    let value = a.minimum(b);
    (value, value.is(a))
}

/// The larger of `a + b` and `c`. PTX: `add`, `max`. CUDA C++: `__viaddmax_s32` and its like.
///
/// ```
/// use warpsmith_device::dpx::viaddmax;
/// assert_eq!((viaddmax(3, 4, 5), viaddmax(i32::MAX, 1, 5)), (7, 5));
/// ```
#[inline(always)]
pub fn viaddmax<T: Dpx>(a: T, b: T, c: T) -> T {
    a.sum(b).maximum(c)
}

/// The smaller of `a + b` and `c`. PTX: `add`, `min`. CUDA C++: `__viaddmin_s32` and its like.
///
/// ```
/// use warpsmith_device::dpx::viaddmin;
/// assert_eq!((viaddmin(3, 4, 5), viaddmin(u32::MAX, 2, 5)), (5, 1));
/// ```
#[inline(always)]
pub fn viaddmin<T: Dpx>(a: T, b: T, c: T) -> T {
    a.sum(b).minimum(c)
}

/// The largest of `a + b`, `c` and zero. PTX: `add`, `max`, `max` with 0. CUDA C++: `__viaddmax_s32_relu`, `__viaddmax_s16x2_relu`.
///
/// ```
/// use warpsmith_device::dpx::viaddmax_relu;
/// assert_eq!((viaddmax_relu(-5, 6, -2), viaddmax_relu(-5, 4, -2)), (1, 0));
/// ```
#[inline(always)]
pub fn viaddmax_relu<T: SignedDpx>(a: T, b: T, c: T) -> T {
    relu(viaddmax(a, b, c))
}

/// The smaller of `a + b` and `c`, and zero where it is negative. PTX: `add`, `min`, `max` with 0. CUDA C++: `__viaddmin_s32_relu`,
/// `__viaddmin_s16x2_relu`.
///
/// ```
/// use warpsmith_device::dpx::viaddmin_relu;
/// assert_eq!((viaddmin_relu(3, 4, 9), viaddmin_relu(-5, 4, 2)), (7, 0));
/// ```
#[inline(always)]
pub fn viaddmin_relu<T: SignedDpx>(a: T, b: T, c: T) -> T {
    relu(viaddmin(a, b, c))
}

//! Hardware arithmetic for the 16-bit floats of the crate `half`, and packed pairs of them.
//!
//! The operators of `half::f16` and `half::bf16` (`a + b`) are right in a kernel, but computed in software, in tens of
//! instructions. Here are the hardware's: the methods of [`HalfArithmetic`], named as in CUDA C++ (`a.hadd(b)`, `a.hfma(b, c)`), the
//! conversions of [`RoundFrom`] and [`RoundTo`], and the pairs [`F16x2`] and [`Bf16x2`], whose operators are the hardware's.
//!
//! ```no_run
//! use warpsmith_device::half::{HalfArithmetic, Nearest, RoundFrom, f16};
//! fn axpy(a: f32, x: f16, y: f16) -> f16 {
//!     f16::round_from(a, Nearest).hfma(x, y) // cvt.rn.f16.f32, fma.rn.f16
//! }
//! ```
//!
//! Each operation rounds once, to nearest even, and keeps subnormals. None is collective: inactive lanes take no part.
//! Arch: `f16` sm_70, `bf16` sm_80, unless a method says otherwise. Guide §16.2 and the tables of the half-precision math API.

mod convert;
mod packed;
mod scalar;

pub use ::half::{bf16, f16};
pub use convert::to_tf32;
pub use convert::{Down, Nearest, RoundFrom, RoundTo, Rounding, Up, Zero};
pub use packed::{Bf16x2, F16x2};
pub use scalar::HalfArithmetic;

/// A pure instruction of two or three operands on registers of one class.
macro_rules! arithmetic {
    ($class:ident, $text:literal, $a:expr, $b:expr) => {{
        let result;
        // SAFETY: arithmetic on registers.
        unsafe {
            instruction!(concat!($text, " {result}, {a}, {b};"), result = out($class) result,
                a = in($class) $a, b = in($class) $b, options(pure, nomem, nostack));
        }
        result
    }};
    ($class:ident, $text:literal, $a:expr) => {{
        let result;
        // SAFETY: arithmetic on registers.
        unsafe {
            instruction!(concat!($text, " {result}, {a};"), result = out($class) result, a = in($class) $a,
                options(pure, nomem, nostack));
        }
        result
    }};
    ($class:ident, $text:literal, $a:expr, $b:expr, $c:expr) => {{
        let result;
        // SAFETY: arithmetic on registers.
        unsafe {
            instruction!(concat!($text, " {result}, {a}, {b}, {c};"), result = out($class) result,
                a = in($class) $a, b = in($class) $b, c = in($class) $c, options(pure, nomem, nostack));
        }
        result
    }};
}
use arithmetic;

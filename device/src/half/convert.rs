//! Conversions with a rounding mode: to and from 16-bit floats, and to tf32.

use half::{bf16, f16};

mod sealed {
    pub trait Sealed {}
}

#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Mode {
    Nearest,
    Zero,
    Down,
    Up,
}

/// A rounding mode: [`Nearest`], [`Zero`], [`Down`] or [`Up`].
pub trait Rounding: sealed::Sealed + Copy {
    #[doc(hidden)]
    const MODE: Mode;
}

macro_rules! modes {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl sealed::Sealed for $name {}
        impl Rounding for $name {
            const MODE: Mode = Mode::$name;
        }
    )*};
}
modes! {
    /// To nearest, ties to even: PTX `.rn` (`.rni` to an integer).
    Nearest;
    /// Towards zero: PTX `.rz`, `.rzi`.
    Zero;
    /// Towards minus infinity: PTX `.rm`, `.rmi`.
    Down;
    /// Towards plus infinity: PTX `.rp`, `.rpi`.
    Up;
}

/// Conversion of `T` into a 16-bit float, rounded as asked.
///
/// PTX: `cvt.MODE.f16.T` (`T`: `f32`, `f64`, and integers of 16, 32 and 64 bits; too large values become infinite; sm_70);
/// `cvt.MODE.bf16.f32` (sm_80, `Nearest` or `Zero`) and `cvt.MODE.bf16.T` for integers (sm_90).
/// CUDA C++: `__float2half_rn`, `__int2half_rz`, ...
pub trait RoundFrom<T, R: Rounding>: Sized {
    /// `value`, rounded.
    fn round_from(value: T, rounding: R) -> Self;
}

/// Conversion of a 16-bit float into the integer `T`, rounded as asked; values out of range become the nearest of `T`, NaN 0.
///
/// PTX: `cvt.MODE.T.f16` (sm_70), `cvt.MODE.T.bf16` (sm_90). CUDA C++: `__half2int_rn`, ...
pub trait RoundTo<T>: Sized {
    /// The integer.
    fn round_to<R: Rounding>(self, rounding: R) -> T;
}

macro_rules! emit_from {
    ($mode:literal, $types:literal, $class:ident, $value:expr) => {{
        let bits: u16;
        // SAFETY: arithmetic on registers.
        unsafe {
            instruction!(concat!("cvt.", $mode, $types, " {bits}, {value};"), bits = out(reg16) bits,
                value = in($class) $value, options(pure, nomem, nostack));
        }
        bits
    }};
}
macro_rules! emit_to {
    ($mode:literal, $types:literal, $class:ident, $value:expr) => {{
        let integer;
        // SAFETY: arithmetic on registers.
        unsafe {
            instruction!(concat!("cvt.", $mode, $types, " {integer}, {value};"), integer = out($class) integer,
                value = in(reg16) $value.to_bits(), options(pure, nomem, nostack));
        }
        integer
    }};
}

macro_rules! from {
    ($half:ident: $($source:ty, $class:ident, $types:literal;)*) => {$(
        impl<R: Rounding> RoundFrom<$source, R> for $half {
            #[inline(always)]
            fn round_from(value: $source, _rounding: R) -> Self {
                $half::from_bits(match R::MODE {
                    Mode::Nearest => emit_from!("rn", $types, $class, value),
                    Mode::Zero => emit_from!("rz", $types, $class, value),
                    Mode::Down => emit_from!("rm", $types, $class, value),
                    Mode::Up => emit_from!("rp", $types, $class, value),
                })
            }
        }
    )*};
}
macro_rules! to {
    ($half:ident: $($target:ty, $class:ident, $types:literal;)*) => {$(
        impl RoundTo<$target> for $half {
            #[inline(always)]
            fn round_to<R: Rounding>(self, _rounding: R) -> $target {
                match R::MODE {
                    Mode::Nearest => emit_to!("rni", $types, $class, self),
                    Mode::Zero => emit_to!("rzi", $types, $class, self),
                    Mode::Down => emit_to!("rmi", $types, $class, self),
                    Mode::Up => emit_to!("rpi", $types, $class, self),
                }
            }
        }
    )*};
}
from! { f16:
    f32, reg32, ".f16.f32";
    f64, reg64, ".f16.f64";
    u16, reg16, ".f16.u16";
    i16, reg16, ".f16.s16";
    u32, reg32, ".f16.u32";
    i32, reg32, ".f16.s32";
    u64, reg64, ".f16.u64";
    i64, reg64, ".f16.s64";
}
to! { f16:
    u16, reg16, ".u16.f16";
    i16, reg16, ".s16.f16";
    u32, reg32, ".u32.f16";
    i32, reg32, ".s32.f16";
    u64, reg64, ".u64.f16";
    i64, reg64, ".s64.f16";
}

impl RoundFrom<f32, Nearest> for bf16 {
    #[inline(always)]
    fn round_from(value: f32, _rounding: Nearest) -> Self {
        bf16::from_bits(emit_from!("rn", ".bf16.f32", reg32, value))
    }
}
impl RoundFrom<f32, Zero> for bf16 {
    #[inline(always)]
    fn round_from(value: f32, _rounding: Zero) -> Self {
        bf16::from_bits(emit_from!("rz", ".bf16.f32", reg32, value))
    }
}
from! { bf16:
    u16, reg16, ".bf16.u16";
    i16, reg16, ".bf16.s16";
    u32, reg32, ".bf16.u32";
    i32, reg32, ".bf16.s32";
    u64, reg64, ".bf16.u64";
    i64, reg64, ".bf16.s64";
}
to! { bf16:
    u16, reg16, ".u16.bf16";
    i16, reg16, ".s16.bf16";
    u32, reg32, ".u32.bf16";
    i32, reg32, ".s32.bf16";
    u64, reg64, ".u64.bf16";
    i64, reg64, ".s64.bf16";
}

/// An `f32` rounded to tf32 (10 bits of mantissa; nearest, ties away from zero), as the matrix units want their tf32
/// operands. The result is an `f32` whose low 13 mantissa bits are zero.
///
/// PTX: `cvt.rna.tf32.f32`. Arch: sm_80. CUDA C++: `__float_to_tf32`. Guide §7.24.2.
///
/// ```no_run
/// let x = warpsmith_device::half::to_tf32(1.2345);
/// ```
#[inline(always)]
pub fn to_tf32(value: f32) -> f32 {
    let result: f32;
    // SAFETY: arithmetic on registers.
    unsafe {
        instruction!("cvt.rna.tf32.f32 {result}, {value};", result = out(reg32) result, value = in(reg32) value,
            options(pure, nomem, nostack));
    }
    result
}

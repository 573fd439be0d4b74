//! Shapes, layouts and element types of the matrix fragments.

use half::{bf16, f16};

mod sealed {
    pub trait Sealed {}
}
pub(super) use sealed::Sealed;

/// A tile shape: A is `M` x `K`, B is `K` x `N`, the accumulator is `M` x `N`.
pub trait Shape: Sealed + Copy {
    /// Rows of A and of the accumulator.
    const M: usize;
    /// Columns of B and of the accumulator.
    const N: usize;
    /// Columns of A, rows of B.
    const K: usize;
}

macro_rules! shapes {
    ($($name:ident $m:literal $n:literal $k:literal $types:literal;)*) => {$(
        #[doc = concat!(stringify!($m), " x ", stringify!($n), " x ", stringify!($k), ": ", $types, ".")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl Sealed for $name {}
        impl Shape for $name {
            const M: usize = $m;
            const N: usize = $n;
            const K: usize = $k;
        }
    )*};
}
shapes! {
    M16N16K16 16 16 16 "`f16`, `bf16`, `u8`, `i8`";
    M32N8K16 32 8 16 "`f16`, `bf16`, `u8`, `i8`";
    M8N32K16 8 32 16 "`f16`, `bf16`, `u8`, `i8`";
    M16N16K8 16 16 8 "[`Tf32`]";
    M8N8K4 8 8 4 "`f64`";
    M8N8K32 8 8 32 "[`U4`], [`I4`]";
    M8N8K128 8 8 128 "[`B1`]";
}

/// The order of a tile's elements in memory: [`RowMajor`] or [`ColMajor`].
pub trait Layout: Sealed + Copy {
    #[doc(hidden)]
    const ROW: bool;
}

/// Rows one after another; the stride is the distance from row to row.
#[derive(Clone, Copy, Debug)]
pub struct RowMajor;
/// Columns one after another; the stride is the distance from column to column.
#[derive(Clone, Copy, Debug)]
pub struct ColMajor;
impl Sealed for RowMajor {}
impl Sealed for ColMajor {}
impl Layout for RowMajor {
    const ROW: bool = true;
}
impl Layout for ColMajor {
    const ROW: bool = false;
}

/// tf32: `f32` in memory, of which the matrix units use 10 bits of mantissa. Round the values with
/// [`to_tf32`](crate::half::to_tf32) first.
#[derive(Clone, Copy, Debug)]
pub struct Tf32;
/// Unsigned 4-bit integers, eight to a `u32`, the first in the low bits.
#[derive(Clone, Copy, Debug)]
pub struct U4;
/// Signed 4-bit integers, eight to a `u32`, the first in the low bits.
#[derive(Clone, Copy, Debug)]
pub struct I4;
/// Single bits, 32 to a `u32`, the first in the low bit.
#[derive(Clone, Copy, Debug)]
pub struct B1;

/// An element type of a fragment.
pub trait Element: Sealed + Copy {
    /// What memory holds: the element, or a word of packed ones.
    type Stored: Copy;
    /// Elements in one `Stored`.
    const PACKED: usize;
    /// Strides are multiples of this many elements (16 bytes of memory; 16 bytes for packed types too).
    const STRIDE: usize;
}

macro_rules! elements {
    ($($name:ty: $stored:ty, $packed:literal, $stride:literal;)*) => {$(
        impl Sealed for $name {}
        impl Element for $name {
            type Stored = $stored;
            const PACKED: usize = $packed;
            const STRIDE: usize = $stride;
        }
    )*};
}
elements! {
    f16: f16, 1, 8;
    bf16: bf16, 1, 8;
    Tf32: f32, 1, 4;
    f32: f32, 1, 4;
    i32: i32, 1, 4;
    f64: f64, 1, 2;
    u8: u8, 1, 16;
    i8: i8, 1, 16;
    U4: u32, 8, 32;
    I4: u32, 8, 32;
    B1: u32, 32, 128;
}

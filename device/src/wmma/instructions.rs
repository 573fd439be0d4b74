//! The `wmma` instructions, and the table of the combinations that exist.
//!
//! Fragments are arrays of registers that are only ever indexed by constants, so that they stay in registers. Each asm
//! template is put together from literals: a hole `{}` per register, in the order of the operands.

use super::types::*;
use half::{bf16, f16};

/// `T` can be an A tile of shape `S` in layout `L`.
#[diagnostic::on_unimplemented(
    message = "there is no A fragment of `{Self}` with shape `{S}` and layout `{L}`"
)]
pub trait OperandA<S: Shape, L: Layout>: Element {
    #[doc(hidden)]
    type Registers: Copy;
    /// # Safety
    /// As [`MatrixA::load_from`](super::MatrixA::load_from).
    #[doc(hidden)]
    unsafe fn load(source: *const Self::Stored, stride: u32) -> Self::Registers;
    #[doc(hidden)]
    fn fill(value: Self::Stored) -> Self::Registers;
}

/// `T` can be a B tile of shape `S` in layout `L`.
#[diagnostic::on_unimplemented(
    message = "there is no B fragment of `{Self}` with shape `{S}` and layout `{L}`"
)]
pub trait OperandB<S: Shape, L: Layout>: Element {
    #[doc(hidden)]
    type Registers: Copy;
    /// # Safety
    /// As [`MatrixB::load_from`](super::MatrixB::load_from).
    #[doc(hidden)]
    unsafe fn load(source: *const Self::Stored, stride: u32) -> Self::Registers;
    #[doc(hidden)]
    fn fill(value: Self::Stored) -> Self::Registers;
}

/// `T` can be an accumulator of shape `S`.
#[diagnostic::on_unimplemented(message = "there is no accumulator of `{Self}` with shape `{S}`")]
pub trait OperandC<S: Shape>: Element {
    #[doc(hidden)]
    type Registers: Copy;
    /// How many elements of the tile one lane holds.
    const ELEMENTS: usize;
    /// # Safety
    /// As [`Accumulator::load_from`](super::Accumulator::load_from).
    #[doc(hidden)]
    unsafe fn load<L: Layout>(source: *const Self::Stored, stride: u32) -> Self::Registers;
    /// # Safety
    /// As [`Accumulator::store_to`](super::Accumulator::store_to).
    #[doc(hidden)]
    unsafe fn store<L: Layout>(registers: Self::Registers, target: *mut Self::Stored, stride: u32);
    #[doc(hidden)]
    fn fill(value: Self::Stored) -> Self::Registers;
    #[doc(hidden)]
    fn zip(
        a: Self::Registers,
        b: Self::Registers,
        combine: impl FnMut(Self::Stored, Self::Stored) -> Self::Stored,
    ) -> Self::Registers;
}

/// D = A x B + C exists for these types.
#[diagnostic::on_unimplemented(
    message = "there is no matrix multiplication of `{Self}` with shape `{S}` from `{C}` to `{D}`"
)]
pub trait Multiply<S: Shape, LA: Layout, LB: Layout, C: OperandC<S>, D: OperandC<S>>:
    OperandA<S, LA> + OperandB<S, LB>
{
    #[doc(hidden)]
    fn multiply(
        a: <Self as OperandA<S, LA>>::Registers,
        b: <Self as OperandB<S, LB>>::Registers,
        c: C::Registers,
    ) -> D::Registers;
}

/// The same with sums that stop at the ends of `i32`.
#[diagnostic::on_unimplemented(
    message = "there is no saturating matrix multiplication of `{Self}` with shape `{S}`",
    note = "u8, i8, U4 and I4 have one"
)]
pub trait MultiplySaturating<S: Shape, LA: Layout, LB: Layout>:
    Multiply<S, LA, LB, i32, i32>
where
    i32: OperandC<S>,
{
    #[doc(hidden)]
    fn multiply_saturating(
        a: <Self as OperandA<S, LA>>::Registers,
        b: <Self as OperandB<S, LB>>::Registers,
        c: <i32 as OperandC<S>>::Registers,
    ) -> <i32 as OperandC<S>>::Registers;
}

/// Nothing, once per register.
macro_rules! blank {
    ($register:tt) => {
        ""
    };
}
/// `{}, {}, ...`: a hole per register.
macro_rules! holes {
    ($first:tt $($rest:tt)*) => { concat!("{}", $(", {}", blank!($rest)),*) };
}
#[cfg(target_arch = "nvptx64")]
pub(super) use {blank, holes};

macro_rules! load {
    ($text:expr, $type:literal, $class:ident ($($i:tt)*), $source:expr, $stride:expr) => {{
        // SAFETY: zero is a value of every register type; all registers are written below.
        let mut registers: Self::Registers = unsafe { core::mem::zeroed() };
        instruction!(
            concat!($text, "/*space={address}*/", $type, " {{", holes!($($i)*), "}}, [{address}], {stride};"),
            $(out($class) registers[$i],)*
            address = in(reg64) $source,
            stride = in(reg32) $stride,
            options(nostack, readonly),
        );
        registers
    }};
}

macro_rules! store {
    ($text:expr, $type:literal, $class:ident ($($i:tt)*), $registers:expr, $target:expr, $stride:expr) => {
        instruction!(
            concat!($text, "/*space={address}*/", $type, " [{address}], {{", holes!($($i)*), "}}, {stride};"),
            $(in($class) $registers[$i],)*
            address = in(reg64) $target,
            stride = in(reg32) $stride,
            options(nostack),
        )
    };
}

macro_rules! multiply {
    ($text:expr, D $dc:ident ($($d:tt)*), A $ac:ident ($($a:tt)*) $av:ident, B $bc:ident ($($b:tt)*) $bv:ident,
     C $cc:ident ($($c:tt)*) $cv:ident) => {{
        // SAFETY: zero is a value of every register type; all registers are written below.
        let mut d: D = unsafe { core::mem::zeroed() };
        // SAFETY: arithmetic on registers. That all lanes take part is the rule of the module.
        unsafe {
            instruction!(
                concat!($text, " {{", holes!($($d)*), "}}, {{", holes!($($a)*), "}}, {{", holes!($($b)*), "}}, {{",
                    holes!($($c)*), "}};"),
                $(out($dc) d[$d],)*
                $(in($ac) $av[$a],)*
                $(in($bc) $bv[$b],)*
                $(in($cc) $cv[$c],)*
                options(nostack),
            );
        }
        d
    }};
}

/// A and B fragments: `type: shape "PTX shape" "PTX type", register class, registers of A, registers of B, fill;`
macro_rules! operands {
    ($($(#[$attribute:meta])* $type:ty: $shape:ident $ptx:literal $element:literal $register:ty as $class:ident
       A($($a:tt)*) B($($b:tt)*) fill $fill:expr;)*) => {$(
        operands!(@one $(#[$attribute])* OperandA "a" $type: $shape $ptx $element $register as $class ($($a)*) fill $fill);
        operands!(@one $(#[$attribute])* OperandB "b" $type: $shape $ptx $element $register as $class ($($b)*) fill $fill);
    )*};
    (@one $(#[$attribute:meta])* $trait:ident $letter:literal $type:ty: $shape:ident $ptx:literal $element:literal
     $register:ty as $class:ident ($($i:tt)*) fill $fill:expr) => {
        $(#[$attribute])*
        impl<L: Layout> $trait<$shape, L> for $type {
            type Registers = [$register; [$($i),*].len()];
            #[inline(always)]
            unsafe fn load(source: *const Self::Stored, stride: u32) -> Self::Registers {
                // SAFETY: the tile is aligned, and valid for the access by the whole warp, by the function's condition.
                unsafe {
                    if L::ROW {
                        load!(concat!("wmma.load.", $letter, ".sync.aligned.row.", $ptx), $element, $class ($($i)*), source, stride)
                    } else {
                        load!(concat!("wmma.load.", $letter, ".sync.aligned.col.", $ptx), $element, $class ($($i)*), source, stride)
                    }
                }
            }
            #[inline(always)]
            fn fill(value: Self::Stored) -> Self::Registers {
                let fill: fn(Self::Stored) -> $register = $fill;
                let register = fill(value);
                [$({ let _: usize = $i; register }),*]
            }
        }
    };
}

#[inline(always)]
fn twice(bits: u16) -> u32 {
    u32::from(bits) * 0x0001_0001
}
#[inline(always)]
fn four_times(bits: u8) -> u32 {
    u32::from(bits) * 0x0101_0101
}

operands! {
    f16: M16N16K16 "m16n16k16" ".f16" u32 as reg32 A(0 1 2 3 4 5 6 7) B(0 1 2 3 4 5 6 7) fill |x| twice(x.to_bits());
    f16: M32N8K16 "m32n8k16" ".f16" u32 as reg32 A(0 1 2 3 4 5 6 7) B(0 1 2 3 4 5 6 7) fill |x| twice(x.to_bits());
    f16: M8N32K16 "m8n32k16" ".f16" u32 as reg32 A(0 1 2 3 4 5 6 7) B(0 1 2 3 4 5 6 7) fill |x| twice(x.to_bits());
    u8: M16N16K16 "m16n16k16" ".u8" u32 as reg32 A(0 1) B(0 1) fill four_times;
    u8: M32N8K16 "m32n8k16" ".u8" u32 as reg32 A(0 1 2 3) B(0) fill four_times;
    u8: M8N32K16 "m8n32k16" ".u8" u32 as reg32 A(0) B(0 1 2 3) fill four_times;
    i8: M16N16K16 "m16n16k16" ".s8" u32 as reg32 A(0 1) B(0 1) fill |x| four_times(x as u8);
    i8: M32N8K16 "m32n8k16" ".s8" u32 as reg32 A(0 1 2 3) B(0) fill |x| four_times(x as u8);
    i8: M8N32K16 "m8n32k16" ".s8" u32 as reg32 A(0) B(0 1 2 3) fill |x| four_times(x as u8);
    bf16: M16N16K16 "m16n16k16" ".bf16" u32 as reg32 A(0 1 2 3) B(0 1 2 3) fill |x| twice(x.to_bits());
    bf16: M32N8K16 "m32n8k16" ".bf16" u32 as reg32 A(0 1 2 3 4 5 6 7) B(0 1) fill |x| twice(x.to_bits());
    bf16: M8N32K16 "m8n32k16" ".bf16" u32 as reg32 A(0 1) B(0 1 2 3 4 5 6 7) fill |x| twice(x.to_bits());
    Tf32: M16N16K8 "m16n16k8" ".tf32" f32 as reg32 A(0 1 2 3) B(0 1 2 3) fill |x| x;
    f64: M8N8K4 "m8n8k4" ".f64" f64 as reg64 A(0) B(0) fill |x| x;
}

/// Accumulators: `type: shape "PTX shape" "PTX type", register class, registers;`
macro_rules! accumulators {
    ($($(#[$attribute:meta])* $type:ty: $shape:ident $ptx:literal $element:literal $register:ty as $class:ident ($($i:tt)*)
       $elements:literal each $splat:ident $each:ident;)*) => {$(
        $(#[$attribute])*
        impl OperandC<$shape> for $type {
            type Registers = [$register; [$($i),*].len()];
            const ELEMENTS: usize = $elements;
            #[inline(always)]
            unsafe fn load<L: Layout>(source: *const Self::Stored, stride: u32) -> Self::Registers {
                // SAFETY: the tile is aligned, and valid for the access by the whole warp, by the function's condition.
                unsafe {
                    if L::ROW {
                        load!(concat!("wmma.load.c.sync.aligned.row.", $ptx), $element, $class ($($i)*), source, stride)
                    } else {
                        load!(concat!("wmma.load.c.sync.aligned.col.", $ptx), $element, $class ($($i)*), source, stride)
                    }
                }
            }
            #[inline(always)]
            unsafe fn store<L: Layout>(registers: Self::Registers, target: *mut Self::Stored, stride: u32) {
                // SAFETY: the tile is aligned, and valid for the access by the whole warp, by the function's condition.
                unsafe {
                    if L::ROW {
                        store!(concat!("wmma.store.d.sync.aligned.row.", $ptx), $element, $class ($($i)*), registers, target, stride)
                    } else {
                        store!(concat!("wmma.store.d.sync.aligned.col.", $ptx), $element, $class ($($i)*), registers, target, stride)
                    }
                }
            }
            #[inline(always)]
            fn fill(value: Self::Stored) -> Self::Registers {
                let register = $splat(value);
                [$({ let _: usize = $i; register }),*]
            }
            #[inline(always)]
            fn zip(
                a: Self::Registers,
                b: Self::Registers,
                mut combine: impl FnMut(Self::Stored, Self::Stored) -> Self::Stored,
            ) -> Self::Registers {
                [$($each(a[$i], b[$i], &mut combine)),*]
            }
        }
    )*};
}

#[inline(always)]
fn same<T>(value: T) -> T {
    value
}
#[inline(always)]
fn one<T>(a: T, b: T, combine: &mut impl FnMut(T, T) -> T) -> T {
    combine(a, b)
}
#[inline(always)]
fn twice_f16(value: f16) -> u32 {
    twice(value.to_bits())
}
#[inline(always)]
fn pair(a: u32, b: u32, combine: &mut impl FnMut(f16, f16) -> f16) -> u32 {
    let low = combine(f16::from_bits(a as u16), f16::from_bits(b as u16));
    let high = combine(
        f16::from_bits((a >> 16) as u16),
        f16::from_bits((b >> 16) as u16),
    );
    u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16
}

accumulators! {
    f32: M16N16K16 "m16n16k16" ".f32" f32 as reg32 (0 1 2 3 4 5 6 7) 8 each same one;
    f32: M32N8K16 "m32n8k16" ".f32" f32 as reg32 (0 1 2 3 4 5 6 7) 8 each same one;
    f32: M8N32K16 "m8n32k16" ".f32" f32 as reg32 (0 1 2 3 4 5 6 7) 8 each same one;
    f16: M16N16K16 "m16n16k16" ".f16" u32 as reg32 (0 1 2 3) 8 each twice_f16 pair;
    f16: M32N8K16 "m32n8k16" ".f16" u32 as reg32 (0 1 2 3) 8 each twice_f16 pair;
    f16: M8N32K16 "m8n32k16" ".f16" u32 as reg32 (0 1 2 3) 8 each twice_f16 pair;
    i32: M16N16K16 "m16n16k16" ".s32" i32 as reg32 (0 1 2 3 4 5 6 7) 8 each same one;
    i32: M32N8K16 "m32n8k16" ".s32" i32 as reg32 (0 1 2 3 4 5 6 7) 8 each same one;
    i32: M8N32K16 "m8n32k16" ".s32" i32 as reg32 (0 1 2 3 4 5 6 7) 8 each same one;
    f32: M16N16K8 "m16n16k8" ".f32" f32 as reg32 (0 1 2 3 4 5 6 7) 8 each same one;
    f64: M8N8K4 "m8n8k4" ".f64" f64 as reg64 (0 1) 2 each same one;
    i32: M8N8K32 "m8n8k32" ".s32" i32 as reg32 (0 1) 2 each same one;
    i32: M8N8K128 "m8n8k128" ".s32" i32 as reg32 (0 1) 2 each same one;
}

/// The four layouts of a multiplication.
macro_rules! by_layout {
    ($la:ident, $lb:ident, $before:literal, $after:literal, $($rest:tt)*) => {
        match ($la::ROW, $lb::ROW) {
            (true, true) => multiply!(concat!($before, "row.row", $after), $($rest)*),
            (true, false) => multiply!(concat!($before, "row.col", $after), $($rest)*),
            (false, true) => multiply!(concat!($before, "col.row", $after), $($rest)*),
            (false, false) => multiply!(concat!($before, "col.col", $after), $($rest)*),
        }
    };
}

/// Multiplications: `type: shape ".shape.types" accumulators C -> D, registers of each;`
macro_rules! multiplications {
    ($($(#[$attribute:meta])* $type:ty: $shape:ident $ptx:literal $c:ty => $d:ty, A $ac:ident $a:tt B $bc:ident $b:tt
       C $cc:ident $cr:tt D $dc:ident $dr:tt;)*) => {$(
        $(#[$attribute])*
        impl<LA: Layout, LB: Layout> Multiply<$shape, LA, LB, $c, $d> for $type {
            #[inline(always)]
            fn multiply(
                a: <Self as OperandA<$shape, LA>>::Registers,
                b: <Self as OperandB<$shape, LB>>::Registers,
                c: <$c as OperandC<$shape>>::Registers,
            ) -> <$d as OperandC<$shape>>::Registers {
                type D = <$d as OperandC<$shape>>::Registers;
                by_layout!(LA, LB, "wmma.mma.sync.aligned.", $ptx, D $dc $dr, A $ac $a a, B $bc $b b, C $cc $cr c)
            }
        }
    )*};
}
/// The same with `.satfinite`.
macro_rules! saturating_multiplications {
    ($($(#[$attribute:meta])* $type:ty: $shape:ident $ptx:literal A $a:tt B $b:tt;)*) => {$(
        $(#[$attribute])*
        impl<LA: Layout, LB: Layout> MultiplySaturating<$shape, LA, LB> for $type {
            #[inline(always)]
            fn multiply_saturating(
                a: <Self as OperandA<$shape, LA>>::Registers,
                b: <Self as OperandB<$shape, LB>>::Registers,
                c: <i32 as OperandC<$shape>>::Registers,
            ) -> <i32 as OperandC<$shape>>::Registers {
                type D = <i32 as OperandC<$shape>>::Registers;
                by_layout!(LA, LB, "wmma.mma.sync.aligned.", $ptx, D reg32 (0 1 2 3 4 5 6 7), A reg32 $a a, B reg32 $b b,
                    C reg32 (0 1 2 3 4 5 6 7) c)
            }
        }
    )*};
}

/// `f16` in the three shapes, from and to both kinds of accumulators.
macro_rules! multiplications_of_f16 {
    ($($shape:ident $f32_f32:literal $f16_f16:literal $f32_f16:literal $f16_f32:literal;)*) => {
        multiplications! {$(
            f16: $shape $f32_f32 f32 => f32, A reg32 (0 1 2 3 4 5 6 7) B reg32 (0 1 2 3 4 5 6 7)
                C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3 4 5 6 7);
            f16: $shape $f16_f16 f16 => f16, A reg32 (0 1 2 3 4 5 6 7) B reg32 (0 1 2 3 4 5 6 7)
                C reg32 (0 1 2 3) D reg32 (0 1 2 3);
            f16: $shape $f32_f16 f16 => f32, A reg32 (0 1 2 3 4 5 6 7) B reg32 (0 1 2 3 4 5 6 7)
                C reg32 (0 1 2 3) D reg32 (0 1 2 3 4 5 6 7);
            f16: $shape $f16_f32 f32 => f16, A reg32 (0 1 2 3 4 5 6 7) B reg32 (0 1 2 3 4 5 6 7)
                C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3);
        )*}
    };
}
// The PTX types are those of D and C.
multiplications_of_f16! {
    M16N16K16 ".m16n16k16.f32.f32" ".m16n16k16.f16.f16" ".m16n16k16.f32.f16" ".m16n16k16.f16.f32";
    M32N8K16 ".m32n8k16.f32.f32" ".m32n8k16.f16.f16" ".m32n8k16.f32.f16" ".m32n8k16.f16.f32";
    M8N32K16 ".m8n32k16.f32.f32" ".m8n32k16.f16.f16" ".m8n32k16.f32.f16" ".m8n32k16.f16.f32";
}

mod integers {
    use super::*;
    multiplications! {
        u8: M16N16K16 ".m16n16k16.s32.u8.u8.s32" i32 => i32, A reg32 (0 1) B reg32 (0 1)
            C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3 4 5 6 7);
        u8: M32N8K16 ".m32n8k16.s32.u8.u8.s32" i32 => i32, A reg32 (0 1 2 3) B reg32 (0)
            C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3 4 5 6 7);
        u8: M8N32K16 ".m8n32k16.s32.u8.u8.s32" i32 => i32, A reg32 (0) B reg32 (0 1 2 3)
            C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3 4 5 6 7);
        i8: M16N16K16 ".m16n16k16.s32.s8.s8.s32" i32 => i32, A reg32 (0 1) B reg32 (0 1)
            C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3 4 5 6 7);
        i8: M32N8K16 ".m32n8k16.s32.s8.s8.s32" i32 => i32, A reg32 (0 1 2 3) B reg32 (0)
            C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3 4 5 6 7);
        i8: M8N32K16 ".m8n32k16.s32.s8.s8.s32" i32 => i32, A reg32 (0) B reg32 (0 1 2 3)
            C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3 4 5 6 7);
    }
    saturating_multiplications! {
        u8: M16N16K16 ".m16n16k16.s32.u8.u8.s32.satfinite" A(0 1) B(0 1);
        u8: M32N8K16 ".m32n8k16.s32.u8.u8.s32.satfinite" A(0 1 2 3) B(0);
        u8: M8N32K16 ".m8n32k16.s32.u8.u8.s32.satfinite" A(0) B(0 1 2 3);
        i8: M16N16K16 ".m16n16k16.s32.s8.s8.s32.satfinite" A(0 1) B(0 1);
        i8: M32N8K16 ".m32n8k16.s32.s8.s8.s32.satfinite" A(0 1 2 3) B(0);
        i8: M8N32K16 ".m8n32k16.s32.s8.s8.s32.satfinite" A(0) B(0 1 2 3);
    }
}

mod sm_80 {
    use super::*;
    multiplications! {
        bf16: M16N16K16 ".m16n16k16.f32.bf16.bf16.f32" f32 => f32, A reg32 (0 1 2 3) B reg32 (0 1 2 3)
            C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3 4 5 6 7);
        bf16: M32N8K16 ".m32n8k16.f32.bf16.bf16.f32" f32 => f32, A reg32 (0 1 2 3 4 5 6 7) B reg32 (0 1)
            C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3 4 5 6 7);
        bf16: M8N32K16 ".m8n32k16.f32.bf16.bf16.f32" f32 => f32, A reg32 (0 1) B reg32 (0 1 2 3 4 5 6 7)
            C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3 4 5 6 7);
        Tf32: M16N16K8 ".m16n16k8.f32.tf32.tf32.f32" f32 => f32, A reg32 (0 1 2 3) B reg32 (0 1 2 3)
            C reg32 (0 1 2 3 4 5 6 7) D reg32 (0 1 2 3 4 5 6 7);
        f64: M8N8K4 ".m8n8k4.rn.f64.f64.f64.f64" f64 => f64, A reg64 (0) B reg64 (0)
            C reg64 (0 1) D reg64 (0 1);
    }
}

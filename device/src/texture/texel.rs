//! What a surface is made of, and the instructions that read and write it.

use super::geometry::sealed::Kind;

pub(super) mod sealed {
    use super::Kind;

    /// Keeps [`SurfaceTexel`](super::SurfaceTexel) to this crate: its implementations say which instructions read and write.
    pub trait Sealed: Sized {
        /// What tells it from the others in a kernel's record.
        const CODE: u32;

        /// # Safety
        /// `object` is a surface object of this geometry that lives as long as the kernel runs; of the bytes at `at`, x in bytes, nobody
        /// writes any meanwhile.
        unsafe fn load(object: u64, kind: Kind, at: [u32; 3]) -> Self;

        /// # Safety
        /// As for [`load`](Self::load), and nobody else reads any.
        unsafe fn store(self, object: u64, kind: Kind, at: [u32; 3]);
    }
}

/// A texel of a surface: an integer of 8, 16 or 32 bits, an `f16` ([`half::f16`]) or an `f32`, or an array of two or four of one of them. It is
/// what the array on the host is made of: a surface reads and writes texels as they are.
///
/// ```
/// use warpsmith_device::texture::SurfaceTexel;
///
/// fn bytes<T: SurfaceTexel>() -> usize {
///     size_of::<T>()
/// }
/// assert_eq!(bytes::<[u8; 4]>(), 4);
/// ```
///
/// ```compile_fail,E0277
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn wide(image: Surface2d<f64>) {}
/// ```
#[diagnostic::on_unimplemented(
    message = "a surface has no texels of `{Self}`",
    note = "texels are `u8`, `i8`, `u16`, `i16`, `u32`, `i32`, `f16`, `f32`, or arrays of two or four of one of them"
)]
pub trait SurfaceTexel: sealed::Sealed + bytemuck::Pod {}

/// One instruction: `opcode.geometry.form before [object, {coordinates}] after;`
macro_rules! access {
    (
        $opcode:literal $geometry:literal $form:literal $before:literal $coordinates:literal $after:literal,
        $object:ident, [$($coordinate:ident)*], $($operands:tt)*
    ) => {
        instruction!(
            concat!($opcode, $geometry, $form, ".trap ", $before, "[{object}, {{", $coordinates, "}}]", $after, ";"),
            object = in(reg64) $object, $($coordinate = in(reg32) $coordinate,)* $($operands)*
        )
    };
}

/// The instruction of the geometry. A layer stands before the other coordinates, and three are followed by one that means nothing.
macro_rules! by_geometry {
    ($opcode:literal $form:literal $before:literal $after:literal, ($object:ident, $kind:ident, $at:ident), $($operands:tt)*) => {{
        let [x, y, z] = $at;
        match $kind {
            Kind::Dim1 | Kind::Linear => {
                access!($opcode ".1d" $form $before "{x}" $after, $object, [x], $($operands)*)
            }
            Kind::Dim2 | Kind::Gather2 => {
                access!($opcode ".2d" $form $before "{x}, {y}" $after, $object, [x y], $($operands)*)
            }
            Kind::Dim3 => {
                access!($opcode ".3d" $form $before "{x}, {y}, {z}, {z}" $after, $object, [x y z], $($operands)*)
            }
            Kind::Layered1 => {
                access!($opcode ".a1d" $form $before "{y}, {x}" $after, $object, [x y], $($operands)*)
            }
            // Faces are layers.
            Kind::Layered2 | Kind::Cube | Kind::LayeredCube => {
                access!($opcode ".a2d" $form $before "{z}, {x}, {y}, {y}" $after, $object, [x y z], $($operands)*)
            }
        }
    }};
}

/// A texel of the words `$part`, each of which passes through a register.
macro_rules! texel_of_words {
    ($texel:ty, $code:expr, $word:ty as $register:ty, $class:ident, $form:literal $load:literal $store:literal, [$($part:ident)*] $parts:pat, $whole:expr) => {
        impl sealed::Sealed for $texel {
            const CODE: u32 = $code;

            #[inline(always)]
            unsafe fn load(object: u64, kind: Kind, at: [u32; 3]) -> $texel {
                $(let $part: $register;)*
                // SAFETY: the object is a surface's that the instruction can read, and nobody writes the bytes, by the caller's
                // contract. Without `pure` and `nomem` it stays where it is among other accesses.
                unsafe {
                    by_geometry!(
                        "suld.b" $form $load "", (object, kind, at),
                        $($part = lateout($class) $part,)* options(readonly, nostack)
                    )
                }
                $(let $part = $part as $word;)*
                $whole
            }

            #[inline(always)]
            unsafe fn store(self, object: u64, kind: Kind, at: [u32; 3]) {
                let $parts = self;
                $(let $part = <$register>::from($part);)*
                // SAFETY: the object is a surface's that the instruction can write, and nobody else uses the bytes, by the caller's
                // contract.
                unsafe {
                    by_geometry!(
                        "sust.b" $form "" $store, (object, kind, at),
                        $($part = in($class) $part,)* options(nostack)
                    )
                }
            }
        }

        impl SurfaceTexel for $texel {}
    };
}

macro_rules! words {
    ($($word:ident, $code:literal, $register:ident, $class:ident, $one:literal $two:literal $four:literal;)*) => {$(
        texel_of_words!($word, $code, $word as $register, $class, $one "{a}, " ", {a}", [a] a, a);
        texel_of_words!(
            [$word; 2], $code + 2, $word as $register, $class,
            $two "{{{a}, {b}}}, " ", {{{a}, {b}}}", [a b] [a, b], [a, b]
        );
        texel_of_words!(
            [$word; 4], $code + 4, $word as $register, $class,
            $four "{{{a}, {b}, {c}, {d}}}, " ", {{{a}, {b}, {c}, {d}}}", [a b c d] [a, b, c, d], [a, b, c, d]
        );
    )*};
}
// No register has 8 bits; the instruction takes one of 16.
words! {
    u8, 8, u16, reg16, ".b8" ".v2.b8" ".v4.b8";
    u16, 16, u16, reg16, ".b16" ".v2.b16" ".v4.b16";
    u32, 24, u32, reg32, ".b32" ".v2.b32" ".v4.b32";
}

/// Texels that are words by their bits.
macro_rules! texels_as_words {
    ($($component:ty as $word:ty, $code:literal, $of:path, $to:path;)*) => {$(
        texels_as_words! {
            $component, $word, $code, ($of), |texel| $to(texel);
            [$component; 2], [$word; 2], $code + 2, (|words: [$word; 2]| words.map($of)), |texel| texel.map($to);
            [$component; 4], [$word; 4], $code + 4, (|words: [$word; 4]| words.map($of)), |texel| texel.map($to);
        }
    )*};
    ($($texel:ty, $words:ty, $code:expr, $of:expr, |$value:ident| $to:expr;)*) => {$(
        impl sealed::Sealed for $texel {
            const CODE: u32 = $code;

            #[inline(always)]
            unsafe fn load(object: u64, kind: Kind, at: [u32; 3]) -> $texel {
                // SAFETY: the conditions are this function's own.
                $of(unsafe { <$words as sealed::Sealed>::load(object, kind, at) })
            }

            #[inline(always)]
            unsafe fn store(self, object: u64, kind: Kind, at: [u32; 3]) {
                let $value = self;
                let words: $words = $to;
                // SAFETY: the conditions are this function's own.
                unsafe { words.store(object, kind, at) }
            }
        }

        impl SurfaceTexel for $texel {}
    )*};
}
texels_as_words! {
    i8 as u8, 32, u8::cast_signed, i8::cast_unsigned;
    i16 as u16, 40, u16::cast_signed, i16::cast_unsigned;
    i32 as u32, 48, u32::cast_signed, i32::cast_unsigned;
    half::f16 as u16, 56, half::f16::from_bits, half::f16::to_bits;
    f32 as u32, 64, f32::from_bits, f32::to_bits;
}

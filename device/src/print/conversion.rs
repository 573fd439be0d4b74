//! Which types can be printed how, and what printf calls it.

/// printf's name for a type in a style.
#[derive(Clone, Copy)]
pub struct Conversion {
    /// Without a precision.
    pub plain: &'static str,
    /// With one.
    pub with_precision: &'static str,
    /// Whether a precision makes sense.
    pub precise: bool,
    /// Whether the text stands left in its width, as Rust has it.
    pub left: bool,
}

impl Conversion {
    const fn number(plain: &'static str) -> Conversion {
        Conversion {
            plain,
            with_precision: plain,
            precise: false,
            left: false,
        }
    }
    const fn float(plain: &'static str, with_precision: &'static str) -> Conversion {
        Conversion {
            plain,
            with_precision,
            precise: true,
            left: false,
        }
    }
    const fn text() -> Conversion {
        Conversion {
            plain: "s",
            with_precision: "s",
            precise: false,
            left: true,
        }
    }
}

/// A value in printf's argument buffer.
pub trait Packed: Copy {}

macro_rules! styles {
    ($($(#[$documentation:meta])* $name:ident;)*) => {$(
        $(#[$documentation])*
        pub struct $name;
    )*};
}

styles! {
    /// `{}`
    Display;
    /// `{:?}`
    Debug;
    /// `{:x}`
    LowerHex;
    /// `{:X}`
    UpperHex;
    /// `{:o}`
    Octal;
    /// `{:e}`
    LowerExp;
    /// `{:E}`
    UpperExp;
    /// `{:p}`
    Pointer;
    /// The width in `{:width$}`.
    WidthArgument;
}

/// A type that `gpu_println!` can print in style `S`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be printed from a kernel in the style `{S}`",
    label = "not printable like this",
    note = "CUDA's printf prints integers up to 64 bits, floats, `bool`, `char`, `&str`, `&CStr` and pointers (`p`); \
            `x`, `X` and `o` are for integers, `e` and `E` for floats"
)]
///
/// # Safety
/// printf may be given a `Packed` for the conversion `CONVERSION`: the type is the one that this stands for in C, and an
/// address leads to a text that ends in zero, for as long as the value and its storage live.
pub unsafe trait Argument<S> {
    /// printf's name for it.
    #[doc(hidden)]
    const CONVERSION: Conversion;
    /// The argument's type in the buffer.
    #[doc(hidden)]
    type Packed: Packed;
    /// What that points to, if anything.
    #[doc(hidden)]
    type Storage: Default;
    /// The value for the argument buffer.
    #[doc(hidden)]
    fn pack(&self, storage: &mut Self::Storage) -> Self::Packed;
}

macro_rules! packed {
    ($($ty:ty),*) => { $(impl Packed for $ty {})* };
}
packed!(i32, u32, i64, u64, f64, usize);

/// An address in the argument buffer.
#[doc(hidden)]
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Address(*const u8);
impl Packed for Address {}

/// `ty => promoted, style: conversion, ...;`
macro_rules! numbers {
    ($($ty:ty => $packed:ty, $($style:ident: $conversion:expr),*;)*) => {$($(
        // SAFETY: the tables below pair each promoted type with C's conversion for it.
        unsafe impl Argument<$style> for $ty {
            const CONVERSION: Conversion = $conversion;
            type Packed = $packed;
            type Storage = ();
            #[inline(always)]
            fn pack(&self, (): &mut ()) -> $packed {
                *self as $packed
            }
        }
    )*)*};
}

macro_rules! integers {
    ($($ty:ty => $packed:ty, $length:literal, $decimal:literal;)*) => {
        numbers! {$(
            $ty => $packed,
                Display: Conversion::number(concat!($length, $decimal)),
                Debug: Conversion::number(concat!($length, $decimal));
        )*}
    };
}

integers! {
    i8 => i32, "", "d"; i16 => i32, "", "d"; i32 => i32, "", "d"; i64 => i64, "ll", "d"; isize => i64, "ll", "d";
    u8 => u32, "", "u"; u16 => u32, "", "u"; u32 => u32, "", "u"; u64 => u64, "ll", "u"; usize => u64, "ll", "u";
}

/// Hexadecimal and octal show the bits: a negative number is not sign-extended beyond its own width.
macro_rules! bits {
    ($($ty:ty, $unsigned:ty => $packed:ty, $length:literal;)*) => {$(
        bits!(@ $ty, $unsigned => $packed, LowerHex, concat!($length, "x"));
        bits!(@ $ty, $unsigned => $packed, UpperHex, concat!($length, "X"));
        bits!(@ $ty, $unsigned => $packed, Octal, concat!($length, "o"));
    )*};
    (@ $ty:ty, $unsigned:ty => $packed:ty, $style:ident, $conversion:expr) => {
        // SAFETY: the table below pairs each unsigned type with the length that C has for it.
        unsafe impl Argument<$style> for $ty {
            const CONVERSION: Conversion = Conversion::number($conversion);
            type Packed = $packed;
            type Storage = ();
            #[inline(always)]
            fn pack(&self, (): &mut ()) -> $packed {
                *self as $unsigned as $packed
            }
        }
    };
}

bits! {
    i8, u8 => u32, ""; i16, u16 => u32, ""; i32, u32 => u32, ""; i64, u64 => u64, "ll"; isize, usize => u64, "ll";
    u8, u8 => u32, ""; u16, u16 => u32, ""; u32, u32 => u32, ""; u64, u64 => u64, "ll"; usize, usize => u64, "ll";
}

numbers! {
    f32 => f64,
        Display: Conversion::float("g", "f"), Debug: Conversion::float(".9g", "f"),
        LowerExp: Conversion::float("e", "e"), UpperExp: Conversion::float("E", "E");
    f64 => f64,
        Display: Conversion::float("g", "f"), Debug: Conversion::float(".17g", "f"),
        LowerExp: Conversion::float("e", "e"), UpperExp: Conversion::float("E", "E");
    usize => i32, WidthArgument: Conversion::number("d");
}

macro_rules! half_floats {
    ($($ty:ty: $($style:ident),*;)*) => {$($(
        // SAFETY: a float is passed as a `double`, as the conversions of `f32` say.
        unsafe impl Argument<$style> for $ty {
            const CONVERSION: Conversion = <f32 as Argument<$style>>::CONVERSION;
            type Packed = f64;
            type Storage = ();
            #[inline(always)]
            fn pack(&self, (): &mut ()) -> f64 {
                self.to_f64()
            }
        }
    )*)*};
}

half_floats! {
    half::f16: Display, Debug, LowerExp, UpperExp;
    half::bf16: Display, Debug, LowerExp, UpperExp;
}

macro_rules! texts {
    ($($style:ident),*) => {$(
        // SAFETY: both texts are C strings, and static.
        unsafe impl Argument<$style> for bool {
            const CONVERSION: Conversion = Conversion::text();
            type Packed = Address;
            type Storage = ();
            #[inline(always)]
            fn pack(&self, (): &mut ()) -> Address {
                Address(if *self { c"true".as_ptr().cast() } else { c"false".as_ptr().cast() })
            }
        }

        // SAFETY: a `CStr` ends in zero, and is the value.
        unsafe impl Argument<$style> for core::ffi::CStr {
            const CONVERSION: Conversion = Conversion::text();
            type Packed = Address;
            type Storage = ();
            #[inline(always)]
            fn pack(&self, (): &mut ()) -> Address {
                Address(self.as_ptr().cast())
            }
        }
    )*};
}
texts!(Display, Debug);

/// A character in UTF-8, ended by zero.
// SAFETY: a character has four bytes at most, so the rest of the eight stays zero; the address is the storage's.
unsafe impl Argument<Display> for char {
    const CONVERSION: Conversion = Conversion::text();
    type Packed = Address;
    type Storage = [u8; 8];
    #[inline(always)]
    fn pack(&self, storage: &mut [u8; 8]) -> Address {
        self.encode_utf8(storage);
        Address(storage.as_ptr())
    }
}

/// How much of a `&str` is printed.
pub const MAX_STR: usize = 128;

/// Room for a text's copy and the zero behind it.
#[doc(hidden)]
pub struct Copied([core::mem::MaybeUninit<u8>; MAX_STR + 1]);

impl Default for Copied {
    #[inline(always)]
    fn default() -> Self {
        Copied([core::mem::MaybeUninit::uninit(); MAX_STR + 1])
    }
}

/// A text's first `MAX_STR` bytes: printf wants a zero at the end, so the text is copied.
// SAFETY: a zero stands behind the bytes that are copied; the address is the storage's.
unsafe impl Argument<Display> for str {
    const CONVERSION: Conversion = Conversion::text();
    type Packed = Address;
    type Storage = Copied;
    #[inline(always)]
    fn pack(&self, storage: &mut Copied) -> Address {
        let length = self.len().min(MAX_STR);
        for (to, from) in storage.0.iter_mut().zip(&self.as_bytes()[..length]) {
            to.write(*from);
        }
        storage.0[length].write(0);
        Address(storage.0.as_ptr().cast())
    }
}

// SAFETY: an address for `%p`, which is not followed.
unsafe impl<T: ?Sized> Argument<Pointer> for *const T {
    const CONVERSION: Conversion = Conversion::number("p");
    type Packed = Address;
    type Storage = ();
    #[inline(always)]
    fn pack(&self, (): &mut ()) -> Address {
        Address(self.cast())
    }
}

// SAFETY: an address for `%p`, which is not followed.
unsafe impl<T: ?Sized> Argument<Pointer> for *mut T {
    const CONVERSION: Conversion = Conversion::number("p");
    type Packed = Address;
    type Storage = ();
    #[inline(always)]
    fn pack(&self, (): &mut ()) -> Address {
        Address(self.cast())
    }
}

/// A reference prints what it refers to.
macro_rules! references {
    ($($style:ident),*) => {$(
        // SAFETY: all is `T`'s, and what is referred to outlives the reference.
        unsafe impl<T: Argument<$style> + ?Sized> Argument<$style> for &T {
            const CONVERSION: Conversion = T::CONVERSION;
            type Packed = T::Packed;
            type Storage = T::Storage;
            #[inline(always)]
            fn pack(&self, storage: &mut T::Storage) -> T::Packed {
                (**self).pack(storage)
            }
        }

        // SAFETY: all is `T`'s, and what is referred to outlives the reference.
        unsafe impl<T: Argument<$style> + ?Sized> Argument<$style> for &mut T {
            const CONVERSION: Conversion = T::CONVERSION;
            type Packed = T::Packed;
            type Storage = T::Storage;
            #[inline(always)]
            fn pack(&self, storage: &mut T::Storage) -> T::Packed {
                (**self).pack(storage)
            }
        }
    )*};
}
references!(
    Display, Debug, LowerHex, UpperHex, Octal, LowerExp, UpperExp
);

// SAFETY: an address for `%p`, which is not followed.
unsafe impl<T: ?Sized> Argument<Pointer> for &T {
    const CONVERSION: Conversion = Conversion::number("p");
    type Packed = Address;
    type Storage = ();
    #[inline(always)]
    fn pack(&self, (): &mut ()) -> Address {
        Address(core::ptr::from_ref::<T>(*self).cast())
    }
}

//! Loads and stores of global memory with a cache hint, and as one instruction for up to 16 bytes.
//!
//! The hints change no value. Each function comes twice: safe on a reference, by its generic address; and `unsafe` on a
//! pointer that is known to be in global memory, also for memory that other threads may write meanwhile.
//!
//! Ordinary loads through `&[T]` parameters need none of this: they are `ld.global.nc` by themselves, and as wide as the
//! type's alignment allows.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use bytemuck::Pod;
use half::{bf16, f16};

use crate::vector::*;

/// A type that one instruction loads or stores: a number, or a vector of two or four whose alignment is its size.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be loaded by one instruction",
    note = "use a number, or a vector of two or four components aligned to its size (`Float4`, `Half2`, ...)"
)]
pub trait Wide: Pod + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! wide {
    ($($ty:ty)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Wide for $ty {}
    )*};
}
wide! {
    i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64 f16 bf16
    Char2 UChar2 Char4 UChar4 Short2 UShort2 Short4 UShort4 Int2 UInt2 Int4 UInt4 LongLong2 ULongLong2
    Float2 Float4 Double2
}

impl<T: Lanes> sealed::Sealed for Vector<T> {}
impl<T: Lanes> Wide for Vector<T> {}

/// A plain value as another of the same size; only for arms that the size selects.
#[inline(always)]
#[cfg(target_arch = "nvptx64")]
fn cast<A: Pod, B: Pod>(value: A) -> B {
    if const { size_of::<A>() == size_of::<B>() } {
        // SAFETY: both are plain data of one size.
        unsafe { core::mem::transmute_copy(&value) }
    } else {
        unreachable!()
    }
}

/// One load instruction, chosen by the value's size: the text before its type, and behind its address.
#[cfg(target_arch = "nvptx64")]
macro_rules! load_instruction {
    ($T:ident, $from:expr, $before:expr, $address:expr) => {{
        macro_rules! one {
            ($class:ident, $ty:ty, $form:literal) => {{
                let value: $ty;
                asm!(concat!($before, $form, " {v}, ", $address),
                    v = lateout($class) value, a = in(reg64) $from, options(readonly));
                value
            }};
        }
        match const { size_of::<$T>() } {
            1 => cast(one!(reg16, u16, ".b8") as u8),
            2 => cast(one!(reg16, u16, ".b16")),
            4 => cast(one!(reg32, u32, ".b32")),
            8 => cast(one!(reg64, u64, ".b64")),
            _ => {
                let (x, y, z, w): (u32, u32, u32, u32);
                asm!(concat!($before, ".v4.b32 {{ {x}, {y}, {z}, {w} }}, ", $address),
                    x = lateout(reg32) x, y = lateout(reg32) y, z = lateout(reg32) z, w = lateout(reg32) w,
                    a = in(reg64) $from, options(readonly));
                cast([x, y, z, w])
            }
        }
    }};
}

/// One store instruction, as `load_instruction!`.
#[cfg(target_arch = "nvptx64")]
macro_rules! store_instruction {
    ($T:ident, $to:expr, $value:ident, $before:expr, $address:expr, $after:expr) => {{
        macro_rules! one {
            ($class:ident, $bits:expr, $form:literal) => {
                asm!(concat!($before, $form, $address, "{v};", $after), v = in($class) $bits, a = in(reg64) $to)
            };
        }
        match const { size_of::<$T>() } {
            1 => one!(reg16, u16::from(cast::<T, u8>($value)), ".b8"),
            2 => one!(reg16, cast::<T, u16>($value), ".b16"),
            4 => one!(reg32, cast::<T, u32>($value), ".b32"),
            8 => one!(reg64, cast::<T, u64>($value), ".b64"),
            _ => {
                let [x, y, z, w] = cast::<T, [u32; 4]>($value);
                asm!(concat!($before, ".v4.b32", $address, "{{ {x}, {y}, {z}, {w} }};", $after),
                    x = in(reg32) x, y = in(reg32) y, z = in(reg32) z, w = in(reg32) w, a = in(reg64) $to);
            }
        }
    }};
}

macro_rules! global_load {
    ($(#[$documentation:meta])* $global:ident, $hint:literal) => {
        $(#[$documentation])*
        ///
        #[doc = concat!("Becomes `ld.global", $hint, "` (`.b8` to `.b64`, `.v4.b32` for 16 bytes). Any arch.")]
        ///
        /// # Safety
        /// `from` is valid for reads, aligned, and in global memory.
        ///
        /// ```no_run
        /// unsafe fn first(x: *const f32) -> f32 {
        ///     // SAFETY: the caller gives a valid pointer to global memory.
        #[doc = concat!("    unsafe { warpsmith_device::mem::", stringify!($global), "(x) }")]
        /// }
        /// ```
        #[inline(always)]
        pub unsafe fn $global<T: Wide>(from: *const T) -> T {
            // SAFETY: `from` is valid for reads, aligned and in global memory, by the function's condition.
            on_device! { unsafe {
                load_instruction!(
                    T, from, concat!("{{ .reg .b64 %a; cvta.to.global.u64 %a, {a}; ld.global", $hint), "[%a]; }}"
                )
            } }
        }
    };
}

macro_rules! loads {
    ($($(#[$documentation:meta])* $name:ident, $global:ident, $hint:literal;)*) => {$(
        $(#[$documentation])*
        ///
        #[doc = concat!("Becomes `ld", $hint, "` (`.b8` to `.b64`, `.v4.b32` for 16 bytes). Any arch.")]
        ///
        /// ```no_run
        /// # let x = [1.0f32; 4];
        #[doc = concat!("let value = warpsmith_device::mem::", stringify!($name), "(&x[0]);")]
        /// # let _ = value;
        /// ```
        #[inline(always)]
        pub fn $name<T: Wide>(from: &T) -> T {
            // SAFETY: a reference is valid and aligned, and its address is generic.
            on_device! { unsafe {
                load_instruction!(T, core::ptr::from_ref(from), concat!("ld", $hint), "[{a}];")
            } }
        }

        global_load! {
            #[doc = concat!("[`", stringify!($name), "`] of global memory, by pointer.")]
            $global, $hint
        }
    )*};
}

loads! {
    /// CUDA C++'s `__ldca()`: cached at all levels, as ordinary loads are.
    load_ca, load_ca_global, ".ca";
    /// CUDA C++'s `__ldcg()`: cached in L2 only.
    load_cg, load_cg_global, ".cg";
    /// CUDA C++'s `__ldcs()`: streaming; likely read once.
    load_cs, load_cs_global, ".cs";
    /// CUDA C++'s `__ldlu()`: last use; the cache line need not be written back.
    load_lu, load_lu_global, ".lu";
    /// CUDA C++'s `__ldcv()`: not cached; fetched anew each time.
    load_cv, load_cv_global, ".cv";
    /// An ordinary load, certainly as one instruction.
    load, load_global, "";
}

global_load! {
    /// CUDA C++'s `__ldg()`: through the read-only cache. The memory must not change while the kernel runs.
    load_nc_global, ".nc"
}

macro_rules! stores {
    ($($(#[$documentation:meta])* $name:ident, $global:ident, $hint:literal;)*) => {$(
        $(#[$documentation])*
        ///
        #[doc = concat!("Becomes `st", $hint, "` (`.b8` to `.b64`, `.v4.b32` for 16 bytes). Any arch.")]
        ///
        /// ```no_run
        /// # let mut y = [1.0f32; 4];
        #[doc = concat!("warpsmith_device::mem::", stringify!($name), "(&mut y[0], 2.0);")]
        /// ```
        #[inline(always)]
        pub fn $name<T: Wide>(to: &mut T, value: T) {
            // SAFETY: a reference is valid and aligned, and its address is generic.
            on_device! { unsafe {
                store_instruction!(T, core::ptr::from_mut(to), value, concat!("st", $hint), " [{a}], ", "")
            } }
        }

        #[doc = concat!("[`", stringify!($name), "`] to global memory, by pointer.")]
        ///
        #[doc = concat!("Becomes `st.global", $hint, "` (`.b8` to `.b64`, `.v4.b32` for 16 bytes). Any arch.")]
        ///
        /// # Safety
        /// `to` is valid for writes, aligned, and in global memory.
        ///
        /// ```no_run
        /// unsafe fn clear(y: *mut f32) {
        ///     // SAFETY: the caller gives a valid pointer to global memory.
        #[doc = concat!("    unsafe { warpsmith_device::mem::", stringify!($global), "(y, 0.0) }")]
        /// }
        /// ```
        #[inline(always)]
        pub unsafe fn $global<T: Wide>(to: *mut T, value: T) {
            // SAFETY: `to` is valid for writes, aligned and in global memory, by the function's condition.
            on_device! { unsafe {
                store_instruction!(
                    T, to, value, concat!("{{ .reg .b64 %a; cvta.to.global.u64 %a, {a}; st.global", $hint), " [%a], ", " }}"
                )
            } }
        }
    )*};
}

stores! {
    /// CUDA C++'s `__stwb()`: written back from all levels, as ordinary stores are.
    store_wb, store_wb_global, ".wb";
    /// CUDA C++'s `__stcg()`: cached in L2 only.
    store_cg, store_cg_global, ".cg";
    /// CUDA C++'s `__stcs()`: streaming; likely not read soon.
    store_cs, store_cs_global, ".cs";
    /// CUDA C++'s `__stwt()`: written through to system memory.
    store_wt, store_wt_global, ".wt";
    /// An ordinary store, certainly as one instruction.
    store, store_global, "";
}

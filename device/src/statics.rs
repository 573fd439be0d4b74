//! Statics that live in device memory and that the host reaches by name.
//!
//! | Macro | Memory | The kernel | The host |
//! | --- | --- | --- | --- |
//! | [`constant!`](crate::constant) | `.const` (64 KiB a module) | reads | sets, between launches |
//! | [`device_static!`](crate::device_static) | `.global` | reads; writes what allows it (atomics, [`Plain`]) | reads and sets |
//! | [`managed_static!`](crate::managed_static) | `.global`, managed | as above | also in place, by guards |
//!
//! Each module that the host loads has objects of its own, with the initial values. On the host the same items are
//! ordinary statics, *other objects*: writing those does not reach the device; `module.global(...)` of the host library
//! does. It writes any bytes, so the types are those for which all bytes are a value ([`AnyBytes`]). The names are symbols, so they
//! are unique in a program.

use core::cell::UnsafeCell;
use core::ops::Deref;

use bytemuck::Pod;

use crate::atomic::{Atomic, AtomicValue, GridScope};

/// A type of a static that the host sets: numbers, atomics, [`Constant`] and [`Plain`] of plain data, and arrays of those.
///
/// # Safety
///
/// Any bytes are a value.
#[diagnostic::on_unimplemented(
    message = "the host cannot be allowed to set a static of type `{Self}`",
    label = "it may write any bytes, and not all of them may be a `{Self}`",
    note = "numbers, `Atomic` and `Plain` of plain data, and arrays of those will do: a `u32` for a `bool`, a `Plain` of a struct that is `bytemuck::Pod`"
)]
pub unsafe trait AnyBytes {}

// SAFETY: `Pod` says so.
unsafe impl<T: Pod> AnyBytes for Constant<T> {}
// SAFETY: `Pod` says so.
unsafe impl<T: Pod> AnyBytes for Plain<T> {}
// SAFETY: the types that have atomic operations are numbers.
unsafe impl<T: AtomicValue, S: GridScope> AnyBytes for Atomic<T, S> {}
// SAFETY: an array is its elements, whose trait says so.
unsafe impl<T: AnyBytes, const N: usize> AnyBytes for [T; N] {}

/// A type of a managed static: what the host sets, but for [`Constant`].
#[diagnostic::on_unimplemented(
    message = "a static of type `{Self}` cannot be in managed memory",
    label = "the host may write any bytes there, also while kernels run",
    note = "numbers, `Atomic` and `Plain` of plain data, and arrays of those will do; no memory is both managed and constant: a `Constant` goes \
            into `constant!`"
)]
pub trait Managed: AnyBytes {}

impl<T: Pod> Managed for Plain<T> {}
impl<T: AtomicValue, S: GridScope> Managed for Atomic<T, S> {}
impl<T: Managed, const N: usize> Managed for [T; N] {}

/// Fails to compile for what the host cannot set.
#[doc(hidden)]
pub const fn assert_any_bytes<T: AnyBytes>() {}

/// Fails to compile for what cannot be in managed memory.
#[doc(hidden)]
pub const fn assert_managed<T: Managed>() {}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        // SAFETY: a number; the assertion below shows that it is plain data.
        unsafe impl AnyBytes for $number {}
        impl Managed for $number {}
        const _: () = crate::__private::assert_plain::<$number>();
    )*};
}
numbers!(
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    f32,
    f64,
    half::f16,
    half::bf16
);

/// A value in constant memory: [`constant!`](crate::constant) makes it.
///
/// Fast where all lanes of a warp read the same address. Dereferences to the value.
#[repr(transparent)]
pub struct Constant<T>(UnsafeCell<T>);

// SAFETY: only read while kernels run; the host writes before and after.
unsafe impl<T: Pod + Sync> Sync for Constant<T> {}

impl<T: Pod> Constant<T> {
    /// With this initial value.
    pub const fn new(value: T) -> Constant<T> {
        Constant(UnsafeCell::new(value))
    }
}

impl<T: Pod> Deref for Constant<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: constant memory is not written while a kernel runs: the host's side of the static holds that.
        unsafe { &*self.0.get() }
    }
}

/// A plain value in global memory that kernels may write: [`device_static!`](crate::device_static) makes it.
///
/// Nothing orders the threads' accesses, so they are `unsafe`. An atomic type is mostly what is wanted instead.
#[repr(transparent)]
pub struct Plain<T>(UnsafeCell<T>);

// SAFETY: all access is through a raw pointer, in unsafe code.
unsafe impl<T: Pod + Send + Sync> Sync for Plain<T> {}

impl<T: Pod> Plain<T> {
    /// With this initial value.
    pub const fn new(value: T) -> Plain<T> {
        Plain(UnsafeCell::new(value))
    }

    /// Where it is.
    #[inline(always)]
    pub const fn as_mut_ptr(&self) -> *mut T {
        self.0.get()
    }
}

/// Puts a [`Constant`](crate::statics::Constant) into constant memory.
///
/// Becomes a `.visible .const` object and `ld.const` loads. Any arch.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// warpsmith_device::constant! {
///     /// The filter's taps; the host may set others: `module.global::<[f32; 3]>("TAPS")?.set(&taps)?`.
///     pub static TAPS: [f32; 3] = [0.25, 0.5, 0.25];
/// }
///
/// #[kernel]
/// pub fn filter(x: &[f32], mut out: PerThread<[f32]>) {
///     let index = thread::index();
///     if let (Some(window), Some(out)) = (x.get(index..index + 3), out.mine()) {
///         *out = window.iter().zip(TAPS.iter()).map(|(x, tap)| x * tap).sum();
///     }
/// }
/// ```
#[macro_export]
macro_rules! constant {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $ty:ty = $value:expr;)+) => {$(
        $(#[$attribute])*
        #[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle), unsafe(link_section = ".nv.constant"))]
        $visibility static $name: $crate::statics::Constant<$ty> = $crate::statics::Constant::new($value);
    )+};
}

/// Puts a static into the device's global memory, where the host finds it by name.
///
/// Becomes a `.visible .global` object. Any arch.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// warpsmith_device::device_static! {
///     /// How many elements were negative.
///     pub static NEGATIVE: Atomic<u32> = Atomic::new(0);
/// }
///
/// #[kernel]
/// pub fn count_negative(x: &[f32]) {
///     if x.get(thread::index()).is_some_and(|x| *x < 0.0) {
///         NEGATIVE.fetch_add(1, Relaxed);
///     }
/// }
/// ```
#[macro_export]
macro_rules! device_static {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $ty:ty = $value:expr;)+) => {$(
        $(#[$attribute])*
        #[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle), unsafe(link_section = ".nv.global"))]
        $visibility static $name: $ty = $value;
        const _: () = $crate::statics::assert_any_bytes::<$ty>();
    )+};
}

/// Puts a static into managed memory: one object that device and host reach by its address.
///
/// Becomes a `.visible .global .attribute(.managed)` object. Any arch.
///
/// It exists from the loading of the module to its end, in each module that is loaded; the host's handle to it keeps the module
/// (`Module::managed` of the host library gives guards of it, `Module::global` copies). A
/// [`Constant`](crate::statics::Constant) does not compile here: no memory is both constant and managed.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// warpsmith_device::managed_static! {
///     /// Counts launches.
///     pub static LAUNCHES: Atomic<u32> = Atomic::new(0);
/// }
///
/// #[kernel]
/// pub fn count_launches() {
///     if thread::is_first() {
///         LAUNCHES.fetch_add(1, Relaxed);
///     }
/// }
/// ```
#[macro_export]
macro_rules! managed_static {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $ty:ty = $value:expr;)+) => {$(
        $(#[$attribute])*
        #[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle), unsafe(link_section = ".nv.managed"))]
        $visibility static $name: $ty = $value;
        const _: () = $crate::statics::assert_managed::<$ty>();
    )+};
}

//! `MulticastSlice`: a kernel parameter that is memory of several devices at once, used by `multimem` instructions.

use super::fence::fence;
use super::instructions::{ordered, scoped};
use super::order::{Level, LoadOrder, Scope, Semantics, SeqCst, StoreOrder, scope};
use super::{Atomic, AtomicValue};
use crate::half::{Bf16x2, F16x2};
use core::convert::identity;
use core::marker::PhantomData;

/// Memory of which each device of a team has a replica. An operation of this type reaches the replicas of all devices at once;
/// [`local`](Self::local) is this device's own.
///
/// As a kernel parameter it takes a replica of a `MulticastBuffer<T>` on the host (`buffer.on(&gpu)?`). All operations are strong and of system
/// scope, so that kernels of all devices may use the memory at the same time.
///
/// The local replica is another address of the same memory: between an operation on all replicas and one on the local replica of the
/// same word [`fence::alias`](crate::fence::alias) has to stand, in the thread that executes both; or the first has to end with its kernel. Without
/// it the second may find an old value.
///
/// PTX ISA, `multimem.ld_reduce`, `multimem.st` and `multimem.red`. `sm_90`.
///
/// ```no_run
/// use warpsmith_device::atomic::{Acquire, MulticastSlice, Relaxed, Release};
/// use warpsmith_device::fence;
/// /// One thread of each device: waits until all devices have come here, then gives the sum of their values.
/// fn sum(values: MulticastSlice<'_, f32>, arrived: MulticastSlice<'_, u32>, devices: u32) -> f32 {
///     arrived.reduce_add(0, 1, Release);
///     fence::alias();
///     while arrived.local()[0].load(Acquire) < devices {}
///     fence::alias();
///     values.load_reduce_add(0, Relaxed)
/// }
/// ```
pub struct MulticastSlice<'a, T> {
    team: *mut T,
    local: *const Atomic<T, scope::System>,
    len: usize,
    borrow: PhantomData<&'a [Atomic<T, scope::System>]>,
}

impl<T> Clone for MulticastSlice<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for MulticastSlice<'_, T> {}

impl<'a, T: AtomicValue> MulticastSlice<'a, T> {
    /// The words at the multicast address `team`, whose replica on this device is at `local`.
    ///
    /// # Safety
    /// `team` is an address of a multicast object, to which each device of its team has bound `len` words, this one those at `local`. Both
    /// are aligned to 16 bytes and valid for `'a`, and all that use the words meanwhile do so by strong operations of system scope.
    #[inline(always)]
    pub unsafe fn from_raw_parts(team: *mut T, local: *mut T, len: usize) -> Self {
        Self {
            team,
            local: local.cast_const().cast(),
            len,
            borrow: PhantomData,
        }
    }

    /// Words of each replica.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// This device's replica.
    #[inline(always)]
    pub fn local(self) -> &'a [Atomic<T, scope::System>] {
        // SAFETY: `local` are `len` aligned words, valid for `'a` and used by strong operations of system scope only: the condition of
        // `from_raw_parts`, which alone makes this type.
        unsafe { core::slice::from_raw_parts(self.local, self.len) }
    }

    /// The address of `count` words of all replicas.
    ///
    /// # Panics
    /// There are no such words.
    #[inline(always)]
    fn at(self, index: usize, count: usize) -> *mut T {
        // The panic is a slice's.
        let _ = &self.local()[index..][..count];
        self.team.wrapping_add(index)
    }
}

macro_rules! emit_load_reduce {
    ($semantics:literal, $scope:literal, $operation:literal, $class:ident, $address:expr) => {{
        let value;
        instruction!(
            concat!("multimem.ld_reduce", $semantics, $scope, ".global", $operation, " {value}, [{address}];"),
            value = out($class) value,
            address = in(reg64) super::instructions::global($address),
            options(nostack),
        );
        value
    }};
}

macro_rules! emit_to_all {
    ($semantics:literal, $scope:literal, $opcode:literal, $operation:literal, $class:ident, $address:expr, $value:expr) => {
        instruction!(
            concat!($opcode, $semantics, $scope, ".global", $operation, " [{address}], {value};"),
            address = in(reg64) super::instructions::global($address),
            value = in($class) $value,
            options(nostack),
        )
    };
}

macro_rules! emit_load_reduce_4 {
    ($semantics:literal, $scope:literal, $operation:literal, $address:expr) => {{
        let (a, b, c, d);
        instruction!(
            concat!("multimem.ld_reduce", $semantics, $scope, ".global", $operation, " {{{a}, {b}, {c}, {d}}}, [{address}];"),
            a = out(reg32) a,
            b = out(reg32) b,
            c = out(reg32) c,
            d = out(reg32) d,
            address = in(reg64) super::instructions::global($address),
            options(nostack),
        );
        [a, b, c, d]
    }};
}

macro_rules! emit_to_all_4 {
    ($semantics:literal, $scope:literal, $opcode:literal, $operation:literal, $address:expr, $values:expr) => {
        instruction!(
            concat!($opcode, $semantics, $scope, ".global", $operation, " [{address}], {{{a}, {b}, {c}, {d}}};"),
            address = in(reg64) super::instructions::global($address),
            a = in(reg32) $values[0],
            b = in(reg32) $values[1],
            c = in(reg32) $values[2],
            d = in(reg32) $values[3],
            options(nostack),
        )
    };
}

/// An instruction that writes all replicas, for every order. Sequential consistency is a `fence.sc` before it.
macro_rules! to_all {
    ($order:ident, $emit:ident!($($rest:tt)*)) => {
        match $order::SEMANTICS {
            Semantics::Relaxed => $emit!(".relaxed", ".sys", $($rest)*),
            Semantics::SeqCst => {
                fence(scope::System, SeqCst);
                $emit!(".release", ".sys", $($rest)*)
            }
            _ => $emit!(".release", ".sys", $($rest)*),
        }
    };
}

/// The instructions of a type and of one kind of operation. An operation is written as it loads and as it reduces.
macro_rules! operations {
    ($(
        $(#[$about:meta])*
        $trait:ident($($load:ident, $reduce:ident, $name:literal;)*) {
            $($type:ty, $class:ident, $from:path, $into:path $(, $loaded:literal $reduced:literal)*;)*
        }
    )*) => {$(
        $(#[$about])*
        ///
        /// # Safety of the functions
        /// `address` is an aligned multicast address, whose replicas are valid and used by strong operations of system scope only.
        #[allow(clippy::missing_safety_doc)]
        pub trait $trait: AtomicValue {
            $(
                #[doc(hidden)]
                unsafe fn $load<O: LoadOrder>(address: *mut Self) -> Self;
                #[doc(hidden)]
                unsafe fn $reduce<O: StoreOrder>(address: *mut Self, value: Self);
            )*
        }
        operations! { @types $trait [$($load $reduce)*] $($type, $class, $from, $into, [$($loaded $reduced)*];)* }

        impl<T: $trait> MulticastSlice<'_, T> {$(
            #[doc = concat!("The ", $name, " of a word of all replicas, each read once, in an order that is not defined.")]
            ///
            /// ```no_run
            /// use warpsmith_device::atomic::{MulticastSlice, Relaxed};
            #[doc = concat!("fn example(words: MulticastSlice<'_, u32>) -> u32 { words.", stringify!($load), "(0, Relaxed) }")]
            /// ```
            ///
            /// # Panics
            /// There is no word `index`.
            #[inline(always)]
            pub fn $load<O: LoadOrder>(self, index: usize, _order: O) -> T {
                // SAFETY: `at` has found the word inside, whose replicas are valid and used by strong operations of system scope only, by
                // the condition of `from_raw_parts`.
                unsafe { T::$load::<O>(self.at(index, 1)) }
            }

            #[doc = concat!("Makes a word of each replica the ", $name, " of it and `value`.")]
            ///
            /// ```no_run
            /// use warpsmith_device::atomic::{MulticastSlice, Release};
            #[doc = concat!("fn example(words: MulticastSlice<'_, u32>) { words.", stringify!($reduce), "(0, 3, Release) }")]
            /// ```
            ///
            /// # Panics
            /// There is no word `index`.
            #[inline(always)]
            pub fn $reduce<O: StoreOrder>(self, index: usize, value: T, _order: O) {
                // SAFETY: `at` has found the word inside, whose replicas are valid and used by strong operations of system scope only, by
                // the condition of `from_raw_parts`.
                unsafe { T::$reduce::<O>(self.at(index, 1), value) }
            }
        )*}
    )*};
    (@types $trait:ident $functions:tt $($type:ty, $class:ident, $from:path, $into:path, $operations:tt;)*) => {
        $(operations! { @impl $trait $type, $class, $from, $into, $functions $operations })*
    };
    (
        @impl $trait:ident $type:ty, $class:ident, $from:path, $into:path,
        [$($load:ident $reduce:ident)*] [$($loaded:literal $reduced:literal)*]
    ) => {
        impl $trait for $type {
            $(
                #[inline(always)]
                unsafe fn $load<O: LoadOrder>(address: *mut Self) -> Self {
                    type S = scope::System;
                    // SAFETY: a valid multicast address, used by strong operations only (the condition of this trait's functions).
                    $from(unsafe { ordered!(S, O, emit_load_reduce!($loaded, $class, address)) })
                }
                #[inline(always)]
                unsafe fn $reduce<O: StoreOrder>(address: *mut Self, value: Self) {
                    let value = $into(value);
                    // SAFETY: a valid multicast address, used by strong operations only (the condition of this trait's functions).
                    unsafe { to_all!(O, emit_to_all!("multimem.red", $reduced, $class, address, value)) }
                }
            )*
        }
    };
}

operations! {
    /// Words that all replicas are added of: `u32`, `i32`, `u64`, `i64`, `f32`, `f64`, `F16x2`, `Bf16x2`. Sums of halves are made in single
    /// precision and rounded once.
    MulticastAdd(load_reduce_add, reduce_add, "sum";) {
        u32, reg32, identity, identity, ".add.u32" ".add.u32";
        i32, reg32, identity, identity, ".add.s32" ".add.s32";
        u64, reg64, identity, identity, ".add.u64" ".add.u64";
        i64, reg64, identity, identity, ".add.u64" ".add.u64";
        f32, reg32, identity, identity, ".add.f32" ".add.f32";
        f64, reg64, identity, identity, ".add.f64" ".add.f64";
        F16x2, reg32, F16x2::from_bits, F16x2::to_bits, ".add.acc::f32.f16x2" ".add.f16x2";
        Bf16x2, reg32, Bf16x2::from_bits, Bf16x2::to_bits, ".add.acc::f32.bf16x2" ".add.bf16x2";
    }
    /// Words whose least or greatest of all replicas is taken: `u32`, `i32`, `u64`, `i64`.
    MulticastOrder(load_reduce_min, reduce_min, "minimum"; load_reduce_max, reduce_max, "maximum";) {
        u32, reg32, identity, identity, ".min.u32" ".min.u32", ".max.u32" ".max.u32";
        i32, reg32, identity, identity, ".min.s32" ".min.s32", ".max.s32" ".max.s32";
        u64, reg64, identity, identity, ".min.u64" ".min.u64", ".max.u64" ".max.u64";
        i64, reg64, identity, identity, ".min.s64" ".min.s64", ".max.s64" ".max.s64";
    }
    /// Words whose bits of all replicas are combined: `u32`, `i32`, `u64`, `i64`.
    MulticastBits(
        load_reduce_and, reduce_and, "bitwise AND"; load_reduce_or, reduce_or, "bitwise OR";
        load_reduce_xor, reduce_xor, "bitwise XOR";
    ) {
        u32, reg32, identity, identity, ".and.b32" ".and.b32", ".or.b32" ".or.b32", ".xor.b32" ".xor.b32";
        i32, reg32, identity, identity, ".and.b32" ".and.b32", ".or.b32" ".or.b32", ".xor.b32" ".xor.b32";
        u64, reg64, identity, identity, ".and.b64" ".and.b64", ".or.b64" ".or.b64", ".xor.b64" ".xor.b64";
        i64, reg64, identity, identity, ".and.b64" ".and.b64", ".or.b64" ".or.b64", ".xor.b64" ".xor.b64";
    }
}

/// Words that can be stored to all replicas: `u32`, `i32`, `u64`, `i64`, `f32`, `f64`, `F16x2`, `Bf16x2`.
///
/// # Safety of the functions
/// `address` is an aligned multicast address, whose replicas are valid and used by strong operations of system scope only.
#[allow(clippy::missing_safety_doc)]
pub trait MulticastStore: AtomicValue {
    #[doc(hidden)]
    unsafe fn store_all<O: StoreOrder>(address: *mut Self, value: Self);
}

macro_rules! stores {
    ($($type:ty, $class:ident, $into:path, $name:literal;)*) => {$(
        impl MulticastStore for $type {
            #[inline(always)]
            unsafe fn store_all<O: StoreOrder>(address: *mut Self, value: Self) {
                let value = $into(value);
                // SAFETY: a valid multicast address, used by strong operations only (the condition of this trait's functions).
                unsafe { to_all!(O, emit_to_all!("multimem.st", $name, $class, address, value)) }
            }
        }
    )*};
}
stores! {
    u32, reg32, identity, ".u32";
    i32, reg32, identity, ".s32";
    u64, reg64, identity, ".u64";
    i64, reg64, identity, ".s64";
    f32, reg32, identity, ".f32";
    f64, reg64, identity, ".f64";
    F16x2, reg32, F16x2::to_bits, ".f16x2";
    Bf16x2, reg32, Bf16x2::to_bits, ".bf16x2";
}

impl<T: MulticastStore> MulticastSlice<'_, T> {
    /// Stores a word to each replica.
    ///
    /// ```no_run
    /// use warpsmith_device::atomic::{MulticastSlice, Relaxed};
    /// fn example(words: MulticastSlice<'_, f32>) { words.store(0, 1.5, Relaxed) }
    /// ```
    ///
    /// # Panics
    /// There is no word `index`.
    #[inline(always)]
    pub fn store<O: StoreOrder>(self, index: usize, value: T, _order: O) {
        // SAFETY: `at` has found the word inside, whose replicas are valid and used by strong operations of system scope only, by the
        // condition of `from_raw_parts`.
        unsafe { T::store_all::<O>(self.at(index, 1), value) }
    }
}

/// Words of which one instruction takes four: `f32`, `F16x2`, `Bf16x2`. There is no such store: PTX has a weak one alone.
///
/// # Safety of the functions
/// `address` is a multicast address, aligned to 16 bytes, of four words whose replicas are valid and used by strong operations of system scope
/// only.
#[allow(clippy::missing_safety_doc)]
pub trait MulticastGroup: AtomicValue {
    #[doc(hidden)]
    unsafe fn load_add_4<O: LoadOrder>(address: *mut Self) -> [Self; 4];
    #[doc(hidden)]
    unsafe fn add_4<O: StoreOrder>(address: *mut Self, values: [Self; 4]);
}

macro_rules! groups {
    ($($type:ty, $from:path, $into:path, $loaded:literal $reduced:literal;)*) => {$(
        impl MulticastGroup for $type {
            #[inline(always)]
            unsafe fn load_add_4<O: LoadOrder>(address: *mut Self) -> [Self; 4] {
                type S = scope::System;
                // SAFETY: a valid multicast address, used by strong operations only (the condition of this trait's functions).
                let sums = unsafe { ordered!(S, O, emit_load_reduce_4!($loaded, address)) };
                sums.map($from)
            }
            #[inline(always)]
            unsafe fn add_4<O: StoreOrder>(address: *mut Self, values: [Self; 4]) {
                let values = values.map($into);
                // SAFETY: a valid multicast address, used by strong operations only (the condition of this trait's functions).
                unsafe { to_all!(O, emit_to_all_4!("multimem.red", $reduced, address, values)) }
            }
        }
    )*};
}
groups! {
    f32, identity, identity, ".add.v4.f32" ".add.v4.f32";
    F16x2, F16x2::from_bits, F16x2::to_bits, ".add.acc::f32.v4.f16x2" ".add.v4.f16x2";
    Bf16x2, Bf16x2::from_bits, Bf16x2::to_bits, ".add.acc::f32.v4.bf16x2" ".add.v4.bf16x2";
}

impl<T: MulticastGroup> MulticastSlice<'_, T> {
    /// The address of a group of all replicas.
    ///
    /// # Panics
    /// There is no such group of four words.
    #[inline(always)]
    fn group(self, group: usize) -> *mut T {
        self.at(group.saturating_mul(4), 4)
    }

    /// The sums of the four words from `4 * group` on, of all replicas, by one instruction. It is no more atomic than four.
    ///
    /// ```no_run
    /// use warpsmith_device::atomic::{MulticastSlice, Relaxed};
    /// fn example(words: MulticastSlice<'_, f32>) -> [f32; 4] { words.load_reduce_add_4(0, Relaxed) }
    /// ```
    ///
    /// # Panics
    /// There are not so many words.
    #[inline(always)]
    pub fn load_reduce_add_4<O: LoadOrder>(self, group: usize, _order: O) -> [T; 4] {
        // SAFETY: `group` has found the words inside, which begin at a multiple of 16 bytes; their replicas are valid and used by strong
        // operations of system scope only, by the condition of `from_raw_parts`.
        unsafe { T::load_add_4::<O>(self.group(group)) }
    }

    /// Adds to the four words from `4 * group` on, of each replica, by one instruction. Each word is added to apart.
    ///
    /// ```no_run
    /// use warpsmith_device::atomic::{MulticastSlice, Relaxed};
    /// fn example(words: MulticastSlice<'_, f32>) { words.reduce_add_4(0, [1.0, 2.0, 3.0, 4.0], Relaxed) }
    /// ```
    ///
    /// # Panics
    /// There are not so many words.
    #[inline(always)]
    pub fn reduce_add_4<O: StoreOrder>(self, group: usize, values: [T; 4], _order: O) {
        // SAFETY: `group` has found the words inside, which begin at a multiple of 16 bytes; their replicas are valid and used by strong
        // operations of system scope only, by the condition of `from_raw_parts`.
        unsafe { T::add_4::<O>(self.group(group), values) }
    }
}

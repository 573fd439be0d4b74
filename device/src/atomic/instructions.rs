//! The PTX behind each atomic operation: one unsafe function per operation and type.
//!
//! Scope and order are constants of the instantiation, so all arms but one vanish.

use super::fence::fence;
use super::order::{Level, LoadOrder, Order, Scope, Semantics, SeqCst, StoreOrder};
use super::traits::{
    AddInstructions, BitInstructions, OrderInstructions, ValueInstructions, WrapInstructions,
};
use crate::half::{Bf16x2, F16x2};
use half::{bf16, f16};

/// `EMIT!(SEMANTICS, SCOPE, rest...)` for the scope `$scope`.
macro_rules! scoped {
    ($scope:ty, $semantics:literal, $emit:ident!($($rest:tt)*)) => {
        match <$scope>::LEVEL {
            Level::Block => $emit!($semantics, ".cta", $($rest)*),
            #[cfg(warpsmith_arch_at_least = "90")]
            Level::Cluster => $emit!($semantics, ".cluster", $($rest)*),
            Level::Device => $emit!($semantics, ".gpu", $($rest)*),
            Level::System => $emit!($semantics, ".sys", $($rest)*),
        }
    };
}

/// The same for every order. Sequential consistency is a `fence.sc` before the operation.
macro_rules! ordered {
    ($scope:ident, $order:ident, $emit:ident!($($rest:tt)*)) => {
        match $order::SEMANTICS {
            Semantics::Relaxed => scoped!($scope, ".relaxed", $emit!($($rest)*)),
            Semantics::Acquire => scoped!($scope, ".acquire", $emit!($($rest)*)),
            Semantics::Release => scoped!($scope, ".release", $emit!($($rest)*)),
            Semantics::AcqRel => scoped!($scope, ".acq_rel", $emit!($($rest)*)),
            Semantics::SeqCst => {
                fence($scope::default_value(), SeqCst);
                scoped!($scope, ".acquire", $emit!($($rest)*))
            }
        }
    };
}
pub(super) use {ordered, scoped};

/// The address within global memory of a generic pointer to it.
#[inline(always)]
pub(super) fn global<T>(pointer: *mut T) -> u64 {
    let address: u64;
    // SAFETY: address arithmetic only.
    unsafe {
        instruction!("cvta.to.global.u64 {address}, {pointer};", address = out(reg64) address,
            pointer = in(reg64) pointer, options(pure, nomem, nostack));
    }
    address
}

macro_rules! emit_load {
    ($semantics:literal, $scope:literal, $type:literal, $class:ident, $address:expr) => {{
        let value;
        instruction!(
            concat!("ld", $semantics, $scope, "/*space={address}*/", $type, " {value}, [{address}];"),
            value = out($class) value,
            address = in(reg64) $address,
            options(nostack, readonly),
        );
        value
    }};
}

macro_rules! emit_store {
    ($semantics:literal, $scope:literal, $type:literal, $class:ident, $address:expr, $value:expr) => {
        instruction!(
            concat!("st", $semantics, $scope, "/*space={address}*/", $type, " [{address}], {value};"),
            address = in(reg64) $address,
            value = in($class) $value,
            options(nostack),
        )
    };
}

macro_rules! emit_atom {
    ($semantics:literal, $scope:literal, $operation:literal, $class:ident, $address:expr, $value:expr) => {{
        let old;
        instruction!(
            concat!("atom", $semantics, $scope, "/*space={address}*/", $operation, " {old}, [{address}], {value};"),
            old = out($class) old,
            address = in(reg64) $address,
            value = in($class) $value,
            options(nostack),
        );
        old
    }};
}

macro_rules! emit_cas {
    ($semantics:literal, $scope:literal, $operation:literal, $class:ident,
     $address:expr, $current:expr, $new:expr) => {{
        let old;
        instruction!(
            concat!("atom", $semantics, $scope, "/*space={address}*/", $operation, " {old}, [{address}], {current}, {new};"),
            old = out($class) old,
            address = in(reg64) $address,
            current = in($class) $current,
            new = in($class) $new,
            options(nostack),
        );
        old
    }};
}

macro_rules! emit_red {
    ($semantics:literal, $scope:literal, $operation:literal, $class:ident, $address:expr, $value:expr) => {
        instruction!(
            concat!("red", $semantics, $scope, "/*space={address}*/", $operation, " [{address}], {value};"),
            address = in(reg64) $address,
            value = in($class) $value,
            options(nostack),
        )
    };
}

/// A read-modify-write function (`atom`) and its twin without result (`red`).
macro_rules! read_modify_write {
    ($fetch:ident, $reduce:ident, $type:ty, $class:ident, $operation:literal) => {
        #[inline(always)]
        unsafe fn $fetch<S: Scope, O: Order>(address: *mut Self, value: Self) -> Self {
            // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
            unsafe { ordered!(S, O, emit_atom!($operation, $class, address, value)) }
        }
        #[inline(always)]
        unsafe fn $reduce<S: Scope, O: StoreOrder>(address: *mut Self, value: Self) {
            if matches!(O::SEMANTICS, Semantics::SeqCst) {
                fence(S::default_value(), SeqCst);
            }
            // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
            unsafe {
                if matches!(O::SEMANTICS, Semantics::Release) {
                    scoped!(S, ".release", emit_red!($operation, $class, address, value))
                } else {
                    scoped!(S, ".relaxed", emit_red!($operation, $class, address, value))
                }
            }
        }
    };
}

/// Load and store.
macro_rules! load_and_store {
    ($class:ident, $memory:literal) => {
        #[inline(always)]
        unsafe fn load<S: Scope, O: LoadOrder>(address: *const Self) -> Self {
            if matches!(O::SEMANTICS, Semantics::SeqCst) {
                fence(S::default_value(), SeqCst);
            }
            // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
            unsafe {
                if matches!(O::SEMANTICS, Semantics::Relaxed) {
                    scoped!(S, ".relaxed", emit_load!($memory, $class, address))
                } else {
                    scoped!(S, ".acquire", emit_load!($memory, $class, address))
                }
            }
        }
        #[inline(always)]
        unsafe fn store<S: Scope, O: StoreOrder>(address: *mut Self, value: Self) {
            if matches!(O::SEMANTICS, Semantics::SeqCst) {
                fence(S::default_value(), SeqCst);
            }
            // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
            unsafe {
                if matches!(O::SEMANTICS, Semantics::Release) {
                    scoped!(S, ".release", emit_store!($memory, $class, address, value))
                } else {
                    scoped!(S, ".relaxed", emit_store!($memory, $class, address, value))
                }
            }
        }
    };
}

macro_rules! values {
    ($($type:ty: $class:ident $memory:literal $exchange:literal $cas:literal, $bits:ty: $to_bits:expr;)*) => {$(
        impl ValueInstructions for $type {
            load_and_store!($class, $memory);
            #[inline(always)]
            unsafe fn swap<S: Scope, O: Order>(address: *mut Self, value: Self) -> Self {
                // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
                unsafe { ordered!(S, O, emit_atom!($exchange, $class, address, value)) }
            }
            #[inline(always)]
            unsafe fn compare_and_swap<S: Scope, O: Order>(address: *mut Self, current: Self, new: Self) -> Self {
                // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
                unsafe { ordered!(S, O, emit_cas!($cas, $class, address, current, new)) }
            }
            #[inline(always)]
            fn same_bits(self, other: Self) -> bool {
                let bits: fn(Self) -> $bits = $to_bits;
                bits(self) == bits(other)
            }
        }
    )*};
}
values! {
    u32: reg32 ".b32" ".exch.b32" ".cas.b32", u32: |x| x;
    i32: reg32 ".b32" ".exch.b32" ".cas.b32", i32: |x| x;
    f32: reg32 ".b32" ".exch.b32" ".cas.b32", u32: f32::to_bits;
    u64: reg64 ".b64" ".exch.b64" ".cas.b64", u64: |x| x;
    i64: reg64 ".b64" ".exch.b64" ".cas.b64", i64: |x| x;
    f64: reg64 ".b64" ".exch.b64" ".cas.b64", u64: f64::to_bits;
}

impl ValueInstructions for u16 {
    load_and_store!(reg16, ".b16");
    #[inline(always)]
    unsafe fn swap<S: Scope, O: Order>(address: *mut Self, value: Self) -> Self {
        // PTX has no 16-bit exchange.
        // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
        unsafe {
            let mut current = Self::load::<S, super::Relaxed>(address);
            loop {
                let seen = Self::compare_and_swap::<S, O>(address, current, value);
                if seen == current {
                    return seen;
                }
                current = seen;
            }
        }
    }
    #[inline(always)]
    unsafe fn compare_and_swap<S: Scope, O: Order>(
        address: *mut Self,
        current: Self,
        new: Self,
    ) -> Self {
        // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
        unsafe { ordered!(S, O, emit_cas!(".cas.b16", reg16, address, current, new)) }
    }
    #[inline(always)]
    fn same_bits(self, other: Self) -> bool {
        self == other
    }
}

/// Types that are another type's bits.
macro_rules! values_by_bits {
    ($($type:ty as $bits:ty: $from:path, $into:path;)*) => {$(
        impl ValueInstructions for $type {
            #[inline(always)]
            unsafe fn load<S: Scope, O: LoadOrder>(address: *const Self) -> Self {
                // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions); both types
                // have one layout.
                unsafe { $from(<$bits>::load::<S, O>(address.cast())) }
            }
            #[inline(always)]
            unsafe fn store<S: Scope, O: StoreOrder>(address: *mut Self, value: Self) {
                // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions); both types
                // have one layout.
                unsafe { <$bits>::store::<S, O>(address.cast(), $into(value)) }
            }
            #[inline(always)]
            unsafe fn swap<S: Scope, O: Order>(address: *mut Self, value: Self) -> Self {
                // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions); both types
                // have one layout.
                unsafe { $from(<$bits>::swap::<S, O>(address.cast(), $into(value))) }
            }
            #[inline(always)]
            unsafe fn compare_and_swap<S: Scope, O: Order>(address: *mut Self, current: Self, new: Self) -> Self {
                // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions); both types
                // have one layout.
                unsafe { $from(<$bits>::compare_and_swap::<S, O>(address.cast(), $into(current), $into(new))) }
            }
            #[inline(always)]
            fn same_bits(self, other: Self) -> bool {
                $into(self) == $into(other)
            }
        }
    )*};
}
values_by_bits! {
    f16 as u16: f16::from_bits, f16::to_bits;
    bf16 as u16: bf16::from_bits, bf16::to_bits;
    F16x2 as u32: F16x2::from_bits, F16x2::to_bits;
    Bf16x2 as u32: Bf16x2::from_bits, Bf16x2::to_bits;
}

macro_rules! additions {
    ($($type:ty: $class:ident $operation:literal, $negate:expr;)*) => {$(
        impl AddInstructions for $type {
            read_modify_write!(fetch_add, add, $type, $class, $operation);
            #[inline(always)]
            fn negated(self) -> Self {
                let negate: fn(Self) -> Self = $negate;
                negate(self)
            }
        }
    )*};
}
additions! {
    u32: reg32 ".add.u32", u32::wrapping_neg;
    i32: reg32 ".add.s32", i32::wrapping_neg;
    u64: reg64 ".add.u64", u64::wrapping_neg;
    i64: reg64 ".add.u64", i64::wrapping_neg;
    f32: reg32 ".add.f32", |x| -x;
    f64: reg64 ".add.f64", |x| -x;
}

macro_rules! additions_by_bits {
    ($($(#[$attribute:meta])* $type:ty as $class:ident $operation:literal: $from:path, $into:path, $sign:literal;)*) => {$(
        $(#[$attribute])*
        impl AddInstructions for $type {
            #[inline(always)]
            unsafe fn fetch_add<S: Scope, O: Order>(address: *mut Self, value: Self) -> Self {
                let value = $into(value);
                // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
                unsafe { $from(ordered!(S, O, emit_atom!($operation, $class, address, value))) }
            }
            #[inline(always)]
            unsafe fn add<S: Scope, O: StoreOrder>(address: *mut Self, value: Self) {
                if matches!(O::SEMANTICS, Semantics::SeqCst) {
                    fence(S::default_value(), SeqCst);
                }
                let value = $into(value);
                // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
                unsafe {
                    if matches!(O::SEMANTICS, Semantics::Release) {
                        scoped!(S, ".release", emit_red!($operation, $class, address, value))
                    } else {
                        scoped!(S, ".relaxed", emit_red!($operation, $class, address, value))
                    }
                }
            }
            #[inline(always)]
            fn negated(self) -> Self {
                $from($into(self) ^ $sign)
            }
        }
    )*};
}
additions_by_bits! {
    f16 as reg16 ".add.noftz.f16": f16::from_bits, f16::to_bits, 0x8000;
    F16x2 as reg32 ".add.noftz.f16x2": F16x2::from_bits, F16x2::to_bits, 0x8000_8000;
    bf16 as reg16 ".add.noftz.bf16": bf16::from_bits, bf16::to_bits, 0x8000;
    Bf16x2 as reg32 ".add.noftz.bf16x2": Bf16x2::from_bits, Bf16x2::to_bits, 0x8000_8000;
}

macro_rules! minima_and_maxima {
    ($($type:ty: $class:ident $min:literal $max:literal;)*) => {$(
        impl OrderInstructions for $type {
            read_modify_write!(fetch_min, min, $type, $class, $min);
            read_modify_write!(fetch_max, max, $type, $class, $max);
        }
    )*};
}
minima_and_maxima! {
    u32: reg32 ".min.u32" ".max.u32";
    i32: reg32 ".min.s32" ".max.s32";
    u64: reg64 ".min.u64" ".max.u64";
    i64: reg64 ".min.s64" ".max.s64";
}

macro_rules! bit_operations {
    ($($type:ty: $class:ident $and:literal $or:literal $xor:literal;)*) => {$(
        impl BitInstructions for $type {
            read_modify_write!(fetch_and, and, $type, $class, $and);
            read_modify_write!(fetch_or, or, $type, $class, $or);
            read_modify_write!(fetch_xor, xor, $type, $class, $xor);
        }
    )*};
}
bit_operations! {
    u32: reg32 ".and.b32" ".or.b32" ".xor.b32";
    i32: reg32 ".and.b32" ".or.b32" ".xor.b32";
    u64: reg64 ".and.b64" ".or.b64" ".xor.b64";
    i64: reg64 ".and.b64" ".or.b64" ".xor.b64";
}

impl WrapInstructions for u32 {
    read_modify_write!(fetch_inc, inc, u32, reg32, ".inc.u32");
    read_modify_write!(fetch_dec, dec, u32, reg32, ".dec.u32");
}

//! Words of 128 bits, and vectors of floats: what sm_90 added.

use super::order::{GridScope, Level, Order, Scope};
use crate::vector::{Float2, Float4};
use bytemuck::Pod;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Float2 {}
    impl Sealed for super::Float4 {}
}

/// [`Float2`] or [`Float4`]: see [`fetch_add`](AtomicVector::fetch_add).
pub trait AtomicVector: sealed::Sealed + Pod {
    /// Adds to the vector at `address` in *global* memory, each element atomically by itself (not the vector as one), and
    /// returns the old elements. Rounds to nearest even.
    ///
    /// PTX: `atom.global.add.v2.f32`, `atom.global.add.v4.f32`, PTX ISA 8.1. Arch: sm_90. CUDA C++: `atomicAdd` of `float2`
    /// and `float4`. Guide §7.14.1.1.
    ///
    /// # Safety
    /// `address` is aligned to the vector's size, leads to valid global memory, and meanwhile the elements are only used
    /// atomically in scopes that include each other's threads.
    ///
    /// ```no_run
    /// # use warpsmith_device::atomic::*;
    /// # use warpsmith_device::vector::Float4;
    /// unsafe fn splat(pixel: *mut Float4, colour: Float4) {
    ///     // SAFETY: the pixel is in global memory, and all threads add to it atomically.
    ///     unsafe { Float4::fetch_add(pixel, colour, scope::Device, Relaxed) };
    /// }
    /// ```
    unsafe fn fetch_add<S: GridScope, O: Order>(
        address: *mut Self,
        value: Self,
        scope: S,
        order: O,
    ) -> Self;
}

mod sm_90 {
    use super::super::fence::fence;
    use super::super::instructions::{ordered, scoped};
    use super::super::order::{LoadOrder, Semantics, SeqCst, StoreOrder};
    use super::super::traits::ValueInstructions;
    use super::*;

    macro_rules! emit_add2 {
        ($semantics:literal, $scope:literal, $address:expr, $value:expr) => {{
            let (x, y);
            instruction!(
                concat!("atom", $semantics, $scope, ".global.add.v2.f32 {{{x}, {y}}}, [{address}], {{{a}, {b}}};"),
                x = out(reg32) x, y = out(reg32) y,
                address = in(reg64) super::super::instructions::global($address),
                a = in(reg32) $value.x, b = in(reg32) $value.y,
                options(nostack),
            );
            Float2::new(x, y)
        }};
    }
    macro_rules! emit_add4 {
        ($semantics:literal, $scope:literal, $address:expr, $value:expr) => {{
            let (x, y, z, w);
            instruction!(
                concat!("atom", $semantics, $scope,
                    ".global.add.v4.f32 {{{x}, {y}, {z}, {w}}}, [{address}], {{{a}, {b}, {c}, {d}}};"),
                x = out(reg32) x, y = out(reg32) y, z = out(reg32) z, w = out(reg32) w,
                address = in(reg64) super::super::instructions::global($address),
                a = in(reg32) $value.x, b = in(reg32) $value.y,
                c = in(reg32) $value.z, d = in(reg32) $value.w,
                options(nostack),
            );
            Float4::new(x, y, z, w)
        }};
    }

    impl AtomicVector for Float2 {
        #[inline(always)]
        unsafe fn fetch_add<S: GridScope, O: Order>(
            address: *mut Self,
            value: Self,
            _: S,
            _: O,
        ) -> Self {
            // SAFETY: `address` is aligned, valid and accessed atomically only, by the function's condition.
            unsafe { ordered!(S, O, emit_add2!(address, value)) }
        }
    }
    impl AtomicVector for Float4 {
        #[inline(always)]
        unsafe fn fetch_add<S: GridScope, O: Order>(
            address: *mut Self,
            value: Self,
            _: S,
            _: O,
        ) -> Self {
            // SAFETY: `address` is aligned, valid and accessed atomically only, by the function's condition.
            unsafe { ordered!(S, O, emit_add4!(address, value)) }
        }
    }

    /// The halves of a 128-bit word.
    #[inline(always)]
    fn halves(value: u128) -> (u64, u64) {
        (value as u64, (value >> 64) as u64)
    }

    #[inline(always)]
    fn whole(low: u64, high: u64) -> u128 {
        u128::from(low) | u128::from(high) << 64
    }

    macro_rules! emit_exchange {
        ($semantics:literal, $scope:literal, $address:expr, $value:expr) => {{
            let (low, high): (u64, u64);
            let (a, b) = halves($value);
            instruction!(
                "{{",
                ".reg .b128 value, old;",
                "mov.b128 value, {{{a}, {b}}};",
                concat!("atom", $semantics, $scope, "/*space={address}*/.exch.b128 old, [{address}], value;"),
                "mov.b128 {{{low}, {high}}}, old;",
                "}}",
                low = out(reg64) low, high = out(reg64) high,
                address = in(reg64) $address, a = in(reg64) a, b = in(reg64) b,
                options(nostack),
            );
            whole(low, high)
        }};
    }
    macro_rules! emit_compare {
        ($semantics:literal, $scope:literal, $address:expr, $current:expr, $new:expr) => {{
            let (low, high): (u64, u64);
            let ((a, b), (c, d)) = (halves($current), halves($new));
            instruction!(
                "{{",
                ".reg .b128 current, value, old;",
                "mov.b128 current, {{{a}, {b}}};",
                "mov.b128 value, {{{c}, {d}}};",
                concat!("atom", $semantics, $scope, "/*space={address}*/.cas.b128 old, [{address}], current, value;"),
                "mov.b128 {{{low}, {high}}}, old;",
                "}}",
                low = out(reg64) low, high = out(reg64) high,
                address = in(reg64) $address, a = in(reg64) a, b = in(reg64) b, c = in(reg64) c, d = in(reg64) d,
                options(nostack),
            );
            whole(low, high)
        }};
    }

    /// `u128`: exchange and compare-and-swap are instructions (PTX ISA 8.3); load and store are made of them.
    impl ValueInstructions for u128 {
        #[inline(always)]
        unsafe fn load<S: Scope, O: LoadOrder>(address: *const Self) -> Self {
            // A compare-and-swap of equal values changes nothing and returns the word.
            // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
            unsafe { Self::compare_and_swap::<S, O>(address.cast_mut(), 0, 0) }
        }
        #[inline(always)]
        unsafe fn store<S: Scope, O: StoreOrder>(address: *mut Self, value: Self) {
            // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
            unsafe { Self::swap::<S, O>(address, value) };
        }
        #[inline(always)]
        unsafe fn swap<S: Scope, O: Order>(address: *mut Self, value: Self) -> Self {
            // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
            unsafe { ordered!(S, O, emit_exchange!(address, value)) }
        }
        #[inline(always)]
        unsafe fn compare_and_swap<S: Scope, O: Order>(
            address: *mut Self,
            current: Self,
            new: Self,
        ) -> Self {
            // SAFETY: `address` is valid, aligned and accessed atomically only (the condition of this trait's functions).
            unsafe { ordered!(S, O, emit_compare!(address, current, new)) }
        }
        #[inline(always)]
        fn same_bits(self, other: Self) -> bool {
            self == other
        }
    }
}

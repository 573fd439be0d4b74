//! Which types have which atomic operations. The traits are sealed; their instructions are private to this crate.

use super::order::{LoadOrder, Order, Scope, StoreOrder};

/// Load, store, exchange, compare-and-exchange.
///
/// # Safety of the functions
/// `address` is aligned, in global, shared or local memory, valid, and touched by nothing but atomic operations meanwhile.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc)]
pub trait ValueInstructions: Copy {
    unsafe fn load<S: Scope, O: LoadOrder>(address: *const Self) -> Self;
    unsafe fn store<S: Scope, O: StoreOrder>(address: *mut Self, value: Self);
    unsafe fn swap<S: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
    unsafe fn compare_and_swap<S: Scope, O: Order>(
        address: *mut Self,
        current: Self,
        new: Self,
    ) -> Self;
    fn same_bits(self, other: Self) -> bool;
}

macro_rules! instruction_traits {
    ($($(#[$doc:meta])* $name:ident: $($fetch:ident $reduce:ident),*;)*) => {$(
        $(#[$doc])*
        #[doc(hidden)]
        #[allow(clippy::missing_safety_doc)]
        pub trait $name: ValueInstructions {
            $(
                unsafe fn $fetch<S: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
                unsafe fn $reduce<S: Scope, O: StoreOrder>(address: *mut Self, value: Self);
            )*
        }
    )*};
}
instruction_traits! {
    /// Minimum and maximum.
    OrderInstructions: fetch_min min, fetch_max max;
    /// Bit operations.
    BitInstructions: fetch_and and, fetch_or or, fetch_xor xor;
    /// Counting up and down with a bound.
    WrapInstructions: fetch_inc inc, fetch_dec dec;
}

/// Addition.
#[doc(hidden)]
#[allow(clippy::missing_safety_doc)]
pub trait AddInstructions: ValueInstructions {
    unsafe fn fetch_add<S: Scope, O: Order>(address: *mut Self, value: Self) -> Self;
    unsafe fn add<S: Scope, O: StoreOrder>(address: *mut Self, value: Self);
    fn negated(self) -> Self;
}

/// A type that an [`Atomic`](super::Atomic) can hold: `u16`, `u32`, `i32`, `u64`, `i64`, `f32`, `f64`, `f16`, `bf16`,
/// `F16x2`, `Bf16x2`; from sm_90 on also `u128`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations",
    note = "they exist for u16, u32, i32, u64, i64, f32, f64, f16, bf16, F16x2, Bf16x2, and for u128 from sm_90 on"
)]
pub trait AtomicValue: ValueInstructions {}
impl<T: ValueInstructions> AtomicValue for T {}

/// A type with atomic addition: integers of 32 and 64 bits, `f32`, `f64`, `f16`, `F16x2`; from sm_90 on `bf16`, `Bf16x2`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic addition",
    note = "bf16 and Bf16x2 have it from sm_90 on; others can use `Atomic::fetch_update`"
)]
pub trait AtomicAdd: AtomicValue + AddInstructions {}
impl<T: AddInstructions> AtomicAdd for T {}

/// A type with atomic minimum and maximum: integers of 32 and 64 bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic minimum and maximum",
    note = "integers of 32 and 64 bits have them; others can use `Atomic::fetch_update`"
)]
pub trait AtomicOrder: AtomicValue + OrderInstructions {}
impl<T: OrderInstructions> AtomicOrder for T {}

/// A type with atomic bit operations: integers of 32 and 64 bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic bit operations: integers of 32 and 64 bits have them"
)]
pub trait AtomicBits: AtomicValue + BitInstructions {}
impl<T: BitInstructions> AtomicBits for T {}

/// A type with atomic bounded counting: `u32`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic `inc` and `dec`: only `u32` has them"
)]
pub trait AtomicWrap: AtomicValue + WrapInstructions {}
impl<T: WrapInstructions> AtomicWrap for T {}

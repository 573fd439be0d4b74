//! Functions that the PTX linker calls in the place of instructions that LLVM cannot translate to PTX, or translates wrongly or to slow code.
#![no_std]

mod remainder;
mod wide_division;

/// `x % y`.
#[unsafe(no_mangle)]
pub extern "C" fn __warpsmith_remainder_f32(x: f32, y: f32) -> f32 {
    remainder::f32(x, y)
}

/// `x % y`.
#[unsafe(no_mangle)]
pub extern "C" fn __warpsmith_remainder_f64(x: f64, y: f64) -> f64 {
    remainder::f64(x, y)
}

/// Quotients and remainders of integers; `is_constant` says that of the divisor.
macro_rules! divisions {
    ($($name:ident = $sign:ident($type:ty).$part:tt;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(n: $type, d: $type, is_constant: bool) -> $type {
                wide_division::$sign(n, d, is_constant).$part
            }
        )*
    };
}

divisions! {
    __warpsmith_quotient_u128 = unsigned(u128).0;
    __warpsmith_remainder_u128 = unsigned(u128).1;
    __warpsmith_quotient_i128 = signed(i128).0;
    __warpsmith_remainder_i128 = signed(i128).1;
}

//! Functions that the PTX linker calls in the place of instructions that LLVM cannot translate to PTX, or translates wrongly.
#![no_std]

mod remainder;

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

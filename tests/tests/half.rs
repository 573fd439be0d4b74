//! Arithmetic and conversions of 16-bit floats, bit for bit against the CPU.

#[path = "half/arithmetic.rs"]
mod arithmetic;
#[path = "half/conversions.rs"]
mod conversions;

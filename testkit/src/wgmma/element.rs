//! Elements by their types' names.

/// Bits of an element of this type.
pub fn bits(ty: &str) -> usize {
    match ty {
        "b1" => 1,
        "s8" | "u8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        _ => 32,
    }
}

/// A small whole number in this type. The floating-point ones hold those of at most 3 binary digits.
pub fn encode(ty: &str, value: i32) -> u32 {
    let (exponent_bits, fraction_bits) = match ty {
        "f16" => (5, 10),
        "bf16" => (8, 7),
        "f32" | "tf32" => (8, 23),
        "e4m3" => (4, 3),
        "e5m2" => (5, 2),
        _ => return value as u32 & (u32::MAX >> (32 - bits(ty))),
    };
    if value == 0 {
        return 0;
    }
    let single = (value as f32).to_bits();
    let exponent = (single >> 23 & 255) + (1 << (exponent_bits - 1)) - 128;
    let fraction = (single & 0x7f_ffff) >> (23 - fraction_bits);
    single >> 31 << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction
}

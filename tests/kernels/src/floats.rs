//! Kernels for the floating-point functions.

use warpsmith_device::prelude::*;

/// The exact functions, of three numbers for each thread.
#[kernel(instantiate(f32, f64))]
pub fn exact_floats<T: FloatExt + bytemuck::Pod>(x: &[[T; 3]], mut out: PerThread<[[T; 8]]>) {
    let Some(&[a, b, c]) = x.get(thread::index()) else {
        return;
    };
    if let Some(out) = out.mine() {
        *out = [
            a.sqrt(),
            a.mul_add(b, c),
            a.floor(),
            a.ceil(),
            a.trunc(),
            a.round(),
            a.round_ties_even(),
            a.fract(),
        ];
    }
}

/// The seven operations in one direction each; rows in the order nearest, zero, up, down.
#[kernel(instantiate(f32, f64))]
pub fn rounded_floats<T: FloatRounding + bytemuck::Pod>(
    x: &[[T; 3]],
    mut out: PerThread<[[[T; 7]; 4]]>,
) {
    let Some(&[a, b, c]) = x.get(thread::index()) else {
        return;
    };
    if let Some(out) = out.mine() {
        *out = [
            [
                a.add_rn(b),
                a.sub_rn(b),
                a.mul_rn(b),
                a.div_rn(b),
                a.fma_rn(b, c),
                a.recip_rn(),
                a.sqrt_rn(),
            ],
            [
                a.add_rz(b),
                a.sub_rz(b),
                a.mul_rz(b),
                a.div_rz(b),
                a.fma_rz(b, c),
                a.recip_rz(),
                a.sqrt_rz(),
            ],
            [
                a.add_ru(b),
                a.sub_ru(b),
                a.mul_ru(b),
                a.div_ru(b),
                a.fma_ru(b, c),
                a.recip_ru(),
                a.sqrt_ru(),
            ],
            [
                a.add_rd(b),
                a.sub_rd(b),
                a.mul_rd(b),
                a.div_rd(b),
                a.fma_rd(b, c),
                a.recip_rd(),
                a.sqrt_rd(),
            ],
        ];
    }
}

/// The hardware's approximations, of two numbers for each thread.
#[kernel]
pub fn approximate_floats(x: &[[f32; 2]], mut out: PerThread<[[f32; 11]]>) {
    let Some(&[a, b]) = x.get(thread::index()) else {
        return;
    };
    if let Some(out) = out.mine() {
        *out = [
            a.rsqrt_approx(),
            a.sqrt_approx(),
            a.recip_approx(),
            a.div_approx(b),
            a.div_full_approx(b),
            a.exp2_approx(),
            a.log2_approx(),
            a.sin_approx(),
            a.cos_approx(),
            a.exp_approx(),
            a.ln_approx(),
        ];
    }
}

/// The hyperbolic tangent.
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "75"))]
#[kernel]
pub fn approximate_tanh(x: &[f32], mut out: PerThread<[f32]>) {
    if let (Some(x), Some(out)) = (x.get(thread::index()), out.mine()) {
        *out = x.tanh_approx();
    }
}

/// What `%` computes, of two numbers for each thread.
#[kernel(instantiate(f32, f64))]
pub fn remainders<T: core::ops::Rem<Output = T> + bytemuck::Pod>(
    x: &[[T; 2]],
    mut out: PerThread<[T]>,
) {
    if let (Some(&[x, y]), Some(out)) = (x.get(thread::index()), out.mine()) {
        *out = x % y;
    }
}

/// 128-bit integers as floating-point numbers: unsigned and signed, as the bits of single and double precision.
#[kernel]
pub fn wide_to_floats(x: &[[u64; 2]], mut out: PerThread<[[u64; 4]]>) {
    if let (Some(&x), Some(out)) = (x.get(thread::index()), out.mine()) {
        *out = wide_as_floats(x);
    }
}

/// Floating-point numbers as 128-bit integers: unsigned and signed, of the single precision number and of the double precision one.
#[kernel]
pub fn floats_to_wide(x: &[[u64; 2]], mut out: PerThread<[[u64; 8]]>) {
    if let (Some(&[single, double]), Some(out)) = (x.get(thread::index()), out.mine()) {
        *out = floats_as_wide(f32::from_bits(single as u32), f64::from_bits(double));
    }
}

/// What [`wide_to_floats()`] stores.
pub fn wide_as_floats([low, high]: [u64; 2]) -> [u64; 4] {
    let unsigned = u128::from(high) << 64 | u128::from(low);
    let signed = unsigned as i128;
    [
        (unsigned as f32).to_bits().into(),
        (signed as f32).to_bits().into(),
        (unsigned as f64).to_bits(),
        (signed as f64).to_bits(),
    ]
}

/// What [`floats_to_wide()`] stores.
pub fn floats_as_wide(single: f32, double: f64) -> [u64; 8] {
    let words = |x: u128| [x as u64, (x >> 64) as u64];
    let [a, b] = words(single as u128);
    let [c, d] = words(single as i128 as u128);
    let [e, f] = words(double as u128);
    let [g, h] = words(double as i128 as u128);
    [a, b, c, d, e, f, g, h]
}

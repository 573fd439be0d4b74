//! Kernels for the floating-point functions.

use warpsmith_device::float;
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
            a.rsqrt(),
            a.sqrt_approx(),
            a.recip_approx(),
            a.div_approx(b),
            a.div_full(b),
            a.exp2_approx(),
            a.log2_approx(),
            a.sin_approx(),
            a.cos_approx(),
            float::exp_approx(a),
            float::ln_approx(a),
        ];
    }
}

/// The hyperbolic tangent.
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "75"))]
#[kernel]
pub fn approximate_tanh(x: &[f32], mut out: PerThread<[f32]>) {
    if let (Some(x), Some(out)) = (x.get(thread::index()), out.mine()) {
        *out = float::tanh_approx(*x);
    }
}

//! Fourier transforms of 1024 points, a block a transform.

use core::f32::consts::PI;
use core::mem::swap;
use warpsmith_device::prelude::*;
use warpsmith_device::vector::Float2;

/// Points of a transform.
pub const POINTS: usize = 1024;
/// Threads of a block: each makes one butterfly of four points a step.
pub const THREADS: usize = POINTS / 4;

/// `out` = the transform of each row of `x`, by Stockham's algorithm with radix 4.
#[kernel(launch_bounds(256, exact))]
pub fn fft_radix4(x: Matrix<Float2>, mut out: RowPerBlock<Float2>) {
    let t = thread::thread_idx_x() as usize;
    let mut from = shared!(raw [Float2; POINTS]).as_mut_ptr().cast::<Float2>();
    let mut to = shared!(raw [Float2; POINTS]).as_mut_ptr().cast::<Float2>();
    if let Some(mut own) = out.mine() {
        let row = x.row(own.row());
        // SAFETY: all indices are below 1024. In each step every thread reads `from` and writes its own four elements of `to`; a barrier
        // stands between this step and the next.
        unsafe {
            for j in 0..4 {
                *from.add(t + j * THREADS) = row[t + j * THREADS];
            }
            block::sync();
            let mut p = 1;
            while p < POINTS {
                let k = t % p;
                let angle = -2.0 * PI * k as f32 / (4 * p) as f32;
                let w1 = Float2::new(angle.cos_approx(), angle.sin_approx());
                let w2 = multiply(w1, w1);
                let w3 = multiply(w2, w1);
                let a = *from.add(t);
                let b = multiply(*from.add(t + THREADS), w1);
                let c = multiply(*from.add(t + 2 * THREADS), w2);
                let d = multiply(*from.add(t + 3 * THREADS), w3);
                let (s, u) = (add(a, c), subtract(a, c));
                let (v, w) = (add(b, d), subtract(b, d));
                let base = (t - k) * 4 + k;
                *to.add(base) = add(s, v);
                *to.add(base + p) = Float2::new(u.x + w.y, u.y - w.x);
                *to.add(base + 2 * p) = subtract(s, v);
                *to.add(base + 3 * p) = Float2::new(u.x - w.y, u.y + w.x);
                swap(&mut from, &mut to);
                block::sync();
                p *= 4;
            }
            for (column, to) in own.strided() {
                *to = *from.add(column);
            }
        }
    }
}

fn add(a: Float2, b: Float2) -> Float2 {
    Float2::new(a.x + b.x, a.y + b.y)
}

fn subtract(a: Float2, b: Float2) -> Float2 {
    Float2::new(a.x - b.x, a.y - b.y)
}

fn multiply(a: Float2, b: Float2) -> Float2 {
    Float2::new(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x)
}

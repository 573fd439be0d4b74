//! The largest eigenvalue of a symmetric matrix: three kernels that are the body of a graph's conditional while.
//! Explained in `docs/src/kernels/power_iteration.md`.

use warpsmith_device::graph::Condition;
use warpsmith_device::prelude::*;

/// Threads of a block of `power_multiply` and `power_normalise`.
pub const THREADS: u32 = 256;
/// Rows that a block of `power_multiply` handles, one a warp.
pub const ROWS: u32 = 8;

/// `y := a * x`, `sums[0] += x . y`, `sums[1] += x . x`.
#[kernel(launch_bounds(256, exact))]
pub fn power_multiply(a: Matrix<f32>, x: &[f32], mut y: PerThread<[f32]>, sums: AtomicSlice<f32>) {
    let t = thread::thread_idx_x();
    let (lane, warp) = (t as usize & 31, t >> 5);
    let row = (thread::block_idx_x() * ROWS + warp) as usize;
    let mut sum = 0.0;
    if row < a.rows() {
        let row = a.row(row);
        if (a.stride() | a.columns()) & 3 == 0 {
            let ((a, _), (x, _)) = (row.vectors(), x.vectors());
            let mut other = 0.0;
            let mut i = lane;
            while let (Some(a), Some(x)) = (a.get(i..), x.get(i..))
                && a.len() > 32
                && x.len() > 32
            {
                sum += dot(a[0], x[0]);
                other += dot(a[32], x[32]);
                i += 64;
            }
            if let (Some(a), Some(x)) = (a.get(i), x.get(i)) {
                sum += dot(*a, *x);
            }
            sum += other;
        } else {
            let mut i = lane;
            while let (Some(a), Some(x)) = (row.get(i), x.get(i)) {
                sum += a * x;
                i += 32;
            }
        }
    }
    let sum = warp::reduce(sum, |a, b| a + b);

    let partial = shared!(raw [[f32; 8]; 2]).as_mut_ptr().cast::<f32>();
    // SAFETY: one thread writes each element of `partial`, and it is read after the barrier; one warp of one block has the
    // row's element of y.
    unsafe {
        if lane == 0 {
            let own = x.get(row).copied().unwrap_or(0.0);
            if row < y.len() {
                *y.as_mut_ptr().add(row) = sum;
            }
            *partial.add(warp as usize) = own * sum;
            *partial.add(warp as usize + 8) = own * own;
        }
        block::sync();
        if t < 2 {
            let partial = partial.add(t as usize * 8);
            let mut total = 0.0;
            unroll!(w in [0, 1, 2, 3, 4, 5, 6, 7] {
                total += *partial.add(w);
            });
            sums[t as usize].add(total, Relaxed);
        }
    }
}

fn dot(Vector(a): Vector<f32>, Vector(b): Vector<f32>) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// `x := y / eigenvalue`, so that the vector keeps its length when it has converged.
#[kernel(launch_bounds(256, exact))]
pub fn power_normalise(y: &[f32], mut x: PerThread<[f32]>, sums: &[f32]) {
    if let (Some(y), Some(x)) = (y.get(thread::index()), x.mine()) {
        *x = y * (sums[1] / sums[0]);
    }
}

/// Stores eigenvalue, its last change and the number of iterations in `result`, clears the sums, and decides whether the
/// loop goes on. By one thread.
#[kernel]
pub fn power_check(
    sums: AtomicSlice<f32>,
    result: AtomicSlice<f32>,
    tolerance: f32,
    max_iterations: u32,
    again: Condition,
) {
    let value = sums[0].load(Relaxed) / sums[1].load(Relaxed);
    let change = (value - result[0].load(Relaxed)).abs();
    let iterations = result[2].load(Relaxed) + 1.0;
    result[0].store(value, Relaxed);
    result[1].store(change, Relaxed);
    result[2].store(iterations, Relaxed);
    sums[0].store(0.0, Relaxed);
    sums[1].store(0.0, Relaxed);
    let goes_on = change > tolerance * value.abs() && iterations < max_iterations as f32;
    again.set(u32::from(goes_on));
}

//! How fast the arithmetic units are: the roofs that the benchmark holds the compute-bound kernels against.

use half::f16;
use warpsmith_device::prelude::*;
use warpsmith_device::wmma::{Accumulator, M16N16K16, MatrixA, MatrixB, RowMajor, mma};

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Multiply-adds of a thread in one round of `peak_fma`.
pub const FMA_PER_ROUND: u32 = 128;
/// Products of 16 x 16 x 16 of a warp in one round of `peak_wmma`.
pub const PRODUCTS_PER_ROUND: u32 = 16;

/// Eight independent chains of multiply-adds a thread.
#[kernel(launch_bounds(256, exact))]
pub fn peak_fma(rounds: u32, factor: f32, mut out: PerThread<[f32]>) {
    let start = thread::index() as f32;
    let mut x = [
        start,
        start + 1.0,
        start + 2.0,
        start + 3.0,
        start + 4.0,
        start + 5.0,
        start + 6.0,
        start + 7.0,
    ];
    for _ in 0..rounds {
        unroll!(_turn in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] {
            unroll!(i in [0, 1, 2, 3, 4, 5, 6, 7] {
                x[i] = x[i] * factor + factor;
            });
        });
    }
    if let Some(out) = out.mine() {
        *out = x.iter().sum();
    }
}

/// Eight independent sums of products on the matrix units a warp.
#[kernel(launch_bounds(256, exact))]
pub fn peak_wmma(rounds: u32, a: &[f16], b: &[f16], mut out: PerBlock<[f32]>) {
    let a = MatrixA::<f16, M16N16K16, RowMajor>::load(a, 16);
    let b = MatrixB::<f16, M16N16K16, RowMajor>::load(b, 16);
    let mut sums = [Accumulator::<f32, M16N16K16>::fill(0.0); 8];
    for _ in 0..rounds {
        unroll!(_turn in [0, 1] {
            unroll!(i in [0, 1, 2, 3, 4, 5, 6, 7] {
                sums[i] = mma(&a, &b, &sums[i]);
            });
        });
    }
    let mut total = sums[0];
    unroll!(i in [1, 2, 3, 4, 5, 6, 7] {
        total = total.zip_map(sums[i], |a, b| a + b);
    });
    let mut sum = 0.0;
    total.map(|x| {
        sum += x;
        x
    });
    if let Some(out) = out.leader() {
        *out = sum;
    }
}

//! The sum of an array. Explained in `docs/src/kernels/reduce.md`.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Elements that a block takes in one turn: four vectors of four a thread.
pub const TILE: usize = 4096;

/// `sum[0] += the sum of x`, by a grid of any size.
#[kernel(launch_bounds(256, exact))]
pub fn reduce(x: &[f32], sum: AtomicSlice<f32>) {
    let (vectors, tail) = x.vectors();
    let t = thread::thread_idx_x() as usize;
    let block = thread::block_idx_x() as usize;
    let step = thread::grid_dim_x() as usize * 1024;

    // Four loads on their way at a time, and four sums that do not wait for one another.
    let mut sums = [0.0f32; 4];
    let mut i = block * 1024 + t;
    while let Some(rest) = vectors.get(i..)
        && rest.len() > 768
    {
        let four = [rest[0], rest[256], rest[512], rest[768]];
        sums = [
            sums[0] + add(four[0]),
            sums[1] + add(four[1]),
            sums[2] + add(four[2]),
            sums[3] + add(four[3]),
        ];
        i += step;
    }
    while let Some(vector) = vectors.get(i) {
        sums[0] += add(*vector);
        i += 256;
    }
    if block == 0
        && let Some(x) = tail.get(t)
    {
        sums[1] += x;
    }

    // The lanes of each warp, then the warps.
    let own = warp::reduce((sums[0] + sums[1]) + (sums[2] + sums[3]), |a, b| a + b);
    let partial = shared!(raw [f32; 8]).as_mut_ptr().cast::<f32>();
    let (lane, warp) = (t & 31, t >> 5);
    // SAFETY: eight warps, so in bounds; one thread writes each element, and it is read after the barrier only.
    unsafe {
        if lane == 0 {
            *partial.add(warp) = own;
        }
        block::sync();
        if warp == 0 {
            let own = if lane < 8 { *partial.add(lane) } else { 0.0 };
            let total = warp::reduce(own, |a, b| a + b);
            if lane == 0
                && let Some(sum) = sum.first()
            {
                sum.add(total, Relaxed);
            }
        }
    }
}

fn add(Vector([a, b, c, d]): Vector<f32>) -> f32 {
    (a + b) + (c + d)
}

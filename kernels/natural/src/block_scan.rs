//! Running sums of the elements of each block.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;

/// `out[i]` = the sum of the elements of the thread's block up to `i`.
#[kernel(launch_bounds(256, exact))]
pub fn block_scan(x: &[u32], mut out: PerThread<[u32]>) {
    let t = thread::thread_idx_x() as usize;
    let mut buffer = shared!([u32; THREADS]);
    let mut sum = x.get(thread::index()).copied().unwrap_or(0);
    let mut distance = 1;
    while distance < THREADS {
        let sums = buffer.refill().write(sum).sync();
        if t >= distance {
            sum = sum.wrapping_add(sums[t - distance]);
        }
        distance *= 2;
    }
    if let Some(out) = out.mine() {
        *out = sum;
    }
}

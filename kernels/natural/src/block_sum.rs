//! The sum of the elements of each block.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;

/// `sums[b]` = the sum of block `b`'s elements, by a tree in shared memory.
#[kernel(launch_bounds(256, exact))]
pub fn block_sum(x: &[f32], mut sums: PerBlock<[f32]>) {
    let own = x.get(thread::index()).copied().unwrap_or(0.0);
    let total = shared!([f32; THREADS]).write(own).reduce(|a, b| a + b);
    if let Some(sum) = sums.leader() {
        *sum = total;
    }
}

//! The sum of the elements of each block.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;

/// `sums[b]` = the sum of block `b`'s elements, by a tree in shared memory.
#[kernel(launch_bounds(256, exact))]
pub fn block_sum(x: &[f32], mut sums: PerBlock<[f32]>) {
    let t = thread::thread_idx_x() as usize;
    let own = x.get(thread::index()).copied().unwrap_or(0.0);
    let mut all = shared!([f32; THREADS]).write(own).sync();
    let mut distance = THREADS / 2;
    while distance > 0 {
        let other = if t < distance { all[t + distance] } else { 0.0 };
        let mut own = all.sync_mut();
        if let Some(own) = own.mine() {
            *own += other;
        }
        all = own.sync();
        distance /= 2;
    }
    if let Some(sum) = sums.leader() {
        *sum = all[0];
    }
}

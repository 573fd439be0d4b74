//! The rank of each key among all, by counting those that go before it, through tiles in shared memory.

use warpsmith_device::prelude::*;

/// Threads of a block, and keys of a tile.
pub const THREADS: usize = 256;

/// Where each key goes in sorted order; of equal keys the first one goes first.
#[kernel(launch_bounds(256, exact))]
pub fn rank_sort(keys: &[i32], mut ranks: PerThread<[u32]>) {
    let i = thread::index();
    let own = keys.get(i).copied().unwrap_or(i32::MAX);
    let mut tile = shared!([i32; THREADS]);
    let mut rank = 0;
    for start in (0..keys.len()).step_by(THREADS) {
        let at = start + thread::thread_idx_x() as usize;
        let others = tile
            .refill()
            .write(keys.get(at).copied().unwrap_or(i32::MAX))
            .sync();
        for (j, &other) in others.iter().enumerate() {
            if other < own || (other == own && start + j < i) {
                rank += 1;
            }
        }
    }
    if let Some(out) = ranks.mine() {
        *out = rank;
    }
}

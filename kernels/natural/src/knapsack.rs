//! The best choice of things that a sack has room for, a block a sack.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;
/// The weights that a sack can hold: those below.
pub const LIMIT: usize = 1024;

/// The most that can be put into each sack, of things of a weight and a value: those from `starts[b]` to `starts[b + 1]`.
#[kernel(launch_bounds(256, exact))]
pub fn knapsack(things: &[[u32; 2]], starts: &[u32], mut best: PerBlock<[u32]>) {
    let sack = thread::block_idx_x() as usize;
    let t = thread::thread_idx_x() as usize;
    let mut buffer = shared!([u32; LIMIT]);
    let mut own = [0u32; LIMIT / THREADS];
    for &[weight, value] in &things[starts[sack] as usize..starts[sack + 1] as usize] {
        let weight = weight as usize;
        let before = buffer.refill().fill_with(|w| own[w / THREADS]).sync();
        for (j, own) in own.iter_mut().enumerate() {
            let w = t + j * THREADS;
            if w >= weight {
                *own = (*own).max(before[w - weight] + value);
            }
        }
    }
    let last = buffer.refill().fill_with(|w| own[w / THREADS]).sync();
    if let Some(best) = best.leader() {
        *best = last[LIMIT - 1];
    }
}

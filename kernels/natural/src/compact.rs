//! Keeps the large elements, in their order.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;

/// Writes the elements above `limit` one after another; those of block `b` begin at `starts[b]`.
#[kernel(launch_bounds(256, exact))]
pub fn compact(x: &[f32], limit: f32, starts: &[u32], out: Scatter<[f32]>) {
    let kept = x.get(thread::index()).filter(|&&x| x > limit);
    let votes = warp::ballot(warp::FULL, kept.is_some());
    let counts = shared!([u32; THREADS]).write(votes.count_ones()).sync();
    let mut place = starts[thread::block_idx_x() as usize];
    for warp in 0..warp::index() as usize {
        place += counts[warp * 32];
    }
    if let Some(&x) = kept {
        place += (votes & ((1 << warp::lane()) - 1)).count_ones();
        out.write(place as usize, x);
    }
}

//! Checks that the linker may make at once.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;
/// Elements that a block copies to its shared memory.
pub const ELEMENTS: usize = 4 * THREADS;

/// Each thread copies four elements to shared memory, and has one of a neighbour's in the end, unless `x` is too short: then threads panic in one of
/// the rounds.
#[kernel(launch_bounds(256, exact))]
pub fn copies_by_rounds(x: &[u32], mut out: PerThread<[u32]>) {
    let t = thread::thread_idx_x() as usize;
    let tile = shared!(raw [u32; ELEMENTS]).as_mut_ptr().cast::<u32>();
    // SAFETY: all indices are below the tile's length, each thread writes elements of its own, and a barrier stands between writes and reads. Nothing is
    // read that a thread which has panicked did not write.
    unsafe {
        for j in 0..4 {
            *tile.add(t + j * THREADS) = x[t + j * THREADS];
        }
        block::sync();
        if let Some(out) = out.mine()
            && x.len() >= ELEMENTS
        {
            *out = *tile.add((t ^ 1) + (t % 4) * THREADS);
        }
    }
}

/// Each thread writes to its element of `out`, and panics then where `x` is too short.
#[kernel(launch_bounds(256, exact))]
pub fn writes_before_panics(x: &[u32], mut out: PerThread<[u32]>) {
    let t = thread::thread_idx_x() as usize;
    if let Some(out) = out.mine() {
        *out = x[t];
        *out += x[t + THREADS];
    }
}

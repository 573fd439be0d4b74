//! Moves keys to the places of their digits: the last step of a round of a radix sort.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;
/// Keys of a thread.
pub const KEYS: usize = 8;

/// Writes each key behind the others of its digit (8 bits at `shift`). `starts` says where a digit's keys begin, and moves on.
#[kernel(launch_bounds(256, exact))]
pub fn radix_scatter(keys: &[u32], shift: u32, starts: AtomicSlice<u32>, out: Scatter<[u32]>) {
    let t = thread::thread_idx_x() as usize;
    let first = thread::block_idx_x() as usize * THREADS * KEYS + t;
    let counts = shared!([u32; 256]).fill_with(|_| 0).sync_atomic();
    let mut own = [0u32; KEYS];
    let mut ranks = [0u32; KEYS];
    for i in 0..KEYS {
        if let Some(&key) = keys.get(first + i * THREADS) {
            own[i] = key;
            ranks[i] = counts[(key >> shift & 255) as usize].fetch_add(1, Relaxed);
        }
    }
    let counts = counts.sync();
    let start = starts[t].fetch_add(counts[t], Relaxed);
    let places = shared!([u32; 256]).write(start).sync();
    for i in 0..KEYS {
        if first + i * THREADS < keys.len() {
            let digit = own[i] >> shift & 255;
            out.write((places[digit as usize] + ranks[i]) as usize, own[i]);
        }
    }
}

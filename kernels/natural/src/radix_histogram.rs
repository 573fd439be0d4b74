//! How often each digit occurs: the first step of a radix sort.

use warpsmith_device::prelude::*;

/// Adds to `counts` how many keys have each digit of 8 bits at `shift`.
#[kernel(launch_bounds(256))]
pub fn radix_histogram(keys: &[u32], shift: u32, counts: AtomicSlice<u32>) {
    let local = shared!([u32; 256]).fill_with(|_| 0).sync_atomic();
    for key in keys.iter().skip(thread::index()).step_by(grid::threads_x()) {
        local[(key >> shift & 255) as usize].add(1, Relaxed);
    }
    let totals = local.sync();
    let digit = thread::thread_idx_x() as usize;
    counts[digit].add(totals[digit], Relaxed);
}

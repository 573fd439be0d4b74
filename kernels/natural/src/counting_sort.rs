//! Sorts segments of small keys by counting them in shared memory, a block a segment.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;
/// Keys of a segment.
pub const SEGMENT: usize = 2048;
/// How many different keys there are.
pub const VALUES: usize = 256;

/// Sorts each segment of keys, all below `VALUES`; the last one may be shorter.
#[kernel(launch_bounds(256, exact))]
pub fn counting_sort(keys: &[u32], sorted: Scatter<[u32]>) {
    let (t, number) = (
        thread::thread_idx_x() as usize,
        thread::block_idx_x() as usize,
    );
    let Some(segment) = keys.chunks(SEGMENT).nth(number) else {
        return;
    };
    let counts = shared!([u32; VALUES]).fill_with(|_| 0).sync_atomic();
    for &key in segment.iter().skip(t).step_by(THREADS) {
        counts[key as usize].add(1, Relaxed);
    }
    let counts = counts.sync();

    // Where the keys of each value end.
    let mut sums = shared!([u32; VALUES]);
    let mut end = counts[t];
    let mut distance = 1;
    while distance < VALUES {
        let view = sums.refill().write(end).sync();
        if t >= distance {
            end += view[t - distance];
        }
        distance *= 2;
    }

    let places = shared!([u32; VALUES]).write(end - counts[t]).sync_atomic();
    for &key in segment.iter().skip(t).step_by(THREADS) {
        let place = places[key as usize].fetch_add(1, Relaxed) as usize;
        sorted.write(number * SEGMENT + place, key);
    }
}

//! The histogram of bytes. Explained in `docs/src/kernels/histogram.md`.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Bytes that a block takes in one turn.
pub const TILE: usize = 4096;

/// `bins[v] += the number of bytes v`, by a grid of any size.
#[kernel(launch_bounds(256, exact))]
pub fn histogram(data: &[u8], bins: AtomicSlice<u32>) {
    // A histogram for each warp, so that fewer threads compete for a bin.
    let shared = shared!([u32; 2048]).fill_with(|_| 0).sync_atomic();
    let t = thread::thread_idx_x() as usize;
    let mine = &shared[(t >> 5 & 7) * 256..][..256];

    let (vectors, tail) = data.vectors();
    let mut i = thread::index();
    while let Some(vector) = vectors.get(i) {
        let Vector(words) = *bytemuck::cast_ref::<Vector<u8>, Vector<u32>>(vector);
        unroll!(k in [0, 1, 2, 3] {
            unroll!(shift in [0, 8, 16, 24] {
                mine[(words[k] >> shift) as usize & 255].add(1, Relaxed);
            });
        });
        i += grid::threads_x();
    }
    if thread::block_idx_x() == 0
        && let Some(&byte) = tail.get(t)
    {
        mine[usize::from(byte)].add(1, Relaxed);
    }

    let counts = shared.sync();
    let mut total = 0;
    unroll!(k in [0, 1, 2, 3, 4, 5, 6, 7] {
        total += counts[k * 256 + (t & 255)];
    });
    if total != 0
        && let Some(bin) = bins.get(t)
    {
        bin.add(total, Relaxed);
    }
}

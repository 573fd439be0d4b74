//! Inclusive prefix sums in one pass, with decoupled look-back. Explained in `docs/src/kernels/scan.md`.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Elements of a tile: eight vectors of four a thread.
pub const TILE: usize = 8192;

/// What a tile has published, in the high half of its state; the low half is the sum that belongs to it.
mod status {
    /// The sum of the tile alone.
    pub const TILE: u64 = 1 << 32;
    /// The sum of everything up to and with the tile.
    pub const PREFIX: u64 = 2 << 32;
}

/// `output[i] := input[0] + ... + input[i]`, modulo 2^32; a block for each tile.
///
/// `state` has an element for each tile, `ticket` one; all are zero at the launch.
#[kernel(launch_bounds(256, exact))]
pub fn scan(
    input: &[u32],
    mut output: PerThread<[u32]>,
    state: AtomicSlice<u64>,
    ticket: AtomicSlice<u32>,
) {
    let t = thread::thread_idx_x() as usize;
    let (lane, warp) = (t & 31, t >> 5);
    let totals = shared!(raw [u32; 64]).as_mut_ptr().cast::<u32>();
    let shared_tile = shared!(raw u32).as_mut_ptr();

    // Tiles go to blocks in the order in which these start, so that a tile's predecessors have all started.
    // SAFETY: written by one thread before the barrier, read after it.
    let tile = unsafe {
        if t == 0 {
            *shared_tile = ticket[0].fetch_add(1, Relaxed);
        }
        block::sync();
        *shared_tile as usize
    };
    let base = tile * TILE;
    let n = input.len().min(output.len());
    let full = base + TILE <= n;
    let (vectors, _) = input.vectors();
    let first = base / 4 + t;
    let at = |k: usize| base + k * 1024 + t * 4;

    let mut v = [Vector([0u32; 4]); 8];
    unroll!(k in [0, 1, 2, 3, 4, 5, 6, 7] {
        if full {
            // SAFETY: all vectors of a full tile are in the input.
            v[k] = unsafe { *vectors.get_unchecked(first + k * 256) };
        } else {
            unroll!(j in [0, 1, 2, 3] {
                if let Some(&x) = input.get(at(k) + j) && at(k) + j < n {
                    v[k].0[j] = x;
                }
            });
        }
    });

    // Each vector within its thread, each warp's vectors, and then the 8 x 8 sums of those.
    let mut before = [0u32; 8];
    unroll!(k in [0, 1, 2, 3, 4, 5, 6, 7] {
        let Vector(x) = &mut v[k];
        x[1] = x[1].wrapping_add(x[0]);
        x[2] = x[2].wrapping_add(x[1]);
        x[3] = x[3].wrapping_add(x[2]);
        let through = warp::inclusive_scan(x[3], u32::wrapping_add);
        before[k] = through.wrapping_sub(x[3]);
        if lane == 31 {
            // SAFETY: in bounds; each element is written by one thread, and read after the barrier.
            unsafe { *totals.add(k * 8 + warp) = through };
        }
    });
    block::sync();
    if warp == 0 {
        // SAFETY: the first warp alone uses the totals between the two barriers, each lane two of its own.
        unsafe {
            let (first, second) = (totals.add(2 * lane), totals.add(2 * lane + 1));
            let own = [*first, *second];
            let through = warp::inclusive_scan(own[0].wrapping_add(own[1]), u32::wrapping_add);
            let sum = warp::shuffle(warp::FULL, through, 31);
            let prefix = look_back(&state, tile, sum);
            let before_second = prefix.wrapping_add(through).wrapping_sub(own[1]);
            *first = before_second.wrapping_sub(own[0]);
            *second = before_second;
        }
    }
    block::sync();

    let to = output.as_mut_ptr();
    // A full tile is written by vectors where the buffer's beginning allows it, as it does for a whole buffer.
    let aligned = full && to.addr() & 15 == 0;
    unroll!(k in [0, 1, 2, 3, 4, 5, 6, 7] {
        // SAFETY: in bounds, written before the barrier.
        let add = unsafe { *totals.add(k * 8 + warp) }.wrapping_add(before[k]);
        let Vector(x) = v[k];
        let r = [x[0].wrapping_add(add), x[1].wrapping_add(add), x[2].wrapping_add(add), x[3].wrapping_add(add)];
        // SAFETY: below n, hence in the output; tiles are different for different blocks, and elements for threads.
        unsafe {
            if aligned {
                *to.add(at(k)).cast() = Vector::<u32>(r);
            } else {
                unroll!(j in [0, 1, 2, 3] {
                    if at(k) + j < n {
                        *to.add(at(k) + j) = r[j];
                    }
                });
            }
        }
    });
}

/// Publishes the tile's own sum, adds up what its predecessors have published, back to one that knows its prefix, and
/// publishes the tile's. By a whole warp; gives the sum of everything before the tile.
///
/// Status and sum are one word, written and read at once: so relaxed order is enough.
#[inline(always)]
fn look_back(state: &AtomicSlice<u64>, tile: usize, sum: u32) -> u32 {
    let lane = warp::lane() as usize;
    let publish = |status: u64, sum: u32| {
        if lane == 0 {
            state[tile].store(status | u64::from(sum), Relaxed);
        }
    };
    if tile == 0 {
        publish(status::PREFIX, sum);
        return 0;
    }
    publish(status::TILE, sum);
    let mut prefix = 0u32;
    // Lane l reads the tile l before the nearest, all at once.
    let mut nearest = tile;
    loop {
        // Before the first tile everything is known: nothing.
        let mut word = status::PREFIX;
        if nearest > lane {
            loop {
                word = state[nearest - 1 - lane].load(Relaxed);
                if word >> 32 != 0 {
                    break;
                }
            }
        }
        let done = warp::ballot(warp::FULL, word & status::PREFIX != 0);
        // The nearest tile that knows its prefix ends the search; farther ones are in its sum.
        let stop = done.trailing_zeros() as usize;
        prefix = prefix.wrapping_add(warp::reduce_add(
            warp::FULL,
            if lane <= stop { word as u32 } else { 0 },
        ));
        if done != 0 {
            break;
        }
        nearest -= 32;
    }
    publish(status::PREFIX, prefix.wrapping_add(sum));
    prefix
}

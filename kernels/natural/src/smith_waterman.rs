//! The best local alignment of pairs of sequences, a block a pair, by diagonals.

use warpsmith_device::prelude::*;

/// Letters of a query, and threads of a block.
pub const QUERY: usize = 128;

/// The best score of query `i` in target `i`. A thread has a letter of the query, and walks through the target one step behind the thread
/// before it; the last three diagonals are in shared memory.
#[kernel(launch_bounds(128, exact))]
pub fn smith_waterman(
    queries: &[u8],
    targets: &[u8],
    target_length: usize,
    scores: AtomicSlice<i32>,
) {
    let pair = thread::block_idx_x() as usize;
    let t = thread::thread_idx_x() as usize;
    let letter = queries[pair * QUERY + t];
    let target = &targets[pair * target_length..][..target_length];
    let diagonals = shared!(raw [[i32; QUERY + 1]; 3]).as_mut_ptr();
    // SAFETY: element `t + 1` of a diagonal is written by thread `t`, and read by its neighbour after a barrier; the diagonal that is
    // written is none of the two that are read. Element 0 is written by thread 0 before the first barrier.
    unsafe {
        for diagonal in 0..3 {
            (*diagonals)[diagonal][t + 1] = 0;
            if t == 0 {
                (*diagonals)[diagonal][0] = 0;
            }
        }
        block::sync();
        let mut best = 0;
        for d in 0..target_length + QUERY - 1 {
            let mut score = 0;
            if d >= t && d - t < target.len() {
                let before = &(*diagonals)[(d + 2) % 3];
                let two_before = &(*diagonals)[(d + 1) % 3];
                let same = if target[d - t] == letter { 3 } else { -2 };
                score = (two_before[t] + same)
                    .max(before[t] - 4)
                    .max(before[t + 1] - 4)
                    .max(0);
                best = best.max(score);
            }
            (*diagonals)[d % 3][t + 1] = score;
            block::sync();
        }
        scores[pair].max(best, Relaxed);
    }
}

//! Sorts rows of 512 keys in shared memory, a block a row.

use warpsmith_device::prelude::*;

/// Keys of a row: two for each thread.
pub const KEYS: usize = 512;

/// Sorts each row.
#[kernel(launch_bounds(256, exact))]
pub fn bitonic_block(mut keys: RowPerBlock<u32>) {
    let t = thread::thread_idx_x() as usize;
    let tile = shared!(raw [u32; KEYS]).as_mut_ptr();
    if let Some(mut own) = keys.mine() {
        // SAFETY: between two barriers each element is read and written by one thread only: those of a pair by the pair's.
        unsafe {
            for (column, key) in own.strided() {
                (*tile)[column] = *key;
            }
            let mut size = 2;
            while size <= KEYS {
                let mut distance = size / 2;
                while distance > 0 {
                    block::sync();
                    let i = 2 * t - (t & (distance - 1));
                    let j = i + distance;
                    let is_ascending = i & size == 0;
                    let (a, b) = ((*tile)[i], (*tile)[j]);
                    if (a > b) == is_ascending {
                        (*tile)[i] = b;
                        (*tile)[j] = a;
                    }
                    distance /= 2;
                }
                size *= 2;
            }
            block::sync();
            for (column, key) in own.strided() {
                *key = (*tile)[column];
            }
        }
    }
}

//! One step of a bitonic sort in global memory.

use warpsmith_device::prelude::*;

/// Exchanges the keys that are `distance` apart and in the wrong order within runs of `size`.
///
/// # Safety
/// `keys` leads to `n` keys, which nothing else uses; `distance` and `size` are powers of two, and `n` is a multiple of `size`.
#[kernel]
pub unsafe fn bitonic_step(keys: *mut u32, n: usize, distance: usize, size: usize) {
    let i = thread::index();
    let j = i ^ distance;
    if i < n && j > i {
        // SAFETY: `j` is in the run of `i`, so below `n`; no other thread has one of the two.
        unsafe {
            let (a, b) = (*keys.add(i), *keys.add(j));
            if (a > b) == (i & size == 0) {
                *keys.add(i) = b;
                *keys.add(j) = a;
            }
        }
    }
}

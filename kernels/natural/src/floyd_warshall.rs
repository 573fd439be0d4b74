//! Shortest ways between all pairs of nodes.

use warpsmith_device::prelude::*;

/// Takes the way through node `k` where it is shorter.
///
/// # Safety
/// `distances` leads to `n` rows of `n` distances, which nothing else uses; from a node to itself it is 0.
#[kernel]
pub unsafe fn floyd_warshall(distances: *mut u32, n: usize, k: usize) {
    let (column, row) = thread::index_2d();
    let (column, row) = (column as usize, row as usize);
    if row < n && column < n {
        // SAFETY: in bounds. Row and column `k` do not change, since no way gets shorter by a detour of length 0.
        unsafe {
            let through = *distances.add(row * n + k) + *distances.add(k * n + column);
            let direct = distances.add(row * n + column);
            if through < *direct {
                *direct = through;
            }
        }
    }
}

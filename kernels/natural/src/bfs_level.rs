//! A level of a breadth-first search.

use warpsmith_device::prelude::*;

/// The level of a node that was not reached yet.
pub const UNSEEN: u32 = u32::MAX;

/// Gives the neighbours of the nodes of level `depth` that were not reached yet the next level.
#[kernel]
pub fn bfs_level(starts: &[u32], neighbours: &[u32], depth: u32, levels: AtomicSlice<u32>) {
    let node = thread::index();
    if node < levels.len() && levels[node].load(Relaxed) == depth {
        let own = starts[node] as usize..starts[node + 1] as usize;
        for &neighbour in &neighbours[own] {
            let level = &levels[neighbour as usize];
            if level.load(Relaxed) == UNSEEN {
                level.store(depth + 1, Relaxed);
            }
        }
    }
}

//! A round of Bellman's and Ford's search for shortest ways.

use warpsmith_device::prelude::*;

/// How far a node is that was not reached yet.
pub const UNREACHED: u32 = u32::MAX;

/// An edge with the node it leads to and its length is `edges[i]`; `starts` says where those of a node begin. Nodes get shorter ways to
/// them from `distances` in `shorter`, and `changed` says whether there was any.
#[kernel]
pub fn relax_edges(
    starts: &[u32],
    edges: &[[u32; 2]],
    distances: &[u32],
    changed: AtomicSlice<u32>,
    shorter: AtomicSlice<u32>,
) {
    let node = thread::index();
    let Some(&distance) = distances.get(node) else {
        return;
    };
    if distance == UNREACHED {
        return;
    }
    let (start, end) = (starts[node] as usize, starts[node + 1] as usize);
    for &[to, length] in &edges[start..end] {
        let through = distance + length;
        if through < distances[to as usize] {
            shorter[to as usize].min(through, Relaxed);
            changed[0].store(1, Relaxed);
        }
    }
}

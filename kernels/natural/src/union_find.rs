//! Which nodes of a graph hang together: trees of nodes, joined edge by edge.

use warpsmith_device::prelude::*;

/// Joins the trees of the two nodes of each edge. The parent of a node is no larger than it; a root is its own.
#[kernel]
pub fn union_find(edges: &[[u32; 2]], parents: AtomicSlice<u32>) {
    let Some(&[a, b]) = edges.get(thread::index()) else {
        return;
    };
    let root = |mut node: u32| {
        loop {
            let parent = parents[node as usize].load(Relaxed);
            if parent == node {
                return node;
            }
            // The way gets shorter for whoever comes next.
            let grandparent = parents[parent as usize].load(Relaxed);
            if grandparent != parent {
                parents[node as usize].min(grandparent, Relaxed);
            }
            node = parent;
        }
    };
    let (mut a, mut b) = (root(a), root(b));
    while a != b {
        let (low, high) = (a.min(b), a.max(b));
        match parents[high as usize].compare_exchange(high, low, Relaxed) {
            Ok(_) => break,
            Err(parent) => (a, b) = (root(parent), root(low)),
        }
    }
}

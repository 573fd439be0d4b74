//! Which nodes of a graph hang together: a round in which labels spread, a thread a node.

use warpsmith_device::prelude::*;

/// The new label of each node: the least one of itself and its neighbours, or what the node of that number has for a label, which is no
/// larger. `changed` says whether any label is a new one.
#[kernel]
pub fn label_components(
    starts: &[u32],
    neighbours: &[u32],
    labels: &[u32],
    changed: AtomicSlice<u32>,
    mut new: PerThread<[u32]>,
) {
    let node = thread::index();
    let (Some(&[start, end]), Some(new)) = (starts.get(node..node + 2), new.mine()) else {
        return;
    };
    let own = labels[node];
    let least = neighbours[start as usize..end as usize]
        .iter()
        .map(|&neighbour| labels[neighbour as usize])
        .min();
    let label = match least {
        Some(least) if least < own => least,
        _ => own,
    };
    *new = labels[label as usize];
    if *new != own {
        changed[0].store(1, Relaxed);
    }
}

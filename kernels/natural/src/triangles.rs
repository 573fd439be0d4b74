//! Counts the triangles of a graph.

use core::cmp::Ordering;
use warpsmith_device::prelude::*;

/// How many triangles each edge is a part of; the neighbours of each node are sorted.
#[kernel]
pub fn triangles(
    starts: &[u32],
    neighbours: &[u32],
    edges: &[[u32; 2]],
    mut counts: PerThread<[u32]>,
) {
    if let (Some(&[from, to]), Some(count)) = (edges.get(thread::index()), counts.mine()) {
        let of = |node: u32| {
            let node = node as usize;
            &neighbours[starts[node] as usize..starts[node + 1] as usize]
        };
        *count = common(of(from), of(to));
    }
}

/// How many values are in both sorted lists.
pub fn common(a: &[u32], b: &[u32]) -> u32 {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                count += 1;
                i += 1;
                j += 1;
            }
        }
    }
    count
}

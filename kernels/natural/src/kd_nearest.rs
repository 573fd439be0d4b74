//! The nearest point of each query, by a tree that divides along one axis after the other.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// A point of the tree: that of node `i` has children at `2 i + 1` and `2 i + 2`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Point {
    /// Its coordinates.
    pub at: [f32; 3],
    /// Its name.
    pub name: u32,
}

/// The nearest point so far.
#[derive(Clone, Copy)]
struct Best {
    name: u32,
    distance: f32,
}

/// The name of the point that is nearest to each query.
#[kernel]
pub fn kd_nearest(tree: &[Point], queries: &[[f32; 3]], mut nearest: PerThread<[u32]>) {
    if let (Some(query), Some(nearest)) = (queries.get(thread::index()), nearest.mine()) {
        *nearest = search(tree, query);
    }
}

/// The name of the nearest point.
pub fn search(tree: &[Point], query: &[f32; 3]) -> u32 {
    let mut best = Best {
        name: u32::MAX,
        distance: f32::INFINITY,
    };
    let mut stack = [(0usize, 0.0f32); 32];
    let mut depth = 1;
    while depth > 0 {
        depth -= 1;
        let (mut node, bound) = stack[depth];
        if bound >= best.distance {
            continue;
        }
        while let Some(point) = tree.get(node) {
            let distance: f32 = point
                .at
                .iter()
                .zip(query)
                .map(|(a, b)| (a - b) * (a - b))
                .sum();
            if distance < best.distance {
                best = Best {
                    name: point.name,
                    distance,
                };
            }
            let axis = (node + 1).ilog2() as usize % 3;
            let offset = query[axis] - point.at[axis];
            let (near, far) = if offset < 0.0 {
                (2 * node + 1, 2 * node + 2)
            } else {
                (2 * node + 2, 2 * node + 1)
            };
            if far < tree.len() && offset * offset < best.distance {
                stack[depth] = (far, offset * offset);
                depth += 1;
            }
            node = near;
        }
    }
    best.name
}

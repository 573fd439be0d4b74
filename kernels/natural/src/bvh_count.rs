//! Neighbours of points, found in a tree of boxes.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// A box of the tree: a leaf, or one with two children.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Node {
    /// Its least coordinates.
    pub low: [f32; 3],
    /// The first of its points in a leaf; else the first child, which the second one follows.
    pub first: u32,
    /// Its largest coordinates.
    pub high: [f32; 3],
    /// How many points it has in a leaf; else 0.
    pub count: u32,
}

impl Node {
    /// The square of a point's distance from the box.
    pub fn distance(&self, point: &[f32; 3]) -> f32 {
        let mut sum = 0.0;
        for (axis, &x) in point.iter().enumerate() {
            let d = x - x.clamp(self.low[axis], self.high[axis]);
            sum += d * d;
        }
        sum
    }
}

/// The square of the distance of two points.
pub fn distance(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// How many points are at most `radius` away from each query.
#[kernel]
pub fn bvh_count(
    nodes: &[Node],
    points: &[[f32; 3]],
    queries: &[[f32; 3]],
    radius: f32,
    mut counts: PerThread<[u32]>,
) {
    if let (Some(query), Some(count)) = (queries.get(thread::index()), counts.mine()) {
        let limit = radius * radius;
        let mut stack = [0u32; 32];
        let mut depth = 1;
        let mut found = 0;
        while depth > 0 {
            depth -= 1;
            let node = &nodes[stack[depth] as usize];
            if node.distance(query) > limit {
                continue;
            }
            if node.count == 0 {
                stack[depth] = node.first;
                stack[depth + 1] = node.first + 1;
                depth += 2;
            } else {
                let own = &points[node.first as usize..(node.first + node.count) as usize];
                found += own
                    .iter()
                    .filter(|point| distance(point, query) <= limit)
                    .count();
            }
        }
        *count = found as u32;
    }
}

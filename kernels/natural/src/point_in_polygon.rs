//! In which polygon points lie, a thread a point.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// A point.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Point {
    /// Its place along the first axis.
    pub x: f32,
    /// Its place along the second axis.
    pub y: f32,
}

impl Point {
    /// Whether a ray from the point crosses the outline an odd number of times.
    fn is_inside(self, outline: &[Point]) -> bool {
        let mut is_inside = false;
        for edge in outline.windows(2) {
            let (a, b) = (edge[0], edge[1]);
            if (a.y > self.y) != (b.y > self.y) {
                let side = (b.x - a.x) * (self.y - a.y) - (b.y - a.y) * (self.x - a.x);
                let is_left = if b.y > a.y { side > 0.0 } else { side < 0.0 };
                if is_left {
                    is_inside = !is_inside;
                }
            }
        }
        is_inside
    }
}

/// The first polygon that each point is in, or `u32::MAX`. Polygon `i` has the corners from `starts[i]` to `starts[i + 1]`, of which the
/// last is the first again.
#[kernel]
pub fn point_in_polygon(
    points: &[Point],
    corners: &[Point],
    starts: &[u32],
    mut found: PerThread<[u32]>,
) {
    if let (Some(point), Some(found)) = (points.get(thread::index()), found.mine()) {
        *found = starts
            .windows(2)
            .map(|range| &corners[range[0] as usize..range[1] as usize])
            .position(|outline| point.is_inside(outline))
            .map_or(u32::MAX, |polygon| polygon as u32);
    }
}

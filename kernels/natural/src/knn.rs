//! The nearest points of each query, by comparison with all of them.

use warpsmith_device::prelude::*;

/// How many are found.
pub const NEAREST: usize = 6;

/// The nearest points so far, the nearest one first.
struct Nearest<const K: usize> {
    found: [Option<(u32, u32)>; K],
}

impl<const K: usize> Nearest<K> {
    fn new() -> Self {
        Nearest { found: [None; K] }
    }

    /// Takes a point in where it belongs; the farthest one gives way.
    fn insert(&mut self, distance: u32, name: u32) {
        let is_farther = |found: &Option<(u32, u32)>| match found {
            Some((other, _)) => *other > distance,
            None => true,
        };
        if let Some(place) = self.found.iter().position(is_farther) {
            self.found[place..].rotate_right(1);
            self.found[place] = Some((distance, name));
        }
    }
}

/// The names of the nearest points of each query, the nearest one first; of equally near ones the first.
#[kernel]
pub fn knn(points: &[[i32; 3]], queries: &[[i32; 3]], mut names: PerThread<[[u32; NEAREST]]>) {
    if let (Some(query), Some(to)) = (queries.get(thread::index()), names.mine()) {
        let mut nearest = Nearest::<NEAREST>::new();
        for (name, point) in (0..).zip(points) {
            let distance = point
                .iter()
                .zip(query)
                .map(|(a, b)| a.abs_diff(*b).pow(2))
                .sum();
            nearest.insert(distance, name);
        }
        *to = nearest.found.map(|found| match found {
            Some((_, name)) => name,
            None => u32::MAX,
        });
    }
}

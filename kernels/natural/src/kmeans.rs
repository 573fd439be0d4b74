//! The step of k-means that looks for each point's centre.

use warpsmith_device::prelude::*;

/// The centre that is nearest to each point.
#[kernel]
pub fn kmeans(points: &[[f32; 4]], centres: &[[f32; 4]], mut nearest: PerThread<[u32]>) {
    if let (Some(point), Some(nearest)) = (points.get(thread::index()), nearest.mine()) {
        let mut least = f32::INFINITY;
        for (number, centre) in centres.iter().enumerate() {
            let distance: f32 = point
                .iter()
                .zip(centre)
                .map(|(a, b)| (a - b) * (a - b))
                .sum();
            if distance < least {
                least = distance;
                *nearest = number as u32;
            }
        }
    }
}

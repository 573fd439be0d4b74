//! The entry of a collection that differs from each query in the fewest bits.

use warpsmith_device::prelude::*;

/// The number of the entry that is nearest to each query.
#[kernel]
pub fn hamming(queries: &[[u64; 4]], entries: &[[u64; 4]], mut nearest: PerThread<[u32]>) {
    if let (Some(query), Some(nearest)) = (queries.get(thread::index()), nearest.mine()) {
        *nearest = entries
            .iter()
            .enumerate()
            .min_by_key(|(_, entry)| difference(query, entry))
            .map_or(u32::MAX, |(number, _)| number as u32);
    }
}

/// In how many bits two words differ.
pub fn difference(a: &[u64; 4], b: &[u64; 4]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

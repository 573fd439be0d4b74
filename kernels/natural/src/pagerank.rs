//! A step of PageRank, a thread a page.

use warpsmith_device::prelude::*;

/// The new rank of each page, from the ranks of those that link to it.
#[kernel]
pub fn pagerank(
    starts: &[u32],
    sources: &[u32],
    ranks: &[f32],
    degrees: &[u32],
    damping: f32,
    mut new: PerThread<[f32]>,
) {
    let page = thread::index();
    let pages = new.len();
    if let Some(new) = new.mine() {
        let sum: f32 = sources[starts[page] as usize..starts[page + 1] as usize]
            .iter()
            .map(|&source| ranks[source as usize] / degrees[source as usize] as f32)
            .sum();
        *new = (1.0 - damping) / pages as f32 + damping * sum;
    }
}

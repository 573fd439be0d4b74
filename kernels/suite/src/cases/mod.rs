//! The cases, one file each: the problem, its oracle, and why the tolerance is what it is.

mod conjugate_gradient;
mod convolution;
mod histogram;
mod histogram_cluster;
mod power_iteration;
mod product;
mod reduce;
mod saxpy;
mod scan;
mod sgemm;
mod transpose;
mod wmma_gemm;

use crate::case::Case;

static CASES: [Case; 11] = [
    saxpy::CASE,
    transpose::CASE,
    reduce::CASE,
    histogram::CASE,
    histogram_cluster::CASE,
    scan::CASE,
    sgemm::CASE,
    wmma_gemm::CASE,
    convolution::CASE,
    conjugate_gradient::CASE,
    power_iteration::CASE,
];

/// All cases, in the order of the tour in the docs.
pub fn cases() -> &'static [Case] {
    &CASES
}

/// Blocks of a persistent grid: `per_multiprocessor` on each multiprocessor, but no more than there are tiles.
///
/// The simulator has the multiprocessors of its profile, yet runs on a few cores: a grid that large would only be
/// many blocks without work, so it gets a smaller one.
fn persistent_blocks(
    session: &crate::session::Session,
    per_multiprocessor: u32,
    tiles: usize,
) -> anyhow::Result<u32> {
    use warpsmith_host::prelude::*;
    let blocks = match session.gpu.is_simulator() {
        true => 16,
        false => {
            session.gpu.attribute(Attribute::MULTIPROCESSOR_COUNT)? as u32 * per_multiprocessor
        }
    };
    Ok(blocks.min(tiles.max(1) as u32))
}

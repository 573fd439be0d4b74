//! A histogram whose bins are spread over a cluster's shared memory. Explained in
//! `docs/src/kernels/histogram_cluster.md`.

use crate::histogram_bins::for_each_mine;
use warpsmith_device::atomic::{Atomic, scope};
use warpsmith_device::prelude::*;
use warpsmith_device::shared as shared_memory;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// The logarithm of the bins that a block holds: enough that a cluster of `blocks` holds `bins`, rounded up to a power
/// of two so that a bin's block and index in it are a shift and a mask. The launch gives a block `4 << shift` bytes.
pub const fn shift(bins: usize, blocks: u32) -> u32 {
    bins.div_ceil(blocks as usize)
        .next_power_of_two()
        .trailing_zeros()
}

/// `bins[min(v, last)] += the number of values v`, by a grid of any number of clusters.
///
/// # Safety
/// The launch's dynamic shared memory is `4 << shift` bytes, and `bins` has between 1 and `blocks << shift` elements for
/// clusters of `blocks` blocks.
#[kernel(launch_bounds(256, exact))]
pub unsafe fn histogram_cluster(data: &[u32], bins: AtomicSlice<u32>, shift: u32) {
    let own = shared_memory::dynamic::<u32>().cast::<u32>();
    let per_block = 1 << shift;
    let t = thread::thread_idx_x();
    let mut i = t;
    while i < per_block {
        // SAFETY: in bounds; no other thread accesses this bin before the barrier.
        unsafe { own.add(i as usize).write(0) };
        i += THREADS;
    }
    // All blocks of the cluster run now, and have cleared their bins.
    cluster::sync();

    let last = bins.len() as u32 - 1;
    let count = |value: u32| {
        let bin = value.min(last);
        // SAFETY: the block `bin >> shift` is one of the cluster and holds the bin, by the kernel's contract. Between
        // the two barriers it runs, and its bins are reached by atomic operations only.
        unsafe {
            let bins = cluster::map_shared(own, bin >> shift);
            let bin = bins.add((bin & (per_block - 1)) as usize);
            Atomic::<u32, scope::Cluster>::from_ptr(bin).add(1, Relaxed);
        }
    };
    for_each_mine(data, count);

    // Everyone has counted: the bins are complete, and no block accesses another's memory any more.
    cluster::sync();
    let base = cluster::rank() << shift;
    let mut i = t;
    while i < per_block {
        // SAFETY: in bounds, and no thread writes after the barrier.
        let total = unsafe { *own.add(i as usize) };
        if total != 0
            && let Some(bin) = bins.get((base + i) as usize)
        {
            bin.add(total, Relaxed);
        }
        i += THREADS;
    }
}

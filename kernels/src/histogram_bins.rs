//! Histograms of any number of bins in the block's own shared memory, and in global memory alone: what
//! [`histogram_cluster`](crate::histogram_cluster) is chosen against. Compared in `docs/src/kernels/histogram_cluster.md`.

use warpsmith_device::atomic::{Atomic, scope};
use warpsmith_device::prelude::*;
use warpsmith_device::shared as shared_memory;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Calls `count` with the values that are this thread's, which takes four at a time.
#[inline(always)]
pub(crate) fn for_each_mine(data: &[u32], count: impl Fn(u32)) {
    let (vectors, tail) = data.vectors();
    let mut i = thread::index();
    while let Some(&Vector(values)) = vectors.get(i) {
        unroll!(k in [0, 1, 2, 3] {
            count(values[k]);
        });
        i += grid::threads_x();
    }
    if thread::block_idx_x() == 0
        && let Some(&value) = tail.get(thread::thread_idx_x() as usize)
    {
        count(value);
    }
}

/// `bins[min(v, last)] += the number of values v`, by a grid of any size. Each block counts in its dynamic shared memory, where the
/// launch gives it 4 bytes for each bin; bins that it has no room for, it counts in global memory.
#[kernel(launch_bounds(256, exact))]
pub fn histogram_shared(data: &[u32], bins: AtomicSlice<u32>) {
    let Some(last) = (bins.len() as u32).checked_sub(1) else {
        return;
    };
    let memory = shared_memory::dynamic::<u32>();
    let held = memory.len().min(bins.len()) as u32;
    let own = memory.cast::<u32>();
    let t = thread::thread_idx_x();
    let mut i = t;
    while i < held {
        // SAFETY: within the dynamic shared memory, which nothing else in this kernel uses; no other thread accesses this bin before the
        // barrier.
        unsafe { own.add(i as usize).write(0) };
        i += THREADS;
    }
    block::sync();
    for_each_mine(data, |value| {
        let bin = value.min(last);
        if bin < held {
            // SAFETY: within the dynamic shared memory; between the barriers the bins are reached by atomic operations only.
            let bin = unsafe { Atomic::<u32, scope::Block>::from_ptr(own.add(bin as usize)) };
            bin.add(1, Relaxed);
        } else if let Some(bin) = bins.get(bin as usize) {
            bin.add(1, Relaxed);
        }
    });
    block::sync();
    let mut i = t;
    while i < held {
        // SAFETY: within the dynamic shared memory, and no thread writes after the barrier.
        let total = unsafe { *own.add(i as usize) };
        if total != 0
            && let Some(bin) = bins.get(i as usize)
        {
            bin.add(total, Relaxed);
        }
        i += THREADS;
    }
}

/// `bins[min(v, last)] += the number of values v`, by a grid of any size, in global memory: each value is an atomic operation of the L2
/// cache's.
#[kernel(launch_bounds(256, exact))]
pub fn histogram_global(data: &[u32], bins: AtomicSlice<u32>) {
    let Some(last) = (bins.len() as u32).checked_sub(1) else {
        return;
    };
    for_each_mine(data, |value| {
        if let Some(bin) = bins.get(value.min(last) as usize) {
            bin.add(1, Relaxed);
        }
    });
}

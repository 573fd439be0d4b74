//! Clusters: ranks, barriers, and the neighbours' shared memory.

use warpsmith_device::prelude::*;

/// Each block writes its position: rank, blocks, position in the cluster, the cluster's extent and position, 12 words a block.
#[kernel(cluster(2, 2), launch_bounds(32, exact))]
pub fn cluster_places(out: AtomicSlice<'_, u32>) {
    if thread::thread_idx_x() == 0 {
        let (x, y, z) = cluster::block_idx();
        let (dx, dy, dz) = cluster::dim();
        let (cx, cy, cz) = cluster::idx();
        let explicit = u32::from(cluster::is_explicit());
        let words = [
            cluster::rank(),
            cluster::blocks(),
            x,
            y,
            z,
            dx,
            dy,
            dz,
            cx,
            cy,
            cz,
            explicit,
        ];
        let out = &out[grid::linear_block() as usize * words.len()..];
        for (out, word) in out.iter().zip(words) {
            out.store(word, Relaxed);
        }
    }
}

/// Each block gets the values of the next block of its cluster; the cluster's size comes from the launch.
#[kernel(launch_bounds(64, exact))]
pub fn cluster_rotate(x: &[u32], mut out: PerThread<[u32]>) {
    let own = thread::linear_in_block() as usize;
    let value = x.get(thread::index()).copied().unwrap_or(0);
    let (_, next) = shared!([u32; 64])
        .write(value)
        .across_cluster(|arrays| arrays.of((cluster::rank() + 1) % cluster::blocks())[own]);
    if let Some(out) = out.mine() {
        *out = next;
    }
}

/// A histogram whose 64 bins a block are spread over the cluster.
#[kernel(launch_bounds(64, exact))]
pub fn cluster_histogram(values: &[u32], bins: AtomicSlice<'_, u32>) {
    let (counts, ()) = shared!([u32; 64])
        .fill_with(|_| 0)
        .atomic_across_cluster(|arrays| {
            if let Some(&value) = values.get(thread::index()) {
                arrays.of(value / 64 % cluster::blocks())[value as usize % 64].add(1, Relaxed);
            }
        });
    let own = thread::linear_in_block() as usize;
    bins[cluster::rank() as usize * 64 + own].add(counts[own], Relaxed);
}

/// The raw instructions: the own address, its rank, and a neighbour's.
#[kernel(cluster(2), launch_bounds(32, exact))]
pub fn cluster_ranks(mut out: PerThread<[u32]>) {
    let word = shared!(raw u32).as_mut_ptr();
    let other = 1 - cluster::rank();
    let arrival = cluster::arrive_relaxed();
    // SAFETY: a pointer to shared memory, and a rank of this cluster of two.
    let (mine, theirs) = unsafe {
        let mapped = cluster::map_shared(word, other);
        (cluster::rank_of(word), cluster::rank_of(mapped))
    };
    arrival.wait();
    if let Some(out) = out.mine() {
        *out = mine << 8 | theirs;
    }
}

/// Each block gets the values of the next block of its cluster, whose threads all panic between the barriers around it in block 1.
#[kernel(launch_bounds(64, exact))]
pub fn cluster_panic(panics: u32, mut out: PerThread<[u32]>) {
    let own = thread::linear_in_block();
    let (_, next) = shared!([u32; 64]).write(own).across_cluster(|arrays| {
        assert!(panics == 0 || block::idx().0 != 1, "block 1 leaves");
        arrays.of((cluster::rank() + 1) % cluster::blocks())[own as usize]
    });
    if let Some(out) = out.mine() {
        *out = next;
    }
}

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

/// Ends the thread, if it is asked to; not inlined, and so the same for all kernels.
#[inline(never)]
fn leave_if(leaves: bool) {
    if leaves {
        thread::exit();
    }
}

/// Each thread reads from the next block of its cluster, and then adds one there, as far as its block's moment lets it come. What it
/// leaves is what it read, and above it what was added to its own word. A thread that ends before it fills its part (moment 1), or alone
/// before the barrier behind which others read (3), leaves any bits there: nobody looks at those.
#[kernel(launch_bounds(64, exact))]
pub fn leaving_blocks(moments: &[u32], mut out: PerThread<[u32]>) {
    let own = thread::linear_in_block() as usize;
    let next = (cluster::rank() + 1) % cluster::blocks();
    let moment_of = |block: u32| moments.get(block as usize).copied().unwrap_or_default();
    let moment = moment_of(block::idx().0);
    let is_filled = match moment_of(block::idx().0 - cluster::rank() + next) {
        1 => false,
        3 => own % 2 == 1,
        _ => true,
    };
    let values = shared!([u32; 64]);
    let counts = shared!([u32; 64]);
    if moment == 1 {
        return;
    }
    let values = values.write(own as u32 + 100 * cluster::rank());
    let counts = counts.fill_with(|_| 0);
    leave_if(moment == 2 || moment == 3 && own % 2 == 0);
    let (_, read) = values.across_cluster(|arrays| {
        leave_if(moment == 4);
        if moment == 5 && own >= 32 {
            thread::exit();
        }
        if is_filled { arrays.of(next)[own] } else { 0 }
    });
    if moment == 6 || moment == 7 && own % 32 != 5 {
        return;
    }
    let (counts, ()) = counts.atomic_across_cluster(|arrays| {
        if moment == 8 {
            thread::exit();
        }
        if is_filled {
            arrays.of(next)[own].add(1, Relaxed);
        }
    });
    if let Some(out) = out.mine() {
        *out = read | counts[own] << 16;
    }
}

/// Calls a function that [`leaving_blocks`] calls, too, and uses no neighbour's memory: every second thread leaves, the others meet.
#[kernel(launch_bounds(64, exact))]
pub fn leaving_threads(mut out: PerThread<[u32]>) {
    leave_if(thread::linear_in_block() % 2 == 1);
    block::sync();
    cluster::arrive().wait();
    if let Some(out) = out.mine() {
        *out = 1;
    }
}

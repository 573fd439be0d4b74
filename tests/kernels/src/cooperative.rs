//! The barrier of a whole grid.

use warpsmith_device::prelude::*;

/// `steps` steps of a ring of cells that each take the sum of their neighbours, in two buffers, with a grid barrier between
/// steps. Each thread owns one cell.
#[kernel]
pub unsafe fn ring(cells: u32, steps: u32, mut from: *mut u32, mut to: *mut u32) {
    let own = thread::index();
    let cells = cells as usize;
    for _ in 0..steps {
        if own < cells {
            // SAFETY: both buffers hold `cells` words; a thread writes its own word of `to`, which no thread reads in this step.
            unsafe {
                let left = from.add((own + cells - 1) % cells).read();
                let right = from.add((own + 1) % cells).read();
                to.add(own).write(left.wrapping_add(right));
            }
        }
        grid::sync();
        (from, to) = (to, from);
    }
}

/// Whether the launch was cooperative; and arrival and wait apart.
#[kernel]
pub fn arrive_and_wait(
    cooperative: AtomicSlice<'_, u32>,
    words: AtomicSlice<'_, u32>,
    mut seen: PerThread<[u32]>,
) {
    cooperative[0].max(u32::from(grid::is_cooperative()), Relaxed);
    words[0].add(1, Relaxed);
    let arrival = grid::arrive();
    words[1].add(1, Relaxed);
    arrival.wait();
    if let Some(seen) = seen.mine() {
        *seen = words[0].load(Relaxed);
    }
}

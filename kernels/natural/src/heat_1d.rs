//! Heat in a rod, several steps at once in shared memory.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;

/// The heat of each block's part of a rod after `steps` steps; the ends of a part keep theirs.
#[kernel(launch_bounds(256, exact))]
pub fn heat_1d(start: &[f32], steps: u32, rate: f32, mut end: PerThread<[f32]>) {
    let t = thread::thread_idx_x() as usize;
    let mut buffer = shared!([f32; THREADS]);
    let mut own = start.get(thread::index()).copied().unwrap_or(0.0);
    for _ in 0..steps {
        let rod = buffer.refill().write(own).sync();
        if t > 0 && t < THREADS - 1 {
            own += rate * (rod[t - 1] - 2.0 * own + rod[t + 1]);
        }
    }
    if let Some(end) = end.mine() {
        *end = own;
    }
}

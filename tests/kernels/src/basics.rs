//! Kernels for indices, views, barriers and shared memory.

use warpsmith_device::prelude::*;

/// `y += a * x`.
#[kernel(launch_bounds(256))]
pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
    if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
        *y += a * x;
    }
}

// / Reverses each block's part of the data.
// #[kernel(launch_bounds(256, exact))]
// pub fn reverse(x: &[u32], mut out: PerThread<[u32]>) {
//     let mine = x.get(thread::index()).copied().unwrap_or(0);
//     let view = shared!([u32; 256]).write(mine).sync();
//     if let Some(out) = out.mine() {
//         *out = view[255 - thread::thread_idx_x() as usize];
//     }
// }

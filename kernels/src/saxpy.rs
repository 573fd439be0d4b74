//! `y := a * x + y`: the plainest memory-bound kernel. Explained in `docs/src/kernels/saxpy.md`.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Elements that a thread handles: two vectors of four.
pub const ELEMENTS: usize = 8;

/// `y := a * x + y`, eight elements a thread.
#[kernel(launch_bounds(256, exact))]
pub fn saxpy(a: f32, x: &[f32], mut y: PerThreadVectors<[f32]>) {
    let (vectors, tail) = x.vectors();
    let first = thread::index();
    let second = first + grid::threads_x();
    if let (Some([y0, y1]), Some(x1)) = (y.several(), vectors.get(second)) {
        // Both loads of x and both of y are on their way before the first is used.
        let (x0, x1) = (vectors[first], *x1);
        let (old0, old1) = (*y0, *y1);
        *y0 = axpy(a, x0, old0);
        *y1 = axpy(a, x1, old1);
    } else if let (Some(y), Some(x)) = (y.mine(), vectors.get(first)) {
        *y = axpy(a, *x, *y);
    }
    if let (Some((_, y)), Some(x)) = (y.tail(), tail.get(first)) {
        *y += a * x;
    }
}

fn axpy(a: f32, Vector(x): Vector<f32>, Vector(y): Vector<f32>) -> Vector<f32> {
    Vector([
        y[0] + a * x[0],
        y[1] + a * x[1],
        y[2] + a * x[2],
        y[3] + a * x[3],
    ])
}

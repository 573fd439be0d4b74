//! Kernels of the worked examples of the CUDA C++ Programming Guide (chapters 2, 3 and 5), as a user of this library writes them.

use warpsmith_device::prelude::*;

/// `VecAdd` (2.1): one thread for each element.
#[kernel]
pub fn vec_add(a: &[f32], b: &[f32], mut c: PerThread<[f32]>) {
    let i = thread::index();
    if let (Some(a), Some(b), Some(c)) = (a.get(i), b.get(i), c.mine()) {
        *c = a + b;
    }
}

/// `MatAdd` (2.2): one thread for each element of a matrix.
#[kernel]
pub fn mat_add(a: Matrix<f32>, b: Matrix<f32>, mut c: MatrixOut<f32>) {
    let place = (c.row(), c.column());
    if let Some(c) = c.mine() {
        *c = a[place] + b[place];
    }
}

/// The kernel of `cudaMalloc3D` (3.2.2): each element is reached by the layer's and the row's distance, and changed once.
#[kernel]
pub fn visit(layers: Matrix<u32>, height: u32, mut out: VolumeOut<u32>) {
    let (z, y, x) = out.position();
    if let Some(out) = out.mine() {
        *out += layers[(z * height as usize + y, x)];
    }
}

/// Message passing in three steps (3.2.7.1): thread 1 writes `x` and sets `a` for the device, thread 2 waits for `a` and sets `b` for the
/// system, and the host waits for `b`. The words that the host sees are `x` and `b`; each thread is a block's.
#[kernel]
pub fn pass_on(
    a: AtomicSlice<u32>,
    x_and_b: AtomicSlice<u32, scope::System>,
    seen: AtomicSlice<u32>,
) {
    if thread::linear_in_block() != 0 {
        return;
    }
    if block::idx().0 == 0 {
        x_and_b[0].store(1, Relaxed);
        a[0].store(1, Release);
    } else {
        while a[0].load(Acquire) != 1 {}
        seen[0].store(x_and_b[0].load(Relaxed), Relaxed);
        x_and_b[1].store(1, Release);
    }
}

/// `MyKernel` of the occupancy examples (5.2.3.1): a product for each element.
#[kernel]
pub fn multiply(a: &[u32], b: &[u32], mut d: PerThread<[u32]>) {
    let i = thread::index();
    if let (Some(a), Some(b), Some(d)) = (a.get(i), b.get(i), d.mine()) {
        *d = a.wrapping_mul(*b);
    }
}

/// Squares (5.2.3.1), for the launch configurator.
#[kernel]
pub fn square(mut array: PerThread<[u32]>) {
    if let Some(x) = array.mine() {
        *x = x.wrapping_mul(*x);
    }
}

/// `struct __align__(8) { float x; float y; }` (5.3.2).
#[derive(Clone, Copy, PartialEq, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(8))]
pub struct Aligned8 {
    /// The first number.
    pub x: f32,
    /// The second.
    pub y: f32,
}

/// `struct __align__(16) { float x; float y; float z; }` (5.3.2); Rust's plain data has no padding, so the fourth number is named.
#[derive(Clone, Copy, PartialEq, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(16))]
pub struct Aligned16 {
    /// The first number.
    pub x: f32,
    /// The second.
    pub y: f32,
    /// The third.
    pub z: f32,
    /// What fills the structure up.
    pub unused: f32,
}

/// Sums of the parts of both structures.
#[kernel]
pub fn sum_aligned(pairs: &[Aligned8], triples: &[Aligned16], mut out: PerThread<[f32]>) {
    let i = thread::index();
    if let (Some(&pair), Some(&triple), Some(out)) = (pairs.get(i), triples.get(i), out.mine()) {
        *out = pair.x + pair.y + (triple.x + triple.y + triple.z) + triple.unused;
    }
}

/// `transformKernel` (3.2.14.1.1): an image turned about its middle. `offset` is 0.0 in the guide, which fetches at the corners of texels,
/// and 0.5 for their middles.
#[kernel]
pub fn rotate(image: Texture2d<f32>, theta: f32, offset: f32, mut out: MatrixOut<f32>) {
    let (x, y) = (out.column() as f32 + offset, out.row() as f32 + offset);
    let u = x / image.width() as f32 - 0.5;
    let v = y / image.height() as f32 - 0.5;
    let (sin, cos) = (theta.sin_approx(), theta.cos_approx());
    let (tu, tv) = (u * cos - v * sin + 0.5, v * cos + u * sin + 0.5);
    if let Some(out) = out.mine() {
        *out = image.fetch(tu, tv);
    }
}

/// `copyKernel` (3.2.14.2.1): an image from one surface to another.
#[kernel]
pub fn copy_image(from: Surface2d<[u8; 4]>, to: Surface2d<[u8; 4]>) {
    if let (Some(from), Some(to)) = (from.mine(), to.mine()) {
        to.write(from.read());
    }
}

/// `sinewave_gen_kernel` (3.2.15.1): a grid of vertices on a wave.
#[kernel]
pub fn sine_wave(time: f32, width: u32, height: u32, mut vertices: MatrixOut<[f32; 4]>) {
    let (x, y) = (vertices.column() as f32, vertices.row() as f32);
    let u = x / width as f32 * 2.0 - 1.0;
    let v = y / height as f32 * 2.0 - 1.0;
    let frequency = 4.0;
    let w = (u * frequency + time).sin_approx() * (v * frequency + time).cos_approx() * 0.5;
    if let Some(vertex) = vertices.mine() {
        *vertex = [u, w, v, 1.0];
    }
}

/// A library's part in a captured stream: adds what its table says.
#[kernel]
pub fn library_work(table: &[u32], mut x: PerThread<[u32]>) {
    if let (Some(add), Some(x)) = (table.get(thread::index()), x.mine()) {
        *x += add;
    }
}

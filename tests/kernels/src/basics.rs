//! Kernels for parameters, indices and views.

use warpsmith_device::half::{bf16, f16};
use warpsmith_device::prelude::*;
use warpsmith_device::vector::Float4;

/// `y += a * x`.
#[kernel(launch_bounds(256))]
pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
    if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
        *y += a * x;
    }
}

/// The special registers and indices of a thread, by the number that `PerThread3d` gives it.
#[kernel]
pub fn indices(mut out: PerThread3d<[[u32; 16]]>) {
    let Some(out) = out.mine() else { return };
    let (x, y, z) = thread::idx();
    let (bx, by, bz) = block::idx();
    let (width, height, depth) = block::dim();
    let (columns, rows, layers) = grid::dim();
    *out = [
        x,
        y,
        z,
        bx,
        by,
        bz,
        width,
        height,
        depth,
        columns,
        rows,
        layers,
        thread::linear_index() as u32,
        warp::index() * 32 + warp::lane(),
        grid::linear_block() as u32 * block::threads() + u32::from(thread::is_first()),
        thread::index_3d().0 * 10_000 + thread::index_3d().1 * 100 + thread::index_3d().2,
    ];
}

/// A grid-stride loop over all elements.
#[kernel]
pub fn squares(x: &[u32], mut out: PerThread<[u32]>) {
    for (index, out) in out.strided() {
        *out = x[index] * x[index];
    }
}

/// How many numbers of a block's part are odd.
#[kernel]
pub fn count_odd(x: &[u32], mut counts: PerBlock<[u32]>) {
    let odd = x.get(thread::index()).is_some_and(|x| x % 2 == 1);
    let count = block::sync_count(odd);
    if let Some(out) = counts.leader() {
        *out = count;
    }
}

/// A matrix's transpose, without shared memory.
#[kernel]
pub fn transpose_plain(src: Matrix<f32>, mut dst: MatrixOut<f32>) {
    let (row, column) = (dst.row(), dst.column());
    if let (Some(to), Some(from)) = (dst.mine(), src.get(column, row)) {
        *to = *from;
    }
}

/// A structure with padding-free fields of several sizes, and a table that is indexed at run time.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Recipe {
    /// A factor.
    pub factor: f64,
    /// Offsets, chosen by index.
    pub offsets: [f32; 16],
    /// A vector with an alignment of its own.
    pub bias: [u16; 4],
}

/// By-value structures, half-precision numbers, single values and 64-bit scalars as parameters.
#[kernel]
#[allow(clippy::too_many_arguments)]
pub fn parameters(
    recipe: Recipe,
    half_number: f16,
    brain_number: bf16,
    single: &Float4,
    wide: i64,
    narrow: u8,
    _: usize,
    mut out: PerThread<[[f64; 4]]>,
) {
    let index = thread::index();
    if let Some(out) = out.mine() {
        *out = [
            recipe.factor + f64::from(recipe.offsets[index % 16]),
            f64::from(half_number.to_f32() + brain_number.to_f32()),
            f64::from(single.x + single.w),
            (wide + i64::from(narrow) + i64::from(recipe.bias[index % 4])) as f64,
        ];
    }
}

/// Pointers without promises.
///
/// # Safety
/// `from` and `to` are valid for `length` elements.
#[kernel(name = "raw_copy_entry")]
pub unsafe fn raw_copy(from: *const u32, to: *mut u32, length: usize) {
    let index = thread::index();
    if index < length {
        // SAFETY: in bounds; each thread has its own element.
        unsafe { to.add(index).write(from.add(index).read()) };
    }
}

/// An operation that a generic kernel is instantiated with.
pub trait Operation {
    /// Applies it.
    fn apply<T: core::ops::Add<Output = T> + core::ops::Mul<Output = T>>(a: T, b: T) -> T;
}

/// The sum.
#[derive(Clone, Copy)]
pub struct Sum;
/// The product.
#[derive(Clone, Copy)]
pub struct Product;

impl Operation for Sum {
    fn apply<T: core::ops::Add<Output = T> + core::ops::Mul<Output = T>>(a: T, b: T) -> T {
        a + b
    }
}
impl Operation for Product {
    fn apply<T: core::ops::Add<Output = T> + core::ops::Mul<Output = T>>(a: T, b: T) -> T {
        a * b
    }
}

/// Combines two arrays `TIMES` times over.
#[kernel(instantiate((f32, Sum, 1), (f32, Product, 2), (u64, Sum, 3)))]
pub fn combine<T, O: Operation, const TIMES: usize>(a: &[T], b: &[T], mut out: PerThread<[T]>)
where
    T: bytemuck::Pod + core::ops::Add<Output = T> + core::ops::Mul<Output = T>,
{
    let index = thread::index();
    if let (Some(a), Some(b), Some(out)) = (a.get(index), b.get(index), out.mine()) {
        *out = (0..TIMES).fold(*a, |a, _| O::apply(a, *b));
    }
}

/// Every attribute that leaves a mark in the PTX.
#[kernel(launch_bounds(64, 2, 1, exact, min_blocks = 3), fmad = false)]
pub fn bounded(x: &[f32], mut out: PerThread<[f32]>) {
    if let Some(out) = out.mine() {
        *out = x[0] * x[1] + x[2] + block::threads() as f32;
    }
}

/// A limit of registers, and fused multiply-add.
#[kernel(max_registers = 24, fmad = true)]
pub fn frugal(x: &[f32], mut out: PerThread<[f32]>) {
    if let Some(out) = out.mine() {
        *out = x[0] * x[1] + x[2];
    }
}

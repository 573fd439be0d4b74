//! Kernels for shared memory: phases, tiles, dynamic memory, objects inside generic functions.

use warpsmith_device::prelude::*;
use warpsmith_device::shared::{self, SharedArray};

/// Reverses each block's part of the data.
#[kernel(launch_bounds(256, exact))]
pub fn reverse(x: &[u32], mut out: PerThread<[u32]>) {
    let mine = x.get(thread::index()).copied().unwrap_or(0);
    let view = shared!([u32; 256]).write(mine).sync();
    if let Some(out) = out.mine() {
        *out = view[255 - thread::thread_idx_x() as usize];
    }
}

/// Sums a block's part with a tree, in phases.
#[kernel]
pub fn tree_sum(x: &[u32], mut sums: PerBlock<[u32]>) {
    let own = thread::linear_in_block() as usize;
    let mine = x.get(thread::index()).copied().unwrap_or(0);
    let mut view = shared!([u32; 1024]).write(mine).sync();
    let mut length = view.len();
    while length > 1 {
        let half = length.div_ceil(2);
        let other = if own + half < length {
            view[own + half]
        } else {
            0
        };
        let mut writable = view.sync_mut();
        if own < half
            && let Some(mine) = writable.mine()
        {
            *mine += other;
        }
        view = writable.sync();
        length = half;
    }
    if let Some(sum) = sums.leader() {
        *sum = view[0];
    }
}

/// Sums and maxima of each block's part, by the library's tree: a number of each thread, and more numbers than threads.
#[kernel]
pub fn reductions(x: &[u32], mut out: PerBlock<[[u32; 2]]>) {
    let mine = x.get(thread::index()).copied().unwrap_or(0);
    let sum = shared!([u32; 1024]).write(mine).reduce(|a, b| a + b);
    let greatest = shared!([u32; 777])
        .fill_with(|i| x.get(i).map_or(0, |x| x.wrapping_mul(sum | 1)))
        .reduce(u32::max);
    if let Some(out) = out.leader() {
        *out = [sum, greatest];
    }
}

/// A tile of 20 by 32, with rows padded to 33, filled by blocks of any shape; each thread then weighs a column.
#[kernel]
pub fn tile_columns(x: &[u32], mut out: PerThread3d<[u32]>) {
    let view = shared!([[u32; 32]; 20], padding = 1)
        .fill_with(|row, column| x[row * 32 + column])
        .sync();
    let own = thread::linear_in_block() as usize;
    let sum = (0..20)
        .map(|row| view[(row, own % 32)] * (row as u32 + 1))
        .sum::<u32>();
    let first_row: u32 = view.row(0).iter().sum();
    if let Some(out) = out.mine() {
        *out = sum + first_row;
    }
}

/// The value of the next thread of the block.
fn next(buffer: &mut SharedArray<u32, 128>, value: u32) -> u32 {
    let view = buffer.refill().write(value).sync();
    view[(thread::linear_in_block() as usize + 1) % view.len()]
}

/// The same shared object again and again, lent to a helper in a loop: each round must not disturb the one before.
#[kernel]
pub fn rounds(x: &[u32], count: u32, mut out: PerThread<[u32]>) {
    let mut buffer = shared!([u32; 128]);
    let mut value = x.get(thread::index()).copied().unwrap_or(0);
    for _ in 0..count {
        value = next(&mut buffer, value);
    }
    if let Some(out) = out.mine() {
        *out = value;
    }
}

/// The same with a handle that is given to the helper and comes back.
#[kernel]
pub fn rounds_by_value(x: &[u32], count: u32, mut out: PerThread<[u32]>) {
    fn next(buffer: SharedArray<u32, 128>, value: u32) -> (SharedArray<u32, 128>, u32) {
        let view = buffer.write(value).sync();
        let next = view[(thread::linear_in_block() as usize + 1) % view.len()];
        (view.sync(), next)
    }
    let mut buffer = shared!([u32; 128]);
    let mut value = x.get(thread::index()).copied().unwrap_or(0);
    for _ in 0..count {
        (buffer, value) = next(buffer, value);
    }
    if let Some(out) = out.mine() {
        *out = value;
    }
}

/// A tile in rounds: each thread adds up a row of the transposed tile.
#[kernel(launch_bounds(8, 8, 1, exact))]
pub fn tile_rounds(x: &[u32], mut out: PerThread3d<[u32]>) {
    let mut tile = shared!([[u32; 8]; 8], padding = 1);
    let (column, row, _) = thread::idx();
    let mut sum = 0;
    for part in x.as_chunks::<64>().0 {
        let view = tile
            .refill()
            .fill_with(|row, column| part[row * 8 + column])
            .sync();
        sum = sum * 3 + view[(column as usize, row as usize)];
    }
    if let Some(out) = out.mine() {
        *out = sum;
    }
}

/// A product of matrices whose threads read their row and their column from global memory.
#[kernel]
pub fn multiply_plain(a: Matrix<u32>, b: Matrix<u32>, mut c: MatrixOut<u32>) {
    let (row, column) = (c.row(), c.column());
    if let Some(c) = c.mine() {
        *c = (0..a.columns()).map(|k| a[(row, k)] * b[(k, column)]).sum();
    }
}

/// The same through tiles of 16 by 16, of which each thread loads one element: every element of `a` and `b` is loaded once a block.
#[kernel(launch_bounds(16, 16, 1, exact))]
pub fn multiply_tiles(a: Matrix<u32>, b: Matrix<u32>, mut c: MatrixOut<u32>) {
    let (mut tile_a, mut tile_b) = (shared!([[u32; 16]; 16]), shared!([[u32; 16]; 16]));
    let (x, y) = (
        thread::thread_idx_x() as usize,
        thread::thread_idx_y() as usize,
    );
    let (top, left) = (c.row() - y, c.column() - x);
    let element = |of: &Matrix<u32>, row, column| of.get(row, column).copied().unwrap_or(0);
    let mut sum = 0;
    for k in (0..a.columns()).step_by(16) {
        // `refill` waits until nobody reads the tiles of the round before, `sync` until these are full.
        let filled_a = tile_a
            .refill()
            .fill_with(|row, column| element(&a, top + row, k + column));
        let filled_b = tile_b
            .refill()
            .fill_with(|row, column| element(&b, k + row, left + column));
        let (a, b) = (filled_a.sync(), filled_b.sync());
        sum += (0..16).map(|k| a[(y, k)] * b[(k, x)]).sum::<u32>();
    }
    if let Some(c) = c.mine() {
        *c = sum;
    }
}

/// The neighbour's value: each instantiation has an object of its own.
fn neighbour<T: Copy>(value: T) -> T {
    let buffer = shared!(raw [T; 64]).as_mut_ptr().cast::<T>();
    let own = thread::linear_in_block() as usize;
    // SAFETY: each thread of a block of 64 writes its own element, and reads the next one's after the barrier.
    unsafe {
        buffer.add(own).write(value);
        block::sync();
        buffer.add((own + 1) % 64).read()
    }
}

/// A generic function with shared memory, for two types at once.
#[kernel(launch_bounds(64, exact))]
pub fn neighbours(mut out: PerThread<[[u32; 2]]>) {
    let own = thread::linear_in_block();
    let word = neighbour(own);
    let byte = neighbour(own as u8 + 100);
    if let Some(out) = out.mine() {
        *out = [word, u32::from(byte)];
    }
}

/// Rotates each block's part through dynamic shared memory; the length goes to the first element of `sizes`.
#[kernel]
pub fn rotate_dynamic(x: &[u64], mut out: PerThread<[u64]>, mut sizes: PerBlock<[u32]>) {
    let own = thread::linear_in_block() as usize;
    let buffer = shared::dynamic::<u64>();
    let length = buffer.len();
    let buffer: *mut u64 = buffer.cast();
    let mut value = 0;
    // SAFETY: a thread writes its own element and reads its neighbour's, a barrier later; both inside the length.
    unsafe {
        if own < length {
            buffer
                .add(own)
                .write(x.get(thread::index()).copied().unwrap_or(0));
        }
        block::sync();
        if own < length {
            value = buffer.add((own + 1) % length).read();
        }
    }
    if let Some(out) = out.mine() {
        *out = value;
    }
    if let Some(size) = sizes.leader() {
        *size = shared::dynamic_bytes() as u32;
    }
}

/// Three arrays of different types in one dynamic region: 128 shorts, 64 floats, 256 words.
#[kernel]
pub fn carve(mut out: PerThread<[[u32; 4]]>) {
    let own = thread::linear_in_block() as usize;
    let mut region = shared::Region::dynamic();
    let base = region.remaining();
    let (Some(shorts), Some(floats), Some(words)) = (
        region.take::<u16>(128),
        region.take::<f32>(64),
        region.take::<u32>(256),
    ) else {
        return;
    };
    let (shorts, floats, words) = (
        shorts.cast::<u16>(),
        floats.cast::<f32>(),
        words.cast::<u32>(),
    );
    let mut result = [0; 4];
    // SAFETY: 64 threads; each writes and reads its own elements of the three arrays, which do not overlap.
    unsafe {
        shorts.add(own).write(own as u16);
        floats.add(own).write(own as f32 + 0.5);
        words.add(own).write(own as u32 * 3);
        block::sync();
        result[0] = u32::from(shorts.add(own).read());
        result[1] = (floats.add(own).read() * 2.0) as u32;
        result[2] = words.add(own).read();
    }
    result[3] = (base - region.remaining()) as u32;
    if let Some(out) = out.mine() {
        *out = result;
    }
}

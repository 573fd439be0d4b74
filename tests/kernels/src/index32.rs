//! Indices and lengths of 32 bits, in views, slices and shared memory.
#![forbid(unsafe_code)]

use core::ops::Range;
use warpsmith_device::prelude::*;

/// One element a thread, behind the length.
#[kernel]
pub fn saxpy32(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
    let (i, n) = (thread::index_1d(), x.len32());
    if i < n
        && let Some(y) = y.mine()
    {
        *y += a * x.at(i);
    }
}

/// A grid-stride loop.
#[kernel]
pub fn strided_saxpy32(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
    for (i, y) in y.strided32() {
        *y += a * x.at(i);
    }
}

/// The same of numbers, behind both lengths.
#[kernel]
pub fn strided_dot32(x: &[f32], y: &[f32], mut sums: PerThread<[f32]>) {
    let n = x.len32().min(y.len32());
    let mut sum = 0.0;
    for i in strided::in_grid(0..n) {
        sum += x.at(i) * y.at(i);
    }
    if let Some(out) = sums.mine() {
        *out = sum;
    }
}

/// A chosen way into `x`, which has its place in a range, too.
#[kernel]
pub fn reaches(
    x: &[u32],
    way: u32,
    i: u32,
    j: u32,
    counts: AtomicSlice<u32>,
    mut out: PerThread<[u32]>,
) {
    let value = match way {
        0 => *x.at(i),
        1 => x.at(i..j).iter().sum(),
        2 => x.at(i..).iter().sum(),
        3 => x.at(..i).iter().sum(),
        4 => x.get_at(i).copied().unwrap_or(u32::MAX),
        5 => x.get_at(i..j).map_or(u32::MAX, |part| part.iter().sum()),
        6 => counts.at(i).fetch_add(1, Relaxed),
        _ => x.len32(),
    };
    if let Some(out) = out.mine() {
        *out = value;
    }
}

/// The same of a matrix.
#[kernel]
pub fn reaches_matrix(x: Matrix<u32>, way: u32, row: u32, column: u32, mut out: PerThread<[u32]>) {
    let value = match way {
        0 => *x.at(row, column),
        1 => x.get_at(row, column).copied().unwrap_or(u32::MAX),
        2 => *x.row_at(row).at(column),
        _ => x.rows32() * 10000 + x.columns32() * 100 + x.stride32(),
    };
    if let Some(out) = out.mine() {
        *out = value;
    }
}

/// The same of what is written.
#[kernel]
pub fn reaches_scattered(way: u32, at: u32, value: u32, out: Scatter<[u32]>) {
    match way {
        0 => out.write_at(at, value),
        1 => _ = out.try_write_at(at, value),
        _ => _ = out.write_once_at(at, 0, value),
    }
}

/// The same of shared memory: a tile and an array.
#[kernel(launch_bounds(8, 4, exact))]
pub fn reaches_shared(way: u32, row: u32, column: u32, mut out: PerThread3d<[u32]>) {
    let tile = shared!([[u32; 8]; 4], padding = 1)
        .fill_with(|r, c| (r * 10 + c) as u32)
        .sync();
    let array = shared!([u32; 32]).fill_with(|i| i as u32).sync();
    let value = match way {
        0 => *tile.at(row, column),
        1 => *tile.row_at(row).at(column),
        _ => *array.at(row * 8 + column),
    };
    if let Some(out) = out.mine() {
        *out = value;
    }
}

fn count(numbers: impl Iterator<Item = u32>, counts: AtomicSlice<u32>, first: u32) {
    for number in numbers {
        counts.at(number - first).add(1, Relaxed);
    }
}

/// Counts the numbers from `begin` to `end` that the threads have of each kind of range.
#[kernel]
pub fn strided_numbers(
    begin: u32,
    end: u32,
    grid: AtomicSlice<u32>,
    block: AtomicSlice<u32>,
    warp: AtomicSlice<u32>,
    wide: AtomicSlice<u32>,
) {
    let wide_range: Range<usize> = begin as usize..end as usize;
    count(strided::in_grid(begin..end), grid, begin);
    count(strided::in_block(begin..end), block, begin);
    count(strided::in_warp(begin..end), warp, begin);
    count(
        strided::in_grid(wide_range).map(|number| number as u32),
        wide,
        begin,
    );
}

/// The last numbers of `usize`, too.
#[kernel]
pub fn strided_numbers_64(begin: u64, end: u64, counts: AtomicSlice<u32>) {
    for number in strided::in_grid(begin as usize..end as usize) {
        counts[number - begin as usize].add(1, Relaxed);
    }
}

/// Adds its place to each element.
#[kernel]
pub fn rows_per_warp32(mut out: RowPerWarp<u32>) {
    out.for_each_mine(|mut own| {
        let row = own.row() as u32;
        for (column, element) in own.strided32() {
            *element += row * 1000 + column;
        }
    });
}

/// Adds its place to each element.
#[kernel]
pub fn places32(mut out: PerThread3d<[u32]>) {
    for (i, out) in out.strided32() {
        *out += i;
    }
}

/// Adds its vector's number to each element, but for the last ones.
#[kernel]
pub fn vectors32(mut out: PerThreadVectors<[u32]>) {
    for (number, Vector(vector)) in out.strided32() {
        *vector = vector.map(|x| x + number);
    }
}

/// The length of a slice of `length` elements that have no size.
#[kernel]
pub fn length32(length: u64, mut out: PerThread<[u32]>) {
    static UNITS: [(); 1 << 34] = [(); 1 << 34];
    let length = UNITS[..length as usize].len32();
    if let Some(out) = out.mine() {
        *out = length;
    }
}

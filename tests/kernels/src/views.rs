//! Output views by warp, row, tile and position, scattered writes, and rows of shared tiles, without unsafe code.
//!
//! A kernel that visits its elements adds to them, so that one visited twice, or by two threads, shows.
#![forbid(unsafe_code)]

use warpsmith_device::prelude::*;

/// Each warp's number and the sum of its lanes' inputs.
#[kernel]
pub fn sum_per_warp(x: &[u32], mut out: PerWarp<[[u32; 2]]>) {
    let value = x.get(thread::linear_index()).copied().unwrap_or(0);
    let sum = warp::reduce_add(warp::FULL, value);
    let warp = out.index() as u32;
    if let Some(out) = out.leader() {
        out[0] += warp;
        out[1] += sum;
    }
}

/// Adds its place to each element, a row for each warp.
#[kernel]
pub fn rows_per_warp(mut out: RowPerWarp<u32>) {
    out.for_each_mine(|mut own| {
        let row = own.row() as u32;
        for (column, element) in own.strided() {
            *element += row * 1000 + column as u32;
        }
    });
}

/// The same, one row only.
#[kernel]
pub fn row_per_warp(mut out: RowPerWarp<u32>) {
    if let Some(mut own) = out.mine() {
        let row = own.row() as u32;
        for (column, element) in own.strided() {
            *element += row * 1000 + column as u32;
        }
    }
}

/// Adds its place to each element, a row for each block.
#[kernel]
pub fn rows_per_block(mut out: RowPerBlock<u32>) {
    out.for_each_mine(|mut own| {
        let row = own.row() as u32;
        for (column, element) in own.strided() {
            *element += row * 1000 + column as u32;
        }
    });
}

/// Adds its place to each element, a tile for each block.
#[kernel]
pub fn tiles_per_block(mut out: TilePerBlock<u32, 8, 20>) {
    out.for_each_mine(|row, column, element| *element += row as u32 * 1000 + column as u32);
}

/// Adds its place to each element.
#[kernel]
pub fn positions(mut out: VolumeOut<u32>) {
    let (layer, row, column) = out.position();
    if let Some(element) = out.mine() {
        *element += (layer as u32 * 100 + row as u32) * 100 + column as u32;
    }
}

/// Writes each element at its place.
#[kernel(instantiate(u32, f64, [u32; 3]))]
pub fn scatter<T: bytemuck::Pod>(x: &[T], places: &[u32], out: Scatter<[T]>) {
    let i = thread::linear_index();
    if let (Some(x), Some(&place)) = (x.get(i), places.get(i)) {
        out.write(place as usize, *x);
    }
}

/// Writes each element at its place if there is one, and counts those without.
#[kernel]
pub fn scatter_inside(places: &[u32], out: Scatter<[u32]>, outside: AtomicSlice<u32>) {
    if let Some(&place) = places.get(thread::index())
        && !out.try_write(place as usize, place)
    {
        outside[0].add(1, Relaxed);
    }
}

/// Writes each thread's number at its place if nobody has, and counts those who came too late.
#[kernel]
pub fn scatter_once(places: &[u32], out: Scatter<[u32]>, late: AtomicSlice<u32>) {
    let i = thread::index();
    if let Some(&place) = places.get(i)
        && let Err(other) = out.write_once(place as usize, u32::MAX, i as u32)
    {
        gpu_assert!(other != u32::MAX);
        late[0].add(1, Relaxed);
    }
}

/// Each warp turns its part of the data round, twice, through a row of a tile that has room for four warps.
#[kernel(launch_bounds(160))]
pub fn reverse_in_warps(x: &[u32], mut out: PerThread<[u32]>) {
    let mut tile = shared!([[u32; 40]; 4], padding = 1);
    let x = x.get(thread::index()).copied().unwrap_or(0);
    let (first, lane) = (warp::index() * warp::SIZE, warp::lane());
    let lanes = (block::threads() - first).min(warp::SIZE);
    let Some(row) = tile.row_per_warp() else {
        return;
    };
    let row = row.fill_with(|column| x + 1000 * column as u32).sync();
    let turned = row[(lanes - 1 - lane) as usize] % 1000;
    // The elements past the lanes are the first lanes' once more.
    let past = row[lanes as usize] / 1000;
    let row = row.sync().fill_with(|_| turned).sync();
    if let Some(out) = out.mine() {
        *out = row[(lanes - 1 - lane) as usize] + 1000 * past;
    }
}

/// Reads what a helper's round has left in the array, and fills it at once: the handle was lent, so the second round waits.
#[kernel(launch_bounds(64, exact))]
pub fn filled_after_it_was_lent(mut out: PerThread<[[u32; 2]]>) {
    let mut array = shared!([u32; 64]);
    let mut tile = shared!([[u32; 8]; 8]);
    let own = thread::linear_in_block();
    let (first, corner) = {
        let values = array.refill().write(own).sync();
        let tile = tile
            .refill()
            .fill_with(|row, column| (row * 8 + column) as u32)
            .sync();
        (values[63 - own as usize], tile[(7, 7)])
    };
    let values = array.write(own + 100).sync();
    let tile = tile
        .fill_with(|row, column| (row * 8 + column) as u32 + 100)
        .sync();
    if let Some(out) = out.mine() {
        *out = [first + values[63 - own as usize], corner + tile[(0, 0)]];
    }
}

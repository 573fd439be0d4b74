//! Views by warp, row, tile and position give one exclusive reference at a time, and scattered elements cannot be read or borrowed.
use warpsmith_device::prelude::*;
use warpsmith_device::view::OwnRow;

#[kernel]
pub fn two_rows_at_once(mut out: RowPerWarp<u32>) {
    if let (Some(a), Some(b)) = (out.mine(), out.mine()) {
        let _ = (a.row(), b.row());
    }
}

#[kernel]
pub fn a_row_twice(mut out: RowPerBlock<u32>) {
    if let Some(mut own) = out.mine() {
        let all: (Vec, Vec) = (own.strided(), own.strided());
        let _ = all;
    }
}

type Vec<'a> = warpsmith_device::view::Strided<'a, u32>;

#[kernel]
pub fn a_row_that_is_kept(mut out: RowPerBlock<u32>) {
    let mut kept: Option<OwnRow<u32>> = None;
    out.for_each_mine(|own| kept = Some(own));
    let _ = kept;
}

#[kernel]
pub fn an_element_that_is_kept(mut out: TilePerBlock<u32, 8, 8>) {
    let mut kept: Option<&mut u32> = None;
    out.for_each_mine(|_, _, element| kept = Some(element));
    let _ = kept;
}

#[kernel]
pub fn copies_the_views(a: RowPerWarp<u32>, b: PerWarp<[u32]>, c: VolumeOut<u32>) {
    let _ = (a, a);
    let _ = (b, b);
    let _ = (c, c);
}

#[kernel]
pub fn reads_a_scattered_element(out: Scatter<[u32]>) {
    let _ = out[0];
}

#[kernel]
pub fn scatters_bytes(out: Scatter<[u8]>) {
    out.write(0, 1);
}

#[kernel]
pub fn keeps_a_row_of_the_tile() {
    let mut tile = shared!([[u32; 32]; 4]);
    let row = tile.row_per_warp();
    let _ = tile.fill_with(|_, _| 0);
    let _ = row;
}

#[kernel]
pub fn reads_a_row_that_is_not_synchronised() {
    let mut tile = shared!([[u32; 32]; 4]);
    let Some(row) = tile.row_per_warp() else { return };
    let _ = row.fill_with(|_| 0)[0];
}

#[kernel]
pub fn fills_a_row_that_is_read() {
    let mut tile = shared!([[u32; 32]; 4]);
    let Some(row) = tile.row_per_warp() else { return };
    let view = row.fill_with(|_| 0).sync();
    let first = &view[0];
    let row = view.sync();
    let _ = (row, *first);
}

#[kernel]
pub fn an_element_of_a_volume_twice(mut out: VolumeOut<u32>) {
    if let (Some(a), Some(b)) = (out.mine(), out.mine()) {
        let _ = (*a, *b);
    }
}

fn main() {}

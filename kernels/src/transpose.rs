//! The transpose of a matrix, through tiles in shared memory. Explained in `docs/src/kernels/transpose.md`.

use warpsmith_device::prelude::*;

/// Rows and columns of a block's tile.
pub const TILE: u32 = 64;
/// Threads of a block.
pub const THREADS: u32 = 256;

/// The index in the tile of the vector `chunk` (of 16 in a row) of row `row`, counted in vectors.
///
/// The exclusive or spreads the vectors of one column over the banks: both the stores of whole vectors along a row and
/// the loads of single elements down a column are then free of conflicts, without padding.
#[inline]
fn swizzled(row: u32, chunk: u32) -> usize {
    (row * 16 + (chunk ^ ((row >> 2) & 7))) as usize
}

/// `dst := transpose of src`; a block for each tile of `src`, its column along x, its row along y.
#[kernel(launch_bounds(256, exact))]
pub fn transpose(src: Matrix<f32>, mut dst: MatrixOut<f32>) {
    let tile = shared!(raw [Vector<f32>; 1024])
        .as_mut_ptr()
        .cast::<Vector<f32>>();
    let cells = tile.cast::<f32>();
    let t = thread::thread_idx_x();
    let (row0, column0) = (thread::block_idx_y() * TILE, thread::block_idx_x() * TILE);
    // What fits into both matrices, whatever their shapes.
    let rows = src.rows().min(dst.columns()) as u32;
    let columns = src.columns().min(dst.rows()) as u32;
    let (src_stride, dst_stride) = (src.stride(), dst.stride());
    let (from, to) = (src.as_ptr(), dst.as_mut_ptr());
    // With these all multiples of 4, a vector lies wholly inside a row or wholly outside, and is aligned if the
    // matrices are.
    let misaligned = (from.addr() | to.addr()) & 15;
    let vectors =
        (rows as usize | columns as usize | src_stride | dst_stride) & 3 | misaligned == 0;

    // SAFETY: every access to `src` is to a row below `rows` and a column below `columns`, which it has; vectors as argued above.
    // Each element of the tile is written by one thread, and read after the barrier only.
    unsafe {
        if vectors {
            let chunk = t & 15;
            let column = column0 + chunk * 4;
            // All four loads are on their way before the first store waits for its own.
            let mut four = [Vector::<f32>([0.0; 4]); 4];
            unroll!(pass in [0, 1, 2, 3] {
                let row = row0 + pass as u32 * 16 + (t >> 4);
                if row < rows && column < columns {
                    four[pass] = *from.add(row as usize * src_stride + column as usize).cast();
                }
            });
            unroll!(pass in [0, 1, 2, 3] {
                *tile.add(swizzled(pass as u32 * 16 + (t >> 4), chunk)) = four[pass];
            });
        } else {
            let c = t & 63;
            let column = column0 + c;
            for pass in 0..16 {
                let r = pass * 4 + (t >> 6);
                let row = row0 + r;
                if row < rows && column < columns {
                    let source = from.add(row as usize * src_stride + column as usize);
                    *cells.add(swizzled(r, c >> 2) * 4 + (c & 3) as usize) = *source;
                }
            }
        }
    }
    block::sync();
    // SAFETY: every access to `dst` is to a column below `rows` and a row below `columns`, which it has; vectors as argued above.
    // The tile was written before the barrier and is only read now. Each element of `dst` is written by one thread of one block.
    unsafe {
        if vectors {
            let (lane, warp) = (t & 31, t >> 5);
            for pass in 0..4 {
                // A warp writes 2 rows of `dst`, 16 vectors of each: 256 bytes in a row.
                let (group, c) = (lane & 15, (pass * 8 + warp) * 2 + (lane >> 4));
                let (row, column) = (row0 + group * 4, column0 + c);
                if row < rows && column < columns {
                    let cell = cells.add(swizzled(group * 4, c >> 2) * 4 + (c & 3) as usize);
                    let target = to.add(column as usize * dst_stride + row as usize);
                    *target.cast() =
                        Vector::<f32>([*cell, *cell.add(64), *cell.add(128), *cell.add(192)]);
                }
            }
        } else {
            let r = t & 63;
            let row = row0 + r;
            for pass in 0..16 {
                let c = pass * 4 + (t >> 6);
                let column = column0 + c;
                if row < rows && column < columns {
                    let target = to.add(column as usize * dst_stride + row as usize);
                    *target = *cells.add(swizzled(r, c >> 2) * 4 + (c & 3) as usize);
                }
            }
        }
    }
}

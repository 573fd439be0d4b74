//! `c := a * b` with `f16` factors and `f32` sums, on the matrix units. Explained in `docs/src/kernels/wmma_gemm.md`.

use half::f16;
use warpsmith_device::prelude::*;
use warpsmith_device::wmma::{Accumulator, M16N16K16, MatrixA, MatrixB, RowMajor, mma};

/// Rows and columns of a block's results.
pub const TILE: u32 = 128;
/// Threads of a block: eight warps of 32 x 64 results.
pub const THREADS: u32 = 256;
/// How deep a step goes into `a`'s columns and `b`'s rows.
const DEPTH: u32 = 32;
/// Distances of the rows of the tiles: 16 bytes more than their width, so that rows begin in other banks.
const A_PITCH: u32 = DEPTH + 8;
const B_PITCH: u32 = TILE + 8;
const A_SIZE: usize = (TILE * A_PITCH) as usize;
const B_SIZE: usize = (DEPTH * B_PITCH) as usize;

type Sum = Accumulator<f32, M16N16K16>;
type Sums = [[Sum; 4]; 2];

/// `c := a * b`; a block for each 128 x 128 results, their column along x, their row along y.
#[kernel(launch_bounds(256, exact, min_blocks = 2))]
pub fn wmma_gemm(a: Matrix<f16>, b: Matrix<f16>, mut c: MatrixOut<f32>) {
    // Vectors, for their alignment.
    let tiles = Tiles {
        a: shared!(raw [[Vector<f16>; A_SIZE / 8]; 2])
            .as_mut_ptr()
            .cast(),
        b: shared!(raw [[Vector<f16>; B_SIZE / 8]; 2])
            .as_mut_ptr()
            .cast(),
    };
    let widths = a.columns() | a.stride() | b.columns() | b.stride();
    let addresses = a.as_ptr().addr() | b.as_ptr().addr();
    let mut sums: Sums = [[Sum::fill(0.0); 4]; 2];
    // SAFETY: the tiles are two buffers of the sizes that `multiply` needs, and all threads of the block come here.
    unsafe {
        if widths & 7 | addresses & 15 == 0 {
            multiply::<true>(&mut sums, &a, &b, &tiles);
        } else {
            multiply::<false>(&mut sums, &a, &b, &tiles);
        }
    }

    let (rows, columns, stride) = (c.rows() as u32, c.columns() as u32, c.stride());
    let to = c.as_mut_ptr();
    let (lane, warp) = (thread::thread_idx_x() & 31, thread::thread_idx_x() >> 5);
    let (block_row, block_column) = (thread::block_idx_y() * TILE, thread::block_idx_x() * TILE);
    let (row0, column0) = (block_row + (warp >> 1) * 32, block_column + (warp & 1) * 64);
    let aligned = stride & 7 | to.addr() & 31 == 0;
    if aligned && block_row + TILE <= rows && block_column + TILE <= columns {
        unroll!(i in [0, 1] {
            unroll!(j in [0, 1, 2, 3] {
                let (row, column) = (row0 + i as u32 * 16, column0 + j as u32 * 16);
                // SAFETY: the whole tile lies in `c`, and one warp of one block has this part of it.
                unsafe { sums[i][j].store_to(to.add(row as usize * stride + column as usize), stride as u32, RowMajor) };
            });
        });
    } else {
        // A tile on the edge: each warp stages one fragment after the other in shared memory of its own.
        block::sync();
        let stage = tiles.a.cast::<f32>().wrapping_add((warp * 256) as usize);
        unroll!(i in [0, 1] {
            unroll!(j in [0, 1, 2, 3] {
                // SAFETY: after the block's barrier the tiles are free: 8 warps of 1 KB lie in the 20 KB of `tiles.a`.
                // The warp's barriers separate its writes and reads.
                unsafe {
                    sums[i][j].store_to(stage, 16, RowMajor);
                    warp::sync(warp::FULL);
                    let mut e = lane;
                    while e < 256 {
                        let (row, column) = (row0 + i as u32 * 16 + (e >> 4), column0 + j as u32 * 16 + (e & 15));
                        if row < rows && column < columns {
                            *to.add(row as usize * stride + column as usize) = *stage.add(e as usize);
                        }
                        e += 32;
                    }
                    warp::sync(warp::FULL);
                }
            });
        });
    }
}

/// Two buffers for a tile of each factor.
struct Tiles {
    a: *mut f16,
    b: *mut f16,
}

/// Adds the products of the block's rows of `a` and columns of `b`.
///
/// # Safety
/// The tiles are two buffers each of shared memory of this block; all its threads call this. With `VECTORS`, all rows
/// begin at multiples of 16 bytes and have a multiple of 8 elements.
#[inline(always)]
unsafe fn multiply<const VECTORS: bool>(
    sums: &mut Sums,
    a: &Matrix<f16>,
    b: &Matrix<f16>,
    tiles: &Tiles,
) {
    let t = thread::thread_idx_x();
    let (a_row, a_column) = (t >> 2, (t & 3) * 8);
    let (b_row, b_column) = (t >> 4, (t & 15) * 8);
    let row = thread::block_idx_y() * TILE + a_row;
    let column = thread::block_idx_x() * TILE + b_column;
    let (m, n) = ((t >> 6) * 32, (t >> 5 & 1) * 64);
    let depth = a.columns() as u32;
    let mut a0 = load::<VECTORS>(a, row, a_column);
    let mut a1 = load::<VECTORS>(a, row + 64, a_column);
    let mut b0 = load::<VECTORS>(b, b_row, column);
    let mut b1 = load::<VECTORS>(b, b_row + 16, column);
    let mut buffer = 0;
    let mut k = 0;
    while k < depth {
        // SAFETY: all places lie in the buffer. Each is written by one thread before the barrier and read after it. A
        // buffer is written again one step later but one, and every thread has passed the barrier between, after its
        // last read.
        unsafe {
            let tile_a = tiles.a.add(buffer * A_SIZE);
            let tile_b = tiles.b.add(buffer * B_SIZE);
            *tile_a.add((a_row * A_PITCH + a_column) as usize).cast() = a0;
            *tile_a
                .add(((a_row + 64) * A_PITCH + a_column) as usize)
                .cast() = a1;
            *tile_b.add((b_row * B_PITCH + b_column) as usize).cast() = b0;
            *tile_b
                .add(((b_row + 16) * B_PITCH + b_column) as usize)
                .cast() = b1;
            block::sync();
            if k + DEPTH < depth {
                a0 = load::<VECTORS>(a, row, k + DEPTH + a_column);
                a1 = load::<VECTORS>(a, row + 64, k + DEPTH + a_column);
                b0 = load::<VECTORS>(b, k + DEPTH + b_row, column);
                b1 = load::<VECTORS>(b, k + DEPTH + 16 + b_row, column);
            }
            let from_a = tile_a.add((m * A_PITCH) as usize);
            let from_b = tile_b.add(n as usize);
            unroll!(d in [0, 16] {
                let fa: [MatrixA<f16, M16N16K16, RowMajor>; 2] = [
                    MatrixA::load_from(from_a.add(d), A_PITCH),
                    MatrixA::load_from(from_a.add(d + 16 * A_PITCH as usize), A_PITCH),
                ];
                let row = from_b.add(d * B_PITCH as usize);
                let fb: [MatrixB<f16, M16N16K16, RowMajor>; 4] = [
                    MatrixB::load_from(row, B_PITCH),
                    MatrixB::load_from(row.add(16), B_PITCH),
                    MatrixB::load_from(row.add(32), B_PITCH),
                    MatrixB::load_from(row.add(48), B_PITCH),
                ];
                unroll!(i in [0, 1] {
                    unroll!(j in [0, 1, 2, 3] {
                        sums[i][j] = mma(&fa[i], &fb[j], &sums[i][j]);
                    });
                });
            });
        }
        buffer ^= 1;
        k += DEPTH;
    }
}

/// Eight elements of a row, zero where there are none.
///
/// With `VECTORS`, `column` is a multiple of 8, and so is the number of columns.
#[inline(always)]
fn load<const VECTORS: bool>(matrix: &Matrix<f16>, row: u32, column: u32) -> Vector<f16> {
    let columns = matrix.columns() as u32;
    let mut vector = Vector::<f16>([f16::ZERO; 8]);
    if row < matrix.rows() as u32 {
        let source = matrix
            .as_ptr()
            .wrapping_add(row as usize * matrix.stride() + column as usize);
        // SAFETY: every read is of a row and column that the matrix has, aligned as `multiply` asks for.
        unsafe {
            if VECTORS {
                if column < columns {
                    vector = *source.cast();
                }
            } else {
                unroll!(j in [0, 1, 2, 3, 4, 5, 6, 7] {
                    if column + (j as u32) < columns {
                        vector.0[j] = *source.add(j);
                    }
                });
            }
        }
    }
    vector
}

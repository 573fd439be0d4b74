//! `c := a * b` with `f16` factors and `f32` sums, on the matrix units. Explained in `docs/src/kernels/wmma_gemm.md`.

use crate::tiling::{
    self, AsRead, Down, Extent, Factor, Policy, Right, RowAlignment, Schedule, SharedTile,
};
use half::f16;
use warpsmith_device::prelude::*;
use warpsmith_device::wmma::{Accumulator, M16N16K16, MatrixA, MatrixB, RowMajor, mma};

/// A block of 256 threads computes 128 x 128 results, a warp 32 x 64. The rows of the tiles are 16 bytes more than their width apart,
/// so that they begin in other banks.
pub const POLICY: Policy = Policy {
    block: Extent {
        rows: 128,
        columns: 128,
    },
    warp: Extent {
        rows: 32,
        columns: 64,
    },
    depth: 32,
    pitch_a: 32 + 8,
    pitch_b: 128 + 8,
    schedule: Schedule::StoreBeforeLoad,
};
const A_SIZE: usize = (POLICY.block.rows * POLICY.pitch_a) as usize;
const B_SIZE: usize = (POLICY.depth * POLICY.pitch_b) as usize;

/// `a`, of which a thread copies two vectors a step.
type FactorA = Factor<f16, Right, AsRead, 2>;
/// `b`, of which a thread copies two vectors a step.
type FactorB = Factor<f16, Down, AsRead, 2>;

type Sum = Accumulator<f32, M16N16K16>;
type Sums = [[Sum; 4]; 2];

/// `c := a * b`; a block for each 128 x 128 results, their column along x, their row along y.
#[kernel(launch_bounds(256, exact, min_blocks = 2))]
pub fn wmma_gemm(a: Matrix<f16>, b: Matrix<f16>, mut c: MatrixOut<f32>) {
    let tile_a = SharedTile {
        first: shared!(raw [[Vector<f16>; A_SIZE / 8]; 2])
            .as_mut_ptr()
            .cast::<f16>(),
        pitch: POLICY.pitch_a,
    };
    let tile_b = SharedTile {
        first: shared!(raw [[Vector<f16>; B_SIZE / 8]; 2])
            .as_mut_ptr()
            .cast::<f16>(),
        pitch: POLICY.pitch_b,
    };
    let vectors = RowAlignment::default()
        .with_factor(&a)
        .with_factor(&b)
        .allows_vectors::<f16>();
    let origin = POLICY.block_origin();
    let mut sums: Sums = [[Sum::fill(0.0); 4]; 2];
    // SAFETY: the tiles are shared memory of this block for two tiles each of the sizes given; all threads of the block come
    // here, and `vectors` says whether the rows allow vectors.
    unsafe {
        if vectors {
            multiply::<true>(&mut sums, &a, &b, tile_a, tile_b);
        } else {
            multiply::<false>(&mut sums, &a, &b, tile_a, tile_b);
        }
    }

    let (rows, columns, stride) = (c.rows() as u32, c.columns() as u32, c.stride());
    let to = c.as_mut_ptr();
    let (lane, warp) = (thread::thread_idx_x() & 31, thread::thread_idx_x() >> 5);
    let own = POLICY.warp_origin();
    let (row0, column0) = (origin.row + own.row, origin.column + own.column);
    let aligned = stride & 7 | to.addr() & 31 == 0;
    let is_inside =
        origin.row + POLICY.block.rows <= rows && origin.column + POLICY.block.columns <= columns;
    if aligned && is_inside {
        unroll!(i in [0, 1] {
            unroll!(j in [0, 1, 2, 3] {
                let (row, column) = (row0 + i as u32 * 16, column0 + j as u32 * 16);
                // SAFETY: the whole tile is in `c`, and one warp of one block has this part of it.
                unsafe { sums[i][j].store_to(to.add(row as usize * stride + column as usize), stride as u32, RowMajor) };
            });
        });
    } else {
        // A tile on the edge: each warp stages one fragment after the other in shared memory of its own.
        block::sync();
        let stage = tile_a
            .first
            .cast::<f32>()
            .wrapping_add((warp * 256) as usize);
        unroll!(i in [0, 1] {
            unroll!(j in [0, 1, 2, 3] {
                // SAFETY: after the block's barrier the tiles are free: 8 warps of 1 KB fit into the 20 KB of `a`'s tiles.
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

/// Adds the products of the block's rows of `a` and columns of `b`.
///
/// # Safety
/// Each tile is the first of two in shared memory of this block, of `A_SIZE` and `B_SIZE` elements, aligned to 16 and used by
/// nothing else meanwhile. All threads of the block call this. With `VECTORS`, the factors' rows allow vectors.
#[inline(always)]
unsafe fn multiply<const VECTORS: bool>(
    sums: &mut Sums,
    a: &Matrix<f16>,
    b: &Matrix<f16>,
    tile_a: SharedTile<f16>,
    tile_b: SharedTile<f16>,
) {
    let depth = a.columns().min(b.rows()) as u32;
    // SAFETY: `depth` is what both factors have; the tiles are those of the function's condition.
    let (factor_a, factor_b) = unsafe {
        (
            FactorA::left(&POLICY, a, depth, tile_a, A_SIZE),
            FactorB::right(&POLICY, b, depth, tile_b, B_SIZE),
        )
    };
    let own = POLICY.warp_origin();
    let step = |tile_a: SharedTile<f16>, tile_b: SharedTile<f16>| {
        // SAFETY: the tiles have the rows and columns of the warp's results.
        let (from_a, from_b) = unsafe { (tile_a.at(own.row, 0), tile_b.at(0, own.column)) };
        unroll!(d in [0, 16] {
            // SAFETY: the fragments' 16 rows and columns are in the tiles: 32 rows and as many columns as a step is deep of
            // `a`, 64 columns and as many rows of `b`.
            let (fa, fb) = unsafe {
                let (pitch_a, pitch_b) = (POLICY.pitch_a, POLICY.pitch_b);
                let fa: [MatrixA<f16, M16N16K16, RowMajor>; 2] = [
                    MatrixA::load_from(from_a.add(d), pitch_a),
                    MatrixA::load_from(from_a.add(d + 16 * pitch_a as usize), pitch_a),
                ];
                let row = from_b.add(d * pitch_b as usize);
                let fb: [MatrixB<f16, M16N16K16, RowMajor>; 4] = [
                    MatrixB::load_from(row, pitch_b),
                    MatrixB::load_from(row.add(16), pitch_b),
                    MatrixB::load_from(row.add(32), pitch_b),
                    MatrixB::load_from(row.add(48), pitch_b),
                ];
                (fa, fb)
            };
            unroll!(i in [0, 1] {
                unroll!(j in [0, 1, 2, 3] {
                    sums[i][j] = mma(&fa[i], &fb[j], &sums[i][j]);
                });
            });
        });
    };
    // SAFETY: the function's conditions are those of the loop, and `step` only reads.
    unsafe { tiling::multiply::<VECTORS, _, _, _, _, _>(&POLICY, factor_a, factor_b, depth, step) };
}

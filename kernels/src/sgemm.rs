//! `c := alpha * a * b + beta * c` in `f32`. Explained in `docs/src/kernels/sgemm.md`.

use crate::tiling::{
    self, AsRead, Down, Extent, Factor, Policy, Position, Right, RowAlignment, Schedule,
    SharedTile, Transposed,
};
use warpsmith_device::prelude::*;

/// A block of 256 threads computes 128 x 128 results, a warp 64 x 32, a thread 8 x 8. The rows of the transposed tile of `a` are 4
/// elements more than its width apart, so that the transposing stores of a warp hit 32 different banks.
pub const POLICY: Policy = Policy {
    block: Extent {
        rows: 128,
        columns: 128,
    },
    warp: Extent {
        rows: 64,
        columns: 32,
    },
    depth: 8,
    pitch_a: 128 + 4,
    pitch_b: 128,
    schedule: Schedule::StoreAfterLoad,
};
const A_SIZE: usize = (POLICY.depth * POLICY.pitch_a) as usize;
const B_SIZE: usize = (POLICY.depth * POLICY.pitch_b) as usize;

/// `a`, of which a thread copies one vector a step, transposed on the way.
type FactorA = Factor<f32, Right, Transposed, 1>;
/// `b`, of which a thread copies one vector a step.
type FactorB = Factor<f32, Down, AsRead, 1>;

type Sums = [[f32; 8]; 8];

/// `c := alpha * a * b + beta * c`; a block for each 128 x 128 results, their column along x, their row along y. Where
/// `beta` is zero, `c` is not read.
#[kernel(launch_bounds(256, exact, min_blocks = 2))]
pub fn sgemm(alpha: f32, a: Matrix<f32>, b: Matrix<f32>, beta: f32, mut c: MatrixOut<f32>) {
    let tile_a = SharedTile {
        first: shared!(raw [Vector<f32>; 2 * A_SIZE / 4])
            .as_mut_ptr()
            .cast(),
        pitch: POLICY.pitch_a,
    };
    let tile_b = SharedTile {
        first: shared!(raw [Vector<f32>; 2 * B_SIZE / 4])
            .as_mut_ptr()
            .cast(),
        pitch: POLICY.pitch_b,
    };
    let (rows, columns, stride) = (c.rows() as u32, c.columns() as u32, c.stride());
    let to = c.as_mut_ptr();
    let vectors = RowAlignment::default()
        .with_factor(&a)
        .with_factor(&b)
        .with(to, columns as usize, stride)
        .allows_vectors::<f32>();
    let mut sums: Sums = [[0.0; 8]; 8];
    // SAFETY: the tiles are shared memory of this block for two tiles each of the sizes given; all threads of the block come
    // here, and `vectors` says whether the rows allow vectors.
    unsafe {
        if vectors {
            multiply::<true>(&mut sums, &a, &b, tile_a, tile_b);
        } else {
            multiply::<false>(&mut sums, &a, &b, tile_a, tile_b);
        }
    }

    let origin = POLICY.block_origin();
    let own = own();
    let (row0, column0) = (origin.row + own.row, origin.column + own.column);
    unroll!(i in [0, 1, 2, 3, 4, 5, 6, 7] {
        let row = row0 + (i as u32 >> 2) * 32 + (i as u32 & 3);
        if row < rows {
            unroll!(half in [0, 1] {
                let column = column0 + half as u32 * 16;
                let r = [sums[i][half * 4], sums[i][half * 4 + 1], sums[i][half * 4 + 2], sums[i][half * 4 + 3]];
                // SAFETY: every access is to a row and column of `c`, which one thread of one block has.
                unsafe {
                    let target = to.add(row as usize * stride + column as usize);
                    if vectors {
                        if column < columns {
                            let target = target.cast::<Vector<f32>>();
                            let mut new = [alpha * r[0], alpha * r[1], alpha * r[2], alpha * r[3]];
                            if beta != 0.0 {
                                let Vector(old) = *target;
                                new = [
                                    new[0] + beta * old[0],
                                    new[1] + beta * old[1],
                                    new[2] + beta * old[2],
                                    new[3] + beta * old[3],
                                ];
                            }
                            *target = Vector(new);
                        }
                    } else {
                        unroll!(j in [0, 1, 2, 3] {
                            if column + (j as u32) < columns {
                                let target = target.add(j);
                                *target = if beta != 0.0 { alpha * r[j] + beta * *target } else { alpha * r[j] };
                            }
                        });
                    }
                }
            });
        }
    });
}

/// The thread's first result, in the block's tile. It has four rows from there and four 32 below, four
/// columns from there and four 16 to the right: so the lanes of a warp read neighbouring vectors, without conflicts.
#[inline(always)]
fn own() -> Position {
    let lane = thread::thread_idx_x() & 31;
    let warp = POLICY.warp_origin();
    Position {
        row: warp.row + (lane >> 2) * 4,
        column: warp.column + (lane & 3) * 4,
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
    a: &Matrix<f32>,
    b: &Matrix<f32>,
    tile_a: SharedTile<f32>,
    tile_b: SharedTile<f32>,
) {
    let depth = a.columns().min(b.rows()) as u32;
    // SAFETY: `depth` is what both factors have; the tiles are those of the function's condition.
    let (factor_a, factor_b) = unsafe {
        (
            FactorA::left(&POLICY, a, depth, tile_a, A_SIZE),
            FactorB::right(&POLICY, b, depth, tile_b, B_SIZE),
        )
    };
    let own = own();
    let step = |tile_a: SharedTile<f32>, tile_b: SharedTile<f32>| {
        // SAFETY: the tiles have the rows and columns of the thread's results, aligned to vectors.
        let (from_a, from_b) = unsafe { (tile_a.at(0, own.row), tile_b.at(0, own.column)) };
        unroll!(d in [0, 1, 2, 3, 4, 5, 6, 7] {
            // SAFETY: `d` is a row below the step's depth, and the row has the thread's columns.
            let (x, y) = unsafe {
                (
                    fragment::<32>(from_a.add(d * POLICY.pitch_a as usize)),
                    fragment::<16>(from_b.add(d * POLICY.pitch_b as usize)),
                )
            };
            unroll!(i in [0, 1, 2, 3, 4, 5, 6, 7] {
                unroll!(j in [0, 1, 2, 3, 4, 5, 6, 7] {
                    sums[i][j] += x[i] * y[j];
                });
            });
        });
    };
    // SAFETY: the function's conditions are those of the loop, and `step` only reads.
    unsafe { tiling::multiply::<VECTORS, _, _, _, _, _>(&POLICY, factor_a, factor_b, depth, step) };
}

/// A thread's eight values of a tile's row: a vector, and the one `APART` elements behind it.
///
/// # Safety
/// Both are in the tile, aligned to 16.
#[inline(always)]
unsafe fn fragment<const APART: usize>(from: *const f32) -> [f32; 8] {
    // SAFETY: both vectors are in the tile, aligned to 16: the condition of this function.
    let (Vector(u), Vector(v)): (Vector<f32>, Vector<f32>) =
        unsafe { (*from.cast(), *from.add(APART).cast()) };
    [u[0], u[1], u[2], u[3], v[0], v[1], v[2], v[3]]
}

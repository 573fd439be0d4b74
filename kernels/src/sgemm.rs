//! `c := alpha * a * b + beta * c` in `f32`. Explained in `docs/src/kernels/sgemm.md`.

use warpsmith_device::prelude::*;

/// Rows and columns of a block's results.
pub const TILE: u32 = 128;
/// Threads of a block, each with 8 x 8 results.
pub const THREADS: u32 = 256;
/// How deep a step goes into `a`'s columns and `b`'s rows.
const DEPTH: u32 = 8;
/// Distance of the rows of the transposed tile of `a`: 4 more than its width, so that the transposing stores of a warp
/// hit 32 different banks.
const A_PITCH: u32 = TILE + 4;
const A_SIZE: usize = (DEPTH * A_PITCH) as usize;
const B_SIZE: usize = (DEPTH * TILE) as usize;

type Sums = [[f32; 8]; 8];

/// `c := alpha * a * b + beta * c`; a block for each 128 x 128 results, their column along x, their row along y. Where
/// `beta` is zero, `c` is not read.
#[kernel(launch_bounds(256, exact, min_blocks = 2))]
pub fn sgemm(alpha: f32, a: Matrix<f32>, b: Matrix<f32>, beta: f32, mut c: MatrixOut<f32>) {
    let tiles = Tiles {
        a: shared!(raw [Vector<f32>; 2 * A_SIZE / 4])
            .as_mut_ptr()
            .cast(),
        b: shared!(raw [Vector<f32>; 2 * B_SIZE / 4])
            .as_mut_ptr()
            .cast(),
    };
    let (rows, columns, stride) = (c.rows() as u32, c.columns() as u32, c.stride());
    let to = c.as_mut_ptr();
    // With these, a vector lies wholly inside a row or wholly outside, and is aligned.
    let widths = a.columns() | a.stride() | b.columns() | b.stride() | columns as usize | stride;
    let addresses = a.as_ptr().addr() | b.as_ptr().addr() | to.addr();
    let vectors = widths & 3 | addresses & 15 == 0;

    let mut sums: Sums = [[0.0; 8]; 8];
    // SAFETY: the tiles are two buffers of the sizes that `multiply` needs, and all threads of the block come here.
    unsafe {
        if vectors {
            multiply::<true>(&mut sums, &a, &b, &tiles);
        } else {
            multiply::<false>(&mut sums, &a, &b, &tiles);
        }
    }

    let (row0, column0) = own();
    let (row0, column0) = (
        thread::block_idx_y() * TILE + row0,
        thread::block_idx_x() * TILE + column0,
    );
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

/// Two buffers for a tile of each factor.
struct Tiles {
    /// Transposed: `DEPTH` rows of `TILE` elements, `A_PITCH` apart.
    a: *mut f32,
    /// `DEPTH` rows of `TILE` elements.
    b: *mut f32,
}

/// Row and column in the tile of the thread's first result. It has four rows from there and four 32 below, four
/// columns from there and four 16 to the right: so the lanes of a warp read neighbouring vectors, without conflicts.
#[inline(always)]
fn own() -> (u32, u32) {
    let t = thread::thread_idx_x();
    let (lane, warp) = (t & 31, t >> 5);
    (
        (warp >> 2) * 64 + (lane >> 2) * 4,
        (warp & 3) * 32 + (lane & 3) * 4,
    )
}

/// Adds the products of the block's rows of `a` and columns of `b`.
///
/// # Safety
/// The tiles are two buffers each of shared memory of this block; all its threads call this. With `VECTORS`, all rows
/// begin at multiples of 16 bytes and have a multiple of 4 elements.
#[inline(always)]
unsafe fn multiply<const VECTORS: bool>(
    sums: &mut Sums,
    a: &Matrix<f32>,
    b: &Matrix<f32>,
    tiles: &Tiles,
) {
    let t = thread::thread_idx_x();
    let (a_row, a_column) = (t >> 1, (t & 1) * 4);
    let (b_row, b_column) = (t >> 5, (t & 31) * 4);
    let row = thread::block_idx_y() * TILE + a_row;
    let column = thread::block_idx_x() * TILE + b_column;
    let (m, n) = own();
    let (depth, b_columns) = (a.columns().min(b.rows()) as u32, b.columns() as u32);
    let row_is_inside = row < a.rows() as u32;
    // The first element of the thread's vector of the next step; where that lies outside, the address is not used.
    let mut at_a = a
        .as_ptr()
        .wrapping_add(row as usize * a.stride() + a_column as usize);
    let mut at_b = b
        .as_ptr()
        .wrapping_add(b_row as usize * b.stride() + column as usize);
    // SAFETY: all places lie in a buffer, and each of them is written by one thread between two barriers.
    let store = |buffer: usize, next_a: Vector<f32>, next_b: Vector<f32>| unsafe {
        let place = tiles
            .a
            .add(buffer * A_SIZE + (a_column * A_PITCH + a_row) as usize);
        *place = next_a.0[0];
        *place.add(A_PITCH as usize) = next_a.0[1];
        *place.add(2 * A_PITCH as usize) = next_a.0[2];
        *place.add(3 * A_PITCH as usize) = next_a.0[3];
        let place = tiles
            .b
            .add(buffer * B_SIZE + (b_row * TILE + b_column) as usize);
        *place.cast() = next_b;
    };
    // SAFETY: rows and columns are compared with what the matrices have.
    let (first_a, first_b) = unsafe {
        (
            load::<VECTORS>(at_a, row_is_inside, a_column, depth),
            load::<VECTORS>(at_b, b_row < depth, column, b_columns),
        )
    };
    store(0, first_a, first_b);
    block::sync();
    let mut k = 0;
    while k < depth {
        let buffer = ((k / DEPTH) & 1) as usize;
        // The next step's elements are on their way while this step's are multiplied. They are stored in the same turn of
        // the loop: the assembler then sees how long they take, and begins with them.
        k += DEPTH;
        at_a = at_a.wrapping_add(DEPTH as usize);
        at_b = at_b.wrapping_add(DEPTH as usize * b.stride());
        // SAFETY: rows and columns are compared with what the matrices have.
        let (next_a, next_b) = unsafe {
            (
                load::<VECTORS>(at_a, row_is_inside, k + a_column, depth),
                load::<VECTORS>(at_b, k + b_row < depth, column, b_columns),
            )
        };
        // SAFETY: all places lie in the buffer, which was written before the last barrier, and is written again after the
        // next one only.
        unsafe {
            let from_a = tiles.a.add(buffer * A_SIZE + m as usize);
            let from_b = tiles.b.add(buffer * B_SIZE + n as usize);
            unroll!(d in [0, 1, 2, 3, 4, 5, 6, 7] {
                let a0: Vector<f32> = *from_a.add(d * A_PITCH as usize).cast();
                let a1: Vector<f32> = *from_a.add(d * A_PITCH as usize + 32).cast();
                let b0: Vector<f32> = *from_b.add(d * TILE as usize).cast();
                let b1: Vector<f32> = *from_b.add(d * TILE as usize + 16).cast();
                let x = [a0.0[0], a0.0[1], a0.0[2], a0.0[3], a1.0[0], a1.0[1], a1.0[2], a1.0[3]];
                let y = [b0.0[0], b0.0[1], b0.0[2], b0.0[3], b1.0[0], b1.0[1], b1.0[2], b1.0[3]];
                unroll!(i in [0, 1, 2, 3, 4, 5, 6, 7] {
                    unroll!(j in [0, 1, 2, 3, 4, 5, 6, 7] {
                        sums[i][j] += x[i] * y[j];
                    });
                });
            });
        }
        store(buffer ^ 1, next_a, next_b);
        block::sync();
    }
}

/// Four elements of a row from `column` on, zero where the row, of `columns`, has none or is not inside the matrix.
///
/// # Safety
/// `at` is the address of the first of them, if there is one. With `VECTORS`, `column` and `columns` are multiples of 4,
/// and the address is one of 16.
#[inline(always)]
unsafe fn load<const VECTORS: bool>(
    at: *const f32,
    inside: bool,
    column: u32,
    columns: u32,
) -> Vector<f32> {
    let mut vector = Vector::<f32>([0.0; 4]);
    // SAFETY: only elements that the row has.
    unsafe {
        if VECTORS {
            if inside && column < columns {
                vector = *at.cast();
            }
        } else {
            unroll!(j in [0, 1, 2, 3] {
                if inside && column + (j as u32) < columns {
                    vector.0[j] = *at.add(j);
                }
            });
        }
    }
    vector
}

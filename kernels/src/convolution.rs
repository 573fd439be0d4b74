//! A picture and a 7 x 7 filter, zero outside. Explained in `docs/src/kernels/convolution.md`.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// Rows and columns of a block's results.
pub const TILE: u32 = 64;
/// Threads of a block, each with 4 x 4 results.
pub const THREADS: u32 = 256;

/// The filter: a by-value parameter, so it is in constant memory, and a multiplication reads its weight from there
/// without a load of its own.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Filter {
    /// Row by row.
    pub weights: [f32; 49],
}

/// Vectors in a row of the tile: 64 columns of results, and 4 to either side of which 3 are needed.
const ROW: u32 = 18;
/// Rows of the tile: 64, and 3 above and below.
const ROWS: u32 = 70;

/// `output := input correlated with filter`; a block for each 64 x 64 results.
#[kernel(launch_bounds(256, exact, min_blocks = 6))]
pub fn convolution(input: Matrix<f32>, filter: Filter, mut output: MatrixOut<f32>) {
    let tile = shared!(raw [Vector<f32>; (ROW * ROWS) as usize])
        .as_mut_ptr()
        .cast::<Vector<f32>>();
    let t = thread::thread_idx_x();
    let (block_row, block_column) = (thread::block_idx_y() * TILE, thread::block_idx_x() * TILE);

    // Wrapping below zero makes a position above or left of the picture a large one: outside, like the others.
    let (row0, column0) = (block_row.wrapping_sub(3), block_column.wrapping_sub(4));
    let mut i = t;
    while i < ROW * ROWS {
        let vector = load(
            &input,
            row0.wrapping_add(i / ROW),
            column0.wrapping_add(i % ROW * 4),
        );
        // SAFETY: in bounds, and each vector is written by one thread.
        unsafe { *tile.add(i as usize) = vector };
        i += THREADS;
    }
    block::sync();

    let (tx, ty) = (t & 15, t >> 4);
    let mut sums = [[0.0f32; 4]; 4];
    unroll!(r in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] {
        // SAFETY: row ty * 4 + r < 70, vectors tx .. tx + 3 < 18; written before the barrier.
        let [Vector(a), Vector(b), Vector(c)] = unsafe {
            let row = tile.add(((ty * 4 + r as u32) * ROW + tx) as usize);
            [*row, *row.add(1), *row.add(2)]
        };
        let x = [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], c[0], c[1], c[2], c[3]];
        unroll!(i in [0, 1, 2, 3] {
            if r >= i && r - i < 7 {
                unroll!(f in [0, 1, 2, 3, 4, 5, 6] {
                    unroll!(j in [0, 1, 2, 3] {
                        // The guard above makes the subtraction right; `min` only keeps the unused cases in bounds.
                        const WEIGHT: usize = if r >= i && r - i < 7 { (r - i) * 7 + f } else { 0 };
                        sums[i][j] += filter.weights[WEIGHT] * x[j + f + 1];
                    });
                });
            }
        });
    });

    let (rows, columns, stride) = (
        output.rows() as u32,
        output.columns() as u32,
        output.stride(),
    );
    let to = output.as_mut_ptr();
    let vectors = to.addr() & 15 | stride & 3 == 0;
    let column = block_column + tx * 4;
    unroll!(i in [0, 1, 2, 3] {
        let row = block_row + ty * 4 + i as u32;
        if row < rows {
            // SAFETY: every write is to a row and column of the output, which one thread has.
            unsafe {
                let target = to.add(row as usize * stride + column as usize);
                if vectors && column + 4 <= columns {
                    *target.cast() = Vector::<f32>(sums[i]);
                } else {
                    unroll!(j in [0, 1, 2, 3] {
                        if column + (j as u32) < columns {
                            *target.add(j) = sums[i][j];
                        }
                    });
                }
            }
        }
    });
}

/// Four elements of a row, zero where there are none.
#[inline]
fn load(input: &Matrix<f32>, row: u32, column: u32) -> Vector<f32> {
    let (rows, columns, stride) = (input.rows() as u32, input.columns() as u32, input.stride());
    let from = input.as_ptr();
    let mut vector = Vector::<f32>([0.0; 4]);
    if row < rows {
        // SAFETY: every read is of a row and column that the picture has; 16 bytes at a time only where they are
        // aligned and all four in one row. An address outside is computed by wrapping, and not used.
        unsafe {
            let source = from
                .wrapping_add(row as usize * stride)
                .wrapping_offset(column as i32 as isize);
            if (from.addr() & 15 | stride & 3 == 0) && column < columns && columns - column >= 4 {
                vector = *source.cast();
            } else {
                unroll!(j in [0, 1, 2, 3] {
                    if column.wrapping_add(j as u32) < columns {
                        vector.0[j] = *source.wrapping_add(j);
                    }
                });
            }
        }
    }
    vector
}

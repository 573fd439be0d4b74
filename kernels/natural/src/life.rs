//! Conway's game of life on a torus.

use warpsmith_device::prelude::*;

/// `new` = the next generation.
#[kernel]
pub fn life(old: Matrix<u8>, mut new: MatrixOut<u8>) {
    let (row, column) = (new.row(), new.column());
    let (rows, columns) = (old.rows(), old.columns());
    if let Some(new) = new.mine() {
        let mut neighbours = 0;
        for dy in [rows - 1, 0, 1] {
            for dx in [columns - 1, 0, 1] {
                if (dy, dx) != (0, 0) {
                    neighbours += old[((row + dy) % rows, (column + dx) % columns)];
                }
            }
        }
        let is_alive = old[(row, column)] == 1;
        *new = match (is_alive, neighbours) {
            (true, 2 | 3) | (false, 3) => 1,
            _ => 0,
        };
    }
}

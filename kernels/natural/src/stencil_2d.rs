//! A step of Jacobi's method in two dimensions.

use warpsmith_device::prelude::*;

/// `out` = the mean of each element's four neighbours; the border stays as it is.
#[kernel]
pub fn stencil_2d(x: Matrix<f32>, mut out: MatrixOut<f32>) {
    let (row, column) = (out.row(), out.column());
    if let Some(out) = out.mine() {
        let is_inside = row > 0 && column > 0 && row + 1 < x.rows() && column + 1 < x.columns();
        *out = if is_inside {
            0.25 * (x[(row - 1, column)]
                + x[(row + 1, column)]
                + x[(row, column - 1)]
                + x[(row, column + 1)])
        } else {
            x[(row, column)]
        };
    }
}

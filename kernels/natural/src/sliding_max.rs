//! The largest value of a window that slides along each row.

use warpsmith_device::prelude::*;

/// Places of a window.
pub const WINDOW: usize = 9;

/// `out[r][c]` = the largest of the values from `x[r][c]` to `x[r][c + WINDOW - 1]`, and how far it is from the window's begin.
#[kernel]
pub fn sliding_max(x: Matrix<i16>, mut out: MatrixOut<[i16; 2]>) {
    let (row, column) = (out.row(), out.column());
    if let Some(out) = out.mine()
        && let Some(window) = x.row(row).windows(WINDOW).nth(column)
    {
        let (place, &max) = window
            .iter()
            .enumerate()
            .max_by_key(|&(place, &value)| (value, WINDOW - place))
            .unwrap_or((0, &0));
        *out = [max, place as i16];
    }
}

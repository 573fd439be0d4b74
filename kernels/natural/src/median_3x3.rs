//! A picture without specks, by the median of each pixel and its neighbours.

use warpsmith_device::prelude::*;

/// `out` = the median of each pixel and its eight neighbours; the border stays as it is.
#[kernel]
pub fn median_3x3(picture: Matrix<u8>, mut out: MatrixOut<u8>) {
    let (row, column) = (out.row(), out.column());
    if let Some(out) = out.mine() {
        if row == 0 || column == 0 || row == picture.rows() - 1 || column == picture.columns() - 1 {
            *out = picture[(row, column)];
            return;
        }
        let mut window = [0u8; 9];
        for dy in 0..3 {
            for dx in 0..3 {
                window[dy * 3 + dx] = picture[(row + dy - 1, column + dx - 1)];
            }
        }
        *out = median(window);
    }
}

/// The fifth of nine values.
pub fn median(mut window: [u8; 9]) -> u8 {
    for i in 0..5 {
        for j in i + 1..9 {
            if window[j] < window[i] {
                window.swap(i, j);
            }
        }
    }
    window[4]
}

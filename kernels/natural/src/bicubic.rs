//! A picture made larger, by cubic curves.

use warpsmith_device::prelude::*;

/// What the four pixels around a place weigh, `t` behind the second one.
fn weights(t: f32) -> [f32; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [
        -0.5 * t + t2 - 0.5 * t3,
        1.0 - 2.5 * t2 + 1.5 * t3,
        0.5 * t + 2.0 * t2 - 1.5 * t3,
        -0.5 * t2 + 0.5 * t3,
    ]
}

/// `large` = the picture at `scale` as many pixels in each direction; beyond the border it goes on as at the border.
#[kernel]
pub fn bicubic(picture: Matrix<f32>, scale: f32, mut large: MatrixOut<f32>) {
    let (row, column) = (large.row(), large.column());
    if let Some(out) = large.mine() {
        let (y, x) = (row as f32 / scale, column as f32 / scale);
        let (top, left) = (y.floor(), x.floor());
        let of_row = weights(y - top);
        let of_column = weights(x - left);
        let mut sum = 0.0;
        for (i, weight) in of_row.iter().enumerate() {
            let y = (top as i32 + i as i32 - 1).clamp(0, picture.rows() as i32 - 1);
            let row = picture.row(y as usize);
            let part: f32 = of_column
                .iter()
                .enumerate()
                .map(|(j, weight)| {
                    let x = (left as i32 + j as i32 - 1).clamp(0, row.len() as i32 - 1);
                    weight * row[x as usize]
                })
                .sum();
            sum += weight * part;
        }
        *out = sum.clamp(0.0, 1.0);
    }
}

//! The cosine transform of squares of 8 x 8 pixels, as in JPEG.

use warpsmith_device::prelude::*;

/// Rows of a block of threads: four squares, one upon another.
const ROWS: usize = 32;

/// The cosines: a row for each frequency.
pub const COSINES: [[f32; 8]; 8] = {
    // cos(i * pi / 16) / 2 for i from 0 to 8.
    const HALF: [f32; 9] = [
        0.5,
        0.490_392_64,
        0.461_939_77,
        0.415_734_8,
        0.353_553_4,
        0.277_785_12,
        0.191_341_72,
        0.097_545_16,
        0.0,
    ];
    let mut table = [[HALF[4]; 8]; 8];
    let mut frequency = 1;
    while frequency < 8 {
        let mut place = 0;
        while place < 8 {
            let angle = (2 * place + 1) * frequency % 32;
            table[frequency][place] = match angle {
                0..=8 => HALF[angle],
                9..=16 => -HALF[16 - angle],
                17..=24 => -HALF[angle - 16],
                _ => HALF[32 - angle],
            };
            place += 1;
        }
        frequency += 1;
    }
    table
};

/// `out` = the cosine transform of each square of the picture, less 128; a thread has a frequency.
#[kernel(launch_bounds(8, 32, exact))]
pub fn dct_8x8(picture: Matrix<u8>, mut out: MatrixOut<f32>) {
    let (row, column) = (out.row(), out.column());
    let x = thread::thread_idx_x() as usize;
    let y = thread::thread_idx_y() as usize;
    let square = y / 8 * 8;
    let pixels = shared!([[f32; 8]; ROWS])
        .fill_with(|_, _| {
            picture
                .get(row, column)
                .map_or(0.0, |&p| f32::from(p) - 128.0)
        })
        .sync();
    let rows = shared!([[f32; 8]; ROWS])
        .fill_with(|y, x| {
            let mut sum = 0.0;
            for (cosine, pixel) in COSINES[x].iter().zip(pixels.row(y)) {
                sum += cosine * pixel;
            }
            sum
        })
        .sync();
    if let Some(out) = out.mine() {
        *out = (0..8)
            .map(|k| COSINES[y - square][k] * rows[(square + k, x)])
            .sum();
    }
}

//! Perlin's noise in two dimensions.

use warpsmith_device::prelude::*;

/// Noise at each pixel, from `octaves` layers that are each twice as fine as the one before; `table` has the numbers up to 255, shuffled.
#[kernel]
pub fn perlin(table: &[u8], octaves: u32, scale: f32, mut out: MatrixOut<f32>) {
    let (row, column) = (out.row(), out.column());
    if let Some(out) = out.mine() {
        let (mut x, mut y) = (column as f32 * scale, row as f32 * scale);
        let (mut sum, mut weight) = (0.0, 1.0);
        for _ in 0..octaves {
            sum += weight * noise(table, x, y);
            x *= 2.0;
            y *= 2.0;
            weight *= 0.5;
        }
        *out = sum;
    }
}

fn fade(t: f32) -> f32 {
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}

fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + t * (b - a)
}

/// A slope at a corner: one of four diagonals.
fn gradient(hash: u8, x: f32, y: f32) -> f32 {
    match hash & 3 {
        0 => x + y,
        1 => -x + y,
        2 => x - y,
        _ => -x - y,
    }
}

/// A layer of noise.
pub fn noise(table: &[u8], x: f32, y: f32) -> f32 {
    let (left, top) = (FloatExt::floor(x), FloatExt::floor(y));
    let (i, j) = (left as usize & 255, top as usize & 255);
    let (x, y) = (x - left, y - top);
    let hash = |i: usize, j: usize| table[(table[i & 255] as usize + j) & 255];
    let (u, v) = (fade(x), fade(y));
    mix(
        mix(
            gradient(hash(i, j), x, y),
            gradient(hash(i + 1, j), x - 1.0, y),
            u,
        ),
        mix(
            gradient(hash(i, j + 1), x, y - 1.0),
            gradient(hash(i + 1, j + 1), x - 1.0, y - 1.0),
            u,
        ),
        v,
    )
}

//! A step of Ising's model of a magnet: half of a chequered lattice is updated.

use warpsmith_device::prelude::*;

/// Updates the spins of one colour of a lattice whose ends meet, given those of the other colour: a row of each has every second site of a
/// row of the lattice. In the rows of parity `shifted`, sites of this colour are behind those of the other. `chances[i]` is how probable, of
/// 2^32, a spin turns that agrees with `i` of its four neighbours.
#[kernel]
pub fn ising(
    others: Matrix<i8>,
    shifted: u32,
    seed: u32,
    chances: [u32; 5],
    mut own: MatrixOut<i8>,
) {
    let (row, column) = (own.row(), own.column());
    let (rows, columns) = (others.rows(), others.columns());
    if let Some(spin) = own.mine() {
        let above = row.checked_sub(1).unwrap_or(rows - 1);
        let below = if row + 1 < rows { row + 1 } else { 0 };
        let beside = if row as u32 % 2 == shifted {
            if column + 1 < columns { column + 1 } else { 0 }
        } else {
            column.checked_sub(1).unwrap_or(columns - 1)
        };
        let neighbours = [
            (above, column),
            (below, column),
            (row, column),
            (row, beside),
        ];
        let agreeing = neighbours
            .iter()
            .filter(|&&place| others[place] == *spin)
            .count();
        if random(seed, (row * columns + column) as u32) < chances[agreeing] {
            *spin = -*spin;
        }
    }
}

/// A random number for a site.
pub fn random(seed: u32, site: u32) -> u32 {
    let mut x = seed ^ site.wrapping_mul(0x9E37_79B1);
    for (shift, factor) in [(16, 0x7FEB_352D), (15, 0x846C_A68B)] {
        x ^= x >> shift;
        x = x.wrapping_mul(factor);
    }
    x ^ x >> 16
}

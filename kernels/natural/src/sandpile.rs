//! A step of a sand pile: what is too high falls to its neighbours.

use warpsmith_device::prelude::*;

/// Grains from which on a place falls.
pub const HIGH: u32 = 4;

/// `new` = the grains of each place after all that are too high gave a grain to each neighbour; `fell` counts those.
#[kernel]
pub fn sandpile(grains: Matrix<u32>, fell: AtomicSlice<u32>, mut new: MatrixOut<u32>) {
    let (row, column) = (new.row(), new.column());
    if let Some(new) = new.mine() {
        let own = grains[(row, column)];
        let neighbours = [
            row.checked_sub(1).map(|row| (row, column)),
            Some((row + 1, column)),
            column.checked_sub(1).map(|column| (row, column)),
            Some((row, column + 1)),
        ];
        let received = neighbours
            .into_iter()
            .flatten()
            .filter_map(|(row, column)| grains.get(row, column))
            .filter(|&&grains| grains >= HIGH)
            .count() as u32;
        let mut left = own;
        if own >= HIGH {
            left -= HIGH;
            fell[0].add(1, Relaxed);
        }
        *new = left + received;
    }
}

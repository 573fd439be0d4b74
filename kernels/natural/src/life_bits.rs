//! Conway's game of life, 64 cells a word.

use warpsmith_device::prelude::*;

/// `new` = the next generation of a plane that is empty around: a row of words has their cells from the lowest bit on.
#[kernel]
pub fn life_bits(old: Matrix<u64>, mut new: MatrixOut<u64>) {
    let (row, column) = (new.row(), new.column());
    if let Some(new) = new.mine() {
        let word = |dy: isize, dx: isize| {
            let (y, x) = (row.checked_add_signed(dy)?, column.checked_add_signed(dx)?);
            old.get(y, x).copied()
        };
        let mut neighbours = Count::default();
        for dy in -1..=1 {
            let [west, here, east] = [-1, 0, 1].map(|dx| word(dy, dx).unwrap_or(0));
            neighbours.add(here << 1 | west >> 63);
            neighbours.add(here >> 1 | east << 63);
            if dy != 0 {
                neighbours.add(here);
            }
        }
        *new = neighbours.is_three() | neighbours.is_two() & old[(row, column)];
    }
}

/// How many neighbours each of 64 cells has, up to 7: the bits of equal weight in a word.
#[derive(Clone, Copy, Default)]
struct Count {
    bits: [u64; 3],
}

impl Count {
    /// Adds one where a cell is set; 8 becomes 0, which is no less deadly.
    fn add(&mut self, cells: u64) {
        let mut carry = cells;
        for bits in &mut self.bits {
            (*bits, carry) = (*bits ^ carry, *bits & carry);
        }
    }

    fn is_three(self) -> u64 {
        let [ones, twos, fours] = self.bits;
        ones & twos & !fours
    }

    fn is_two(self) -> u64 {
        let [ones, twos, fours] = self.bits;
        !ones & twos & !fours
    }
}

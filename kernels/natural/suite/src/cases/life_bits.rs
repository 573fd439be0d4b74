//! The game of life, 64 cells a word.

use super::prelude::*;
use crate::problem::draw_long;

case!(life_bits: "the game of life, 64 cells a word", "words a row", simulator [5, 1], gpu 2000);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns * 2 + 3;
    let old = draw_long(1, rows * columns);
    let cell = |y: usize, x: usize| match old.get(y * columns + x / 64) {
        Some(word) if x < columns * 64 => word >> (x % 64) & 1,
        _ => 0,
    };
    let next = |i: usize| {
        let (y, first) = (i / columns, i % columns * 64);
        (0..64).fold(0, |word, bit| {
            let x = first + bit;
            let mut sum = 0;
            for y in y.saturating_sub(1)..=y + 1 {
                sum += (x.saturating_sub(1)..=x + 1)
                    .map(|x| cell(y, x))
                    .sum::<u64>();
            }
            let is_alive = sum == 3 || sum == 4 && cell(y, x) == 1;
            word | u64::from(is_alive) << bit
        })
    };
    let step = (rows * columns).div_ceil(20_000);
    let check = exactly((0..rows * columns).step_by(step).map(next).collect());
    let kernel = session.pair(kernels::life_bits::life_bits, "life_bits")?;
    let old = session.stream.upload(&old)?;
    problem(
        session,
        format!("{rows} x {columns} words"),
        &vec![u64::MAX; rows * columns],
        move |session, side, new| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let old = old.matrix(rows, columns)?;
            let new = new.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (old, new));
            Ok(())
        },
        every(step, check),
    )
}

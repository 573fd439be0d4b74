//! A step of Ising's model.

use super::prelude::*;
use kernels::ising::random;

case!(ising: "half a step of Ising's model, spins of 8 bits", "sites of a colour in a row", simulator [40, 1], gpu 1 << 13);

const SEED: u32 = 0xbeef;
const SHIFTED: usize = 1;

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = 2 * (columns / 4 + 1);
    let spins = |seed| -> Vec<i8> {
        let bits = below(seed, rows * columns, 2);
        bits.iter().map(|&bit| 2 * bit as i8 - 1).collect()
    };
    let (own, others) = (spins(1), spins(2));
    // A spin turns if it agrees with few; if not, at times.
    let chances: [u32; 5] =
        std::array::from_fn(|i| (f64::from(u32::MAX) * (2.0 - i as f64).exp().min(1.0)) as u32);

    // The lattice as a whole, 2 * columns wide.
    let width = 2 * columns;
    let behind = |row: usize| usize::from(row % 2 == SHIFTED);
    let mut lattice = vec![0i8; rows * width];
    for (at, (&own, &other)) in own.iter().zip(&others).enumerate() {
        let row = at / columns;
        let pair = row * width + at % columns * 2;
        lattice[pair + behind(row)] = own;
        lattice[pair + 1 - behind(row)] = other;
    }
    let next = |at: usize| {
        let (row, x) = (at / columns, at % columns * 2 + behind(at / columns));
        let spin = |y: usize, x: usize| lattice[y % rows * width + x % width];
        let around = [
            spin(row + rows - 1, x),
            spin(row + 1, x),
            spin(row, x + width - 1),
            spin(row, x + 1),
        ];
        let agreeing = around.iter().filter(|&&other| other == own[at]).count();
        if random(SEED, at as u32) < chances[agreeing] {
            -own[at]
        } else {
            own[at]
        }
    };
    let want = (0..rows * columns).map(next).collect();
    let kernel = session.pair(kernels::ising::ising, "ising")?;
    let others = session.stream.upload(&others)?;
    problem(
        session,
        format!("{rows} x {width}"),
        &own,
        move |session, side, own| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let others = others.matrix(rows, columns)?;
            let own = own.matrix_mut(rows, columns)?;
            let arguments = (others, SHIFTED as u32, SEED, chances, own);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        exactly(want),
    )
}

//! Queens that do not threaten each other.

use super::prelude::*;
use kernels::n_queens::solutions;

case!(n_queens: "boards of queens completed, from their first three rows", "rows", simulator [7, 5], gpu 15);

/// Rows of a start.
const FIRST: usize = 3;

fn prepare(session: &Session, size: usize) -> Result<Box<dyn Problem>> {
    let mut starts = vec![[0u32; 3]];
    for _ in 0..FIRST {
        let next = |&[columns, left, right]: &[u32; 3]| {
            let queens = (0..size).map(|column| 1u32 << column);
            let free = queens.filter(move |queen| queen & (columns | left | right) == 0);
            let place = move |queen| [columns | queen, (left | queen) << 1, (right | queen) >> 1];
            free.map(place).collect::<Vec<_>>()
        };
        starts = starts.iter().flat_map(next).collect();
    }
    let (n, rows) = (starts.len(), size - FIRST);
    let step = n.div_ceil(200);
    let want = starts
        .iter()
        .step_by(step)
        .map(|&start| solutions(start, size as u32, rows))
        .collect();
    let check = exactly(want);
    let kernel = session.pair(kernels::n_queens::n_queens, "n_queens")?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{size} x {size}, {n} starts"),
        &vec![u32::MAX; n],
        move |session, side, counts| {
            let grid = Grid::cover(n, 64);
            launch_pair!(
                session,
                side,
                kernel,
                grid,
                (&starts, size as u32, rows, counts)
            );
            Ok(())
        },
        every(step, check),
    )
}

#[cfg(test)]
mod tests {
    use super::solutions;

    #[test]
    fn the_ways_of_boards_that_others_counted() {
        let ways = [4, 5, 6, 7, 8, 9].map(|size| solutions([0; 3], size, size as usize));
        assert_eq!(ways, [2, 10, 4, 40, 92, 352]);
    }
}

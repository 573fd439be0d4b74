//! Edit distances of words.

use super::prelude::*;
use kernels::edit_distance::{LETTERS, distance_of};

case!(edit_distance: "edit distance of two words, a thread a pair", "pairs", simulator [40, 1], gpu 1 << 18);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let words = |seed| -> Vec<[u8; LETTERS]> {
        let letters: Vec<u8> = below(seed, n * LETTERS, 4)
            .iter()
            .map(|&l| l as u8)
            .collect();
        letters.as_chunks().0.to_vec()
    };
    let (first, second) = (words(1), words(2));
    let want = first
        .iter()
        .zip(&second)
        .map(|(a, b)| distance_of(a, b))
        .collect();
    let kernel = session.pair(kernels::edit_distance::edit_distance, "edit_distance")?;
    let (first, second) = (
        session.stream.upload(&first)?,
        session.stream.upload(&second)?,
    );
    problem(
        session,
        format!("{n} pairs of {LETTERS}"),
        &vec![u32::MAX; n],
        move |session, side, distances| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&first, &second, distances));
            Ok(())
        },
        exactly(want),
    )
}

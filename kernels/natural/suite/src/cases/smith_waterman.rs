//! The best local alignments of pairs of sequences.

use super::prelude::*;
use kernels::smith_waterman::QUERY;

case!(smith_waterman: "local alignment by diagonals, a block a pair", "pairs", simulator [3, 1], gpu 1 << 14);

/// Letters of a target.
const TARGET: usize = 300;

fn prepare(session: &Session, pairs: usize) -> Result<Box<dyn Problem>> {
    let letters = |seed, n| -> Vec<u8> { below(seed, n, 4).iter().map(|&l| l as u8).collect() };
    let (queries, targets) = (letters(1, pairs * QUERY), letters(2, pairs * TARGET));
    let want = queries
        .chunks_exact(QUERY)
        .zip(targets.chunks_exact(TARGET))
        .map(|(query, target)| score(query, target))
        .collect();
    let kernel = session.pair(kernels::smith_waterman::smith_waterman, "smith_waterman")?;
    let queries = session.stream.upload(&queries)?;
    let targets = session.stream.upload(&targets)?;
    problem(
        session,
        format!("{pairs} pairs of {QUERY} and {TARGET}"),
        &vec![0i32; pairs],
        move |session, side, scores| {
            let grid = Grid::new(pairs as u32, QUERY as u32);
            let arguments = (&queries, &targets, TARGET, scores);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        exactly(want),
    )
}

fn score(query: &[u8], target: &[u8]) -> i32 {
    let mut best = 0;
    let mut row = vec![0i32; target.len() + 1];
    for letter in query {
        let mut diagonal = 0;
        for (j, other) in target.iter().enumerate() {
            let same = if letter == other { 3 } else { -2 };
            let above = row[j + 1];
            row[j + 1] = (diagonal + same).max(above - 4).max(row[j] - 4).max(0);
            diagonal = above;
            best = best.max(row[j + 1]);
        }
    }
    best
}

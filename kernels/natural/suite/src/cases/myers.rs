//! Where patterns are nearest to a text.

use super::prelude::*;
use kernels::myers::{LETTERS, PATTERN};

case!(myers: "the least distance of patterns from a text, by bits", "patterns", simulator [60, 1], gpu 1 << 18);

const LENGTH: usize = 1000;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let letters = |seed, n| -> Vec<u8> {
        let letters = below(seed, n, LETTERS as u32);
        letters.iter().map(|&letter| letter as u8).collect()
    };
    let text = letters(1, LENGTH);
    let mut all = letters(2, PATTERN * n);
    let patterns: &mut [[u8; PATTERN]] = all.as_chunks_mut().0;
    for (i, pattern) in patterns.iter_mut().enumerate() {
        let at = i * 13 % (LENGTH - PATTERN);
        pattern[..40].copy_from_slice(&text[at..at + 40]);
        pattern[i % 40] ^= 1;
    }
    let step = n.div_ceil(100);
    let want = patterns
        .iter()
        .step_by(step)
        .map(|pattern| nearest(&text, pattern))
        .collect();
    let check = exactly(want);
    let kernel = session.pair(kernels::myers::myers, "myers")?;
    let text = session.stream.upload(&text)?;
    let patterns = session.stream.upload(patterns)?;
    problem(
        session,
        format!("{n} patterns, a text of {LENGTH}"),
        &vec![u32::MAX; n],
        move |session, side, distances| {
            let grid = Grid::cover(n, 128);
            launch_pair!(session, side, kernel, grid, (&text, &patterns, distances));
            Ok(())
        },
        every(step, check),
    )
}

/// The least distance by the whole table.
fn nearest(text: &[u8], pattern: &[u8]) -> u32 {
    let mut column: Vec<u32> = (0..=pattern.len() as u32).collect();
    let mut least = pattern.len() as u32;
    for letter in text {
        let mut diagonal = 0;
        for (i, own) in pattern.iter().enumerate() {
            let replaced = diagonal + u32::from(own != letter);
            diagonal = column[i + 1];
            column[i + 1] = replaced.min(diagonal + 1).min(column[i] + 1);
        }
        least = least.min(column[pattern.len()]);
    }
    least
}

//! The best alignment of two words, and the way back through the table.

use warpsmith_device::prelude::*;

/// Letters of a word.
pub const LETTERS: usize = 24;

/// Where the best score of a cell comes from.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    /// A letter of both words.
    Both,
    /// A letter of the first word alone.
    First,
    /// A letter of the second word alone.
    Second,
}

/// What an alignment is like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Alignment {
    /// Its score: 2 for equal letters, -1 for others, -2 for a gap.
    pub score: i32,
    /// How many equal letters it has.
    pub equal: i32,
    /// How many letters of the first word are alone.
    pub alone: i32,
    /// How many runs of letters that are alone there are, in either word.
    pub gaps: i32,
}

/// The best alignment of each pair of words: its score, equal letters, letters of the first word alone, and gaps.
#[kernel]
pub fn needleman(
    first: &[[u8; LETTERS]],
    second: &[[u8; LETTERS]],
    mut alignments: PerThread<[[i32; 4]]>,
) {
    let i = thread::index();
    if let Some(to) = alignments.mine() {
        let best = align(&first[i], &second[i]);
        *to = [best.score, best.equal, best.alone, best.gaps];
    }
}

/// The best alignment of two words.
pub fn align(first: &[u8; LETTERS], second: &[u8; LETTERS]) -> Alignment {
    let mut steps = [[Step::Both; LETTERS + 1]; LETTERS + 1];
    let mut scores = [0; LETTERS + 1];
    for (j, score) in scores.iter_mut().enumerate() {
        *score = -2 * j as i32;
        steps[0][j] = Step::Second;
    }
    for (i, a) in first.iter().enumerate() {
        let mut diagonal = scores[0];
        scores[0] -= 2;
        steps[i + 1][0] = Step::First;
        for (j, b) in second.iter().enumerate() {
            let both = diagonal + if a == b { 2 } else { -1 };
            diagonal = scores[j + 1];
            let mut best = (both, Step::Both);
            for (score, step) in [
                (scores[j + 1] - 2, Step::First),
                (scores[j] - 2, Step::Second),
            ] {
                if score > best.0 {
                    best = (score, step);
                }
            }
            (scores[j + 1], steps[i + 1][j + 1]) = best;
        }
    }

    let mut alignment = Alignment {
        score: scores[LETTERS],
        ..Alignment::default()
    };
    let (mut i, mut j) = (LETTERS, LETTERS);
    let mut last = Step::Both;
    while (i, j) != (0, 0) {
        let step = steps[i][j];
        match step {
            Step::Both => {
                i -= 1;
                j -= 1;
                if first[i] == second[j] {
                    alignment.equal += 1;
                }
            }
            Step::First => {
                i -= 1;
                alignment.alone += 1;
            }
            Step::Second => j -= 1,
        }
        if step != Step::Both && step != last {
            alignment.gaps += 1;
        }
        last = step;
    }
    alignment
}

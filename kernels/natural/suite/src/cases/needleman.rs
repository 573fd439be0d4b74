//! Alignments of words.

use super::prelude::*;
use kernels::needleman::{LETTERS, align};

case!(needleman: "the best alignment of two words, and its way", "pairs", simulator [40, 1], gpu 1 << 17);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let words = |seed| -> Vec<[u8; LETTERS]> {
        let letters = below(seed, n * LETTERS, 4);
        let letters: Vec<u8> = letters.iter().map(|&letter| letter as u8).collect();
        letters.as_chunks().0.to_vec()
    };
    let (first, mut second) = (words(1), words(2));
    // Most words are alike, but for a piece that is missing.
    for (i, word) in second.iter_mut().enumerate().filter(|(i, _)| i % 3 > 0) {
        let missing = 1 + i % 5;
        word[4..LETTERS - missing].copy_from_slice(&first[i][4 + missing..]);
    }
    let step = n.div_ceil(1000);
    let want: Vec<[i32; 4]> = first
        .iter()
        .zip(&second)
        .step_by(step)
        .map(|(first, second)| {
            let best = align(first, second);
            [best.score, best.equal, best.alone, best.gaps]
        })
        .collect();
    let check = exactly(want.as_flattened().to_vec());
    let kernel = session.pair(kernels::needleman::needleman, "needleman")?;
    let first = session.stream.upload(&first)?;
    let second = session.stream.upload(&second)?;
    problem(
        session,
        format!("{n} pairs of {LETTERS}"),
        &vec![[i32::MAX; 4]; n],
        move |session, side, alignments| {
            let grid = Grid::cover(n, 128);
            launch_pair!(session, side, kernel, grid, (&first, &second, alignments));
            Ok(())
        },
        every_array(step, check),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_word_with_a_letter_moved() {
        let word: [u8; LETTERS] = std::array::from_fn(|i| i as u8);
        let mut other = word;
        other[5..].rotate_left(1);
        let best = align(&word, &other);
        assert_eq!((best.score, best.equal), (2 * 23 - 4, 23));
        assert_eq!((best.alone, best.gaps), (1, 2));
    }

    /// Threads whose ways through the table differ meet after each step: the way back is no loop in a loop.
    #[test]
    fn the_way_back_is_one_loop() {
        let (_, text) = crate::NATURAL.ptx.split_once(".entry needleman(").unwrap();
        let (text, _) = text.split_once(".entry").unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let mut walk = Walk::default();
        walk.from(&lines, 0);
        // One fills the rows, one goes back.
        assert_eq!(walk.loops.len(), 2, "{text}");
    }

    /// A way through a kernel's lines.
    #[derive(Default)]
    struct Walk {
        seen: HashSet<usize>,
        open: HashSet<usize>,
        /// The lines that are led back to.
        loops: HashSet<usize>,
    }

    impl Walk {
        fn from(&mut self, lines: &[&str], mut line: usize) {
            let mut straight = Vec::new();
            while line < lines.len() {
                if self.open.contains(&line) {
                    self.loops.insert(line);
                    break;
                }
                if !self.seen.insert(line) {
                    break;
                }
                straight.push(line);
                self.open.insert(line);
                let text = lines[line];
                let goal = text.rsplit_once("$L").filter(|_| text.contains("bra"));
                if let Some((_, goal)) = goal {
                    let label = format!("$L{}:", goal.trim_end_matches(';'));
                    let to = lines.iter().position(|line| *line == label).unwrap();
                    self.from(lines, to);
                }
                if ["bra", "ret", "exit"]
                    .iter()
                    .any(|end| text.starts_with(end))
                {
                    break;
                }
                line += 1;
            }
            straight.iter().for_each(|line| {
                self.open.remove(line);
            });
        }
    }
}

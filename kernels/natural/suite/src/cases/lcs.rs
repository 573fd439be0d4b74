//! Longest common subsequences of words.

use super::prelude::*;
use kernels::lcs::LETTERS;

case!(lcs: "longest common subsequence of two words, a thread a pair", "pairs", simulator [60, 1], gpu 1 << 18);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let words = |seed| -> (Vec<u8>, Vec<u32>) {
        let starts = starts_of(below(seed, n, LETTERS as u32 + 1));
        // A buffer is not empty, whatever the lengths are.
        let letters = below(seed + 1, starts[n] as usize + 1, 4);
        (letters.iter().map(|&l| b'a' + l as u8).collect(), starts)
    };
    let ((first, first_starts), (second, second_starts)) = (words(1), words(3));
    let step = n.div_ceil(20_000);
    let want = first_starts
        .windows(2)
        .zip(second_starts.windows(2))
        .step_by(step)
        .map(|(a, b)| {
            let a = &first[a[0] as usize..a[1] as usize];
            length_of(a, &second[b[0] as usize..b[1] as usize])
        })
        .collect();
    let kernel = session.pair(kernels::lcs::lcs, "lcs")?;
    let first = session.stream.upload(&first)?;
    let first_starts = session.stream.upload(&first_starts)?;
    let second = session.stream.upload(&second)?;
    let second_starts = session.stream.upload(&second_starts)?;
    problem(
        session,
        format!("{n} pairs of up to {LETTERS}"),
        &vec![u32::MAX; n],
        move |session, side, lengths| {
            let grid = Grid::cover(n, 256);
            let arguments = (&first, &first_starts, &second, &second_starts, lengths);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        every(step, exactly(want)),
    )
}

/// The length by a table of all ends of both words.
fn length_of(a: &[u8], b: &[u8]) -> u32 {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i][j] = match a[i] == b[j] {
                true => table[i + 1][j + 1] + 1,
                false => table[i + 1][j].max(table[i][j + 1]),
            };
        }
    }
    table[0][0]
}

#[cfg(test)]
mod tests {
    use super::length_of;

    #[test]
    fn words_from_a_book() {
        assert_eq!(length_of(b"abcbdab", b"bdcaba"), 4);
        assert_eq!(length_of(b"", b"bdcaba"), 0);
    }
}

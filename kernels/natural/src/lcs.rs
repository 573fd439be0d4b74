//! How long the longest common subsequence of two words is, a thread a pair.

use warpsmith_device::prelude::*;

/// Letters that a word has at most.
pub const LETTERS: usize = 32;

/// The length of the longest common subsequence of each pair of words: the letters from `starts[i]` to `starts[i + 1]`.
#[kernel]
pub fn lcs(
    first: &[u8],
    first_starts: &[u32],
    second: &[u8],
    second_starts: &[u32],
    mut lengths: PerThread<[u32]>,
) {
    let i = thread::index();
    if let Some(length) = lengths.mine() {
        let a = &first[first_starts[i] as usize..first_starts[i + 1] as usize];
        let b = &second[second_starts[i] as usize..second_starts[i + 1] as usize];
        *length = length_of(a, b);
    }
}

/// The length of the longest common subsequence; `b` has at most [`LETTERS`] letters.
fn length_of(a: &[u8], b: &[u8]) -> u32 {
    let mut row = [0; LETTERS];
    for x in a {
        let mut diagonal = 0;
        let mut left = 0;
        for (cell, y) in row.iter_mut().zip(b) {
            let above = *cell;
            *cell = if x == y {
                diagonal + 1
            } else {
                left.max(above)
            };
            diagonal = above;
            left = *cell;
        }
    }
    row[..b.len()].last().copied().unwrap_or(0)
}

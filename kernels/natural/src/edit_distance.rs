//! How many edits lie between two words, a thread a pair.

use warpsmith_device::prelude::*;

/// Letters of a word.
pub const LETTERS: usize = 32;

/// The edit distance of each pair of words.
#[kernel]
pub fn edit_distance(
    first: &[[u8; LETTERS]],
    second: &[[u8; LETTERS]],
    mut distances: PerThread<[u32]>,
) {
    let i = thread::index();
    if let Some(distance) = distances.mine() {
        *distance = distance_of(&first[i], &second[i]);
    }
}

/// The edit distance of two words.
pub fn distance_of(first: &[u8; LETTERS], second: &[u8; LETTERS]) -> u32 {
    let mut row = [0u32; LETTERS + 1];
    for (j, cell) in row.iter_mut().enumerate() {
        *cell = j as u32;
    }
    for (i, a) in first.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i as u32 + 1;
        for (j, b) in second.iter().enumerate() {
            let above = row[j + 1];
            let exchanged = diagonal + u32::from(a != b);
            row[j + 1] = exchanged.min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row[LETTERS]
}

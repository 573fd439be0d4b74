//! Where a pattern is nearest to a text, by the columns of the table of distances as bits (Myers).

use warpsmith_device::prelude::*;

/// Letters of the alphabet.
pub const LETTERS: usize = 4;
/// Letters of a pattern.
pub const PATTERN: usize = 48;

/// The least distance of each pattern from any part of the text.
#[kernel]
pub fn myers(text: &[u8], patterns: &[[u8; PATTERN]], mut distances: PerThread<[u32]>) {
    if let (Some(pattern), Some(distance)) = (patterns.get(thread::index()), distances.mine()) {
        *distance = nearest(text, pattern);
    }
}

/// The least distance of a pattern from any part of the text.
pub fn nearest(text: &[u8], pattern: &[u8; PATTERN]) -> u32 {
    let mut places = [0u64; LETTERS];
    for (i, &letter) in pattern.iter().enumerate() {
        places[usize::from(letter)] |= 1 << i;
    }
    let last = 1u64 << (PATTERN - 1);
    let (mut plus, mut minus) = (!0u64, 0u64);
    let mut score = PATTERN as u32;
    let mut least = score;
    for &letter in text {
        let equal = places[usize::from(letter)];
        let vertical = equal | minus;
        let horizontal = (((equal & plus).wrapping_add(plus)) ^ plus) | equal;
        let up = minus | !(horizontal | plus);
        let down = plus & horizontal;
        if up & last != 0 {
            score += 1;
        }
        if down & last != 0 {
            score -= 1;
        }
        let (up, down) = (up << 1, down << 1);
        plus = down | !(vertical | up);
        minus = up & vertical;
        least = least.min(score);
    }
    least
}

//! The longest earlier copy of what follows each byte: the search of a compressor.

use core::cmp::Reverse;
use warpsmith_device::prelude::*;

/// How far back a copy may begin.
pub const WINDOW: usize = 48;
/// How long a copy may be.
pub const LONGEST: usize = 64;

/// How long the longest copy of what begins at each byte is, and how far back it begins; of equally long ones the nearest.
#[kernel]
pub fn lz_match(data: &[u8], mut copies: PerThread<[[u16; 2]]>) {
    let at = thread::index();
    if let Some(copy) = copies.mine() {
        let (length, distance) = longest_copy(data, at);
        *copy = [length as u16, distance as u16];
    }
}

/// The length and the distance of the longest copy.
pub fn longest_copy(data: &[u8], at: usize) -> (usize, usize) {
    (1..=WINDOW.min(at))
        .map(|distance| (common(&data[at..], &data[at - distance..]), distance))
        .max_by_key(|&(length, distance)| (length, Reverse(distance)))
        .unwrap_or((0, 0))
}

/// How many bytes two texts have in common at their beginning.
fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter()
        .zip(b)
        .take(LONGEST)
        .take_while(|(x, y)| x == y)
        .count()
}

//! How many bits of a bitmap are set before a place.

use warpsmith_device::prelude::*;

/// Words of a block of the bitmap.
pub const BLOCK: usize = 8;

/// The set bits before each place; `before[b]` is how many there are before block `b`.
#[kernel]
pub fn bitmap_rank(words: &[u64], before: &[u32], places: &[u32], mut ranks: PerThread<[u32]>) {
    if let (Some(&place), Some(rank)) = (places.get(thread::index()), ranks.mine()) {
        let place = place as usize;
        let (block, word, bit) = (place / (64 * BLOCK), place / 64, place % 64);
        let whole: u32 = words[block * BLOCK..word]
            .iter()
            .map(|word| word.count_ones())
            .sum();
        let rest = (words[word] & ((1 << bit) - 1)).count_ones();
        *rank = before[block] + whole + rest;
    }
}

//! Decodes bits of a code of different lengths, by a table.

use warpsmith_device::prelude::*;

/// Symbols of a line.
pub const LINE: usize = 64;
/// The most bits of a symbol.
pub const BITS: u32 = 8;

/// The symbols of each line, which begins at the word `starts[i]`. The table has for all next 8 bits the symbol that they begin with, and its
/// length.
#[kernel]
pub fn huffman_decode(
    words: &[u32],
    starts: &[u32],
    table: &[[u8; 2]],
    mut lines: PerThread<[[u8; LINE]]>,
) {
    let i = thread::index();
    if let Some(line) = lines.mine() {
        let mut at = starts[i] as usize;
        let mut bits = 0u64;
        let mut count = 0;
        for symbol in line {
            if count < BITS {
                bits |= u64::from(words[at]) << count;
                count += 32;
                at += 1;
            }
            let [next, length] = table[(bits & ((1 << BITS) - 1)) as usize];
            *symbol = next;
            bits >>= length;
            count -= u32::from(length);
        }
    }
}

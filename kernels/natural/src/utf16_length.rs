//! How long lines of UTF-16 are as UTF-8.

use warpsmith_device::prelude::*;

/// Bytes of each line as UTF-8: the words from `starts[i]` to `starts[i + 1]`; half a pair becomes U+FFFD.
#[kernel]
pub fn utf16_length(text: &[u16], starts: &[u32], mut lengths: PerThread<[u32]>) {
    let i = thread::index();
    if let Some(length) = lengths.mine() {
        let line = &text[starts[i] as usize..starts[i + 1] as usize];
        let bytes: usize = char::decode_utf16(line.iter().copied())
            .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER).len_utf8())
            .sum();
        *length = bytes as u32;
    }
}

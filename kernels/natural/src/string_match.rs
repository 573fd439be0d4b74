//! Looks for a word in a text.

use warpsmith_device::prelude::*;

/// Adds to `count` how often the word begins somewhere in the text.
#[kernel]
pub fn string_match(text: &[u8], word: &[u8], count: AtomicSlice<u32>) {
    let i = thread::index();
    if let Some(rest) = text.get(i..)
        && rest.starts_with(word)
    {
        count[0].add(1, Relaxed);
    }
}

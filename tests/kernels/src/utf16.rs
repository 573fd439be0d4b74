//! Decoding of UTF-16, whose `fold` on the device is another one than the host's: it must give the same.

use core::cell::Cell;

use warpsmith_device::prelude::*;

/// A word behind which an iterator pauses: it gives nothing once and then goes on.
pub const PAUSE: u16 = 0xffff;

/// What is taken from the words and what is given for them, in the order in which both happen, for a loop behind `taken` letters that are
/// taken one by one: of these the last one may have left a word over.
pub fn digest_of_letters(words: &[u16], taken: u32) -> u64 {
    let digest = Cell::new(0_u64);
    let note = |value: u32| {
        let mixed = (digest.get() ^ u64::from(value)).wrapping_mul(0x0100_0000_01b3);
        digest.set(mixed.rotate_left(7));
    };
    let mut words = words.iter();
    let pausing = core::iter::from_fn(|| {
        let word = words.next().copied().filter(|word| *word != PAUSE);
        note(word.map_or(1 << 30, |word| u32::from(word) + (1 << 29)));
        word
    });
    let mut letters = char::decode_utf16(pausing);
    let number = |letter: Result<char, core::char::DecodeUtf16Error>| match letter {
        Ok(letter) => u32::from(letter),
        Err(half) => u32::from(half.unpaired_surrogate()) + (1 << 28),
    };
    for _ in 0..taken {
        note(letters.next().map_or(1 << 27, number));
    }
    let count = letters.fold(0, |count, letter| {
        note(number(letter));
        count + 1
    });
    note(count);
    digest.get()
}

/// [`digest_of_letters`] of each line, which has 8 words, and how many bytes it has as UTF-8.
#[kernel]
pub fn letters_of_lines(lines: &[[u16; 8]], taken: u32, mut out: PerThread<[[u64; 2]]>) {
    if let (Some(line), Some(out)) = (lines.get(thread::index()), out.mine()) {
        *out = [digest_of_letters(line, taken), bytes_of_letters(line)];
    }
}

/// The bytes of a line as UTF-8.
pub fn bytes_of_letters(line: &[u16]) -> u64 {
    char::decode_utf16(line.iter().copied())
        .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER).len_utf8() as u64)
        .sum()
}

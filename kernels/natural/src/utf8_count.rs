//! Letters of lines of text.

use warpsmith_device::prelude::*;

/// Bytes of a line.
pub const LINE: usize = 64;

/// What was found of a letter so far.
#[derive(Clone, Copy)]
enum State {
    /// Its beginning is next.
    Start,
    /// So many bytes of it are to come.
    Inside(u32),
    /// The text is no text.
    Wrong,
}

/// How many letters each line has; `u32::MAX` where a line is not UTF-8, overlong letters aside.
#[kernel]
pub fn utf8_count(text: &[u8], mut counts: PerThread<[u32]>) {
    let i = thread::index();
    if let Some(count) = counts.mine()
        && let Some(line) = text.chunks(LINE).nth(i)
    {
        *count = letters(line).unwrap_or(u32::MAX);
    }
}

/// How many letters there are; `None` if that is not UTF-8.
pub fn letters(line: &[u8]) -> Option<u32> {
    let mut state = State::Start;
    let mut count = 0;
    for &byte in line {
        state = match (state, byte) {
            (State::Start, 0..=0x7f) => State::Start,
            (State::Start, 0xc2..=0xdf) => State::Inside(1),
            (State::Start, 0xe0..=0xef) => State::Inside(2),
            (State::Start, 0xf0..=0xf4) => State::Inside(3),
            (State::Inside(1), 0x80..=0xbf) => State::Start,
            (State::Inside(more), 0x80..=0xbf) => State::Inside(more - 1),
            _ => State::Wrong,
        };
        if let State::Start = state {
            count += 1;
        }
    }
    match state {
        State::Start => Some(count),
        _ => None,
    }
}

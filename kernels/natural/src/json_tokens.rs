//! What lines of JSON consist of.

use warpsmith_device::prelude::*;

/// Where a reader is.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Between tokens.
    Between,
    /// In a text.
    Text,
    /// In a text, behind a backslash.
    Escape,
    /// In a number.
    Number,
    /// In a word: true, false or null.
    Word,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Texts.
    pub texts: u32,
    /// Numbers.
    pub numbers: u32,
    /// Words.
    pub words: u32,
    /// How deep objects and lists lie within one another.
    pub depth: u32,
}

/// The texts, numbers, words and the depth of each line, the bytes from `starts[i]` to `starts[i + 1]`; `u32::MAX` where it is wrong.
#[kernel]
pub fn json_tokens(text: &[u8], starts: &[u32], mut counts: PerThread<[[u32; 4]]>) {
    let i = thread::index();
    if let Some(to) = counts.mine() {
        let line = &text[starts[i] as usize..starts[i + 1] as usize];
        *to = match tokens(line) {
            Some(counts) => [counts.texts, counts.numbers, counts.words, counts.depth],
            None => [u32::MAX; 4],
        };
    }
}

/// What a line consists of; `None` if a text or an object has no end, or a byte is wrong.
pub fn tokens(line: &[u8]) -> Option<Counts> {
    let mut counts = Counts::default();
    let mut state = State::Between;
    let mut depth = 0u32;
    for &byte in line {
        state = match (state, byte) {
            (State::Text, b'\\') => State::Escape,
            (State::Text, b'"') => State::Between,
            (State::Text | State::Escape, _) => State::Text,
            (State::Number, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') => State::Number,
            (State::Word, b'a'..=b'z') => State::Word,
            (_, b'"') => {
                counts.texts += 1;
                State::Text
            }
            (_, b'-' | b'0'..=b'9') => {
                counts.numbers += 1;
                State::Number
            }
            (_, b'a'..=b'z') => {
                counts.words += 1;
                State::Word
            }
            (_, b'{' | b'[') => {
                depth += 1;
                counts.depth = counts.depth.max(depth);
                State::Between
            }
            (_, b'}' | b']') => {
                depth = depth.checked_sub(1)?;
                State::Between
            }
            (_, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':') => State::Between,
            _ => return None,
        };
    }
    let is_whole = depth == 0 && !matches!(state, State::Text | State::Escape);
    is_whole.then_some(counts)
}

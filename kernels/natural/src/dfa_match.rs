//! Words of a set counted in lines, by an automaton.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// Kinds of letters.
pub const KINDS: usize = 27;

/// A state of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// Where each kind of letter leads.
    pub next: [u16; KINDS],
    /// How many words end here.
    pub words: u16,
}

/// The kind of a letter: 0 for what is none.
pub fn kind(byte: u8) -> usize {
    match byte {
        b'a'..=b'z' => usize::from(byte - b'a') + 1,
        b'A'..=b'Z' => usize::from(byte - b'A') + 1,
        _ => 0,
    }
}

/// How many words end in each line: the bytes from `starts[i]` to `starts[i + 1]`.
#[kernel]
pub fn dfa_match(text: &[u8], starts: &[u32], states: &[State], mut counts: PerThread<[u32]>) {
    let i = thread::index();
    if let Some(count) = counts.mine() {
        let line = &text[starts[i] as usize..starts[i + 1] as usize];
        let mut state = &states[0];
        let mut found = 0;
        for &byte in line {
            state = &states[usize::from(state.next[kind(byte)])];
            found += u32::from(state.words);
        }
        *count = found;
    }
}

//! A text encrypted by ChaCha20, a thread a block of the stream.

use warpsmith_device::prelude::*;

/// Words of a block.
pub const WORDS: usize = 16;

fn quarter_round(state: &mut [u32; WORDS], a: usize, b: usize, c: usize, d: usize) {
    state[a] = state[a].wrapping_add(state[b]);
    state[d] = (state[d] ^ state[a]).rotate_left(16);
    state[c] = state[c].wrapping_add(state[d]);
    state[b] = (state[b] ^ state[c]).rotate_left(12);
    state[a] = state[a].wrapping_add(state[b]);
    state[d] = (state[d] ^ state[a]).rotate_left(8);
    state[c] = state[c].wrapping_add(state[d]);
    state[b] = (state[b] ^ state[c]).rotate_left(7);
}

/// A block of the key stream.
pub fn stream(key: &[u32; 8], nonce: &[u32; 3], number: u32) -> [u32; WORDS] {
    let mut start = [0u32; WORDS];
    start[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]);
    start[4..12].copy_from_slice(key);
    start[12] = number;
    start[13..].copy_from_slice(nonce);
    let mut state = start;
    for _ in 0..10 {
        for i in 0..4 {
            quarter_round(&mut state, i, 4 + i, 8 + i, 12 + i);
        }
        for i in 0..4 {
            quarter_round(
                &mut state,
                i,
                4 + (i + 1) % 4,
                8 + (i + 2) % 4,
                12 + (i + 3) % 4,
            );
        }
    }
    for (word, start) in state.iter_mut().zip(start) {
        *word = word.wrapping_add(start);
    }
    state
}

/// Encrypts the text in its place, or decrypts it.
#[kernel]
pub fn chacha20(key: [u32; 8], nonce: [u32; 3], mut text: PerThread<[[u32; WORDS]]>) {
    let number = thread::index() as u32;
    if let Some(block) = text.mine() {
        let stream = stream(&key, &nonce, number + 1);
        for (word, key) in block.iter_mut().zip(stream) {
            *word ^= key;
        }
    }
}

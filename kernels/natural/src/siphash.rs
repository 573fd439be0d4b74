//! `SipHash-2-4` of messages of different lengths.

use warpsmith_device::prelude::*;

/// The hash of each message: the bytes from `starts[i]` to `starts[i + 1]`.
#[kernel]
pub fn siphash(bytes: &[u8], starts: &[u32], key: [u64; 2], mut hashes: PerThread<[u64]>) {
    let i = thread::index();
    if let Some(hash) = hashes.mine() {
        let message = &bytes[starts[i] as usize..starts[i + 1] as usize];
        *hash = hash_of(key, message);
    }
}

/// The hash of a message.
pub fn hash_of(key: [u64; 2], message: &[u8]) -> u64 {
    let mut state = State::new(key);
    let mut words = message.chunks_exact(8);
    for word in &mut words {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        state.absorb(u64::from_le_bytes(bytes));
    }
    let mut last = (message.len() as u64) << 56;
    for (i, &byte) in words.remainder().iter().enumerate() {
        last |= u64::from(byte) << (8 * i);
    }
    state.absorb(last);
    state.finish()
}

/// Four words that are mixed.
struct State {
    v0: u64,
    v1: u64,
    v2: u64,
    v3: u64,
}

impl State {
    fn new([k0, k1]: [u64; 2]) -> State {
        State {
            v0: k0 ^ 0x736f_6d65_7073_6575,
            v1: k1 ^ 0x646f_7261_6e64_6f6d,
            v2: k0 ^ 0x6c79_6765_6e65_7261,
            v3: k1 ^ 0x7465_6462_7974_6573,
        }
    }

    fn round(&mut self) {
        self.v0 = self.v0.wrapping_add(self.v1);
        self.v2 = self.v2.wrapping_add(self.v3);
        self.v1 = self.v1.rotate_left(13) ^ self.v0;
        self.v3 = self.v3.rotate_left(16) ^ self.v2;
        self.v0 = self.v0.rotate_left(32);
        self.v2 = self.v2.wrapping_add(self.v1);
        self.v0 = self.v0.wrapping_add(self.v3);
        self.v1 = self.v1.rotate_left(17) ^ self.v2;
        self.v3 = self.v3.rotate_left(21) ^ self.v0;
        self.v2 = self.v2.rotate_left(32);
    }

    fn absorb(&mut self, word: u64) {
        self.v3 ^= word;
        for _ in 0..2 {
            self.round();
        }
        self.v0 ^= word;
    }

    fn finish(mut self) -> u64 {
        self.v2 ^= 0xff;
        for _ in 0..4 {
            self.round();
        }
        self.v0 ^ self.v1 ^ self.v2 ^ self.v3
    }
}

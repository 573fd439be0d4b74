//! `BLAKE2s` of messages of different lengths, a thread a message.

use warpsmith_device::prelude::*;

/// Bytes of a block.
const BLOCK: usize = 64;

const START: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

/// The order of the words in each round.
const ORDER: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/// The digest of each message: the bytes from `starts[i]` to `starts[i + 1]`.
#[kernel]
pub fn blake2s(bytes: &[u8], starts: &[u32], mut digests: PerThread<[[u32; 8]]>) {
    let i = thread::index();
    if let Some(digest) = digests.mine() {
        *digest = digest_of(&bytes[starts[i] as usize..starts[i + 1] as usize]);
    }
}

/// The digest of a message, in words.
pub fn digest_of(message: &[u8]) -> [u32; 8] {
    let mut hash = START;
    hash[0] ^= 0x0101_0020;

    // The last block is not empty, unless the message is.
    let (blocks, last) = message.split_at(message.len().saturating_sub(1) / BLOCK * BLOCK);
    let mut length = 0;
    for block in blocks.chunks_exact(BLOCK) {
        length += BLOCK as u64;
        compress(&mut hash, block, length, false);
    }
    let mut padded = [0; BLOCK];
    padded[..last.len()].copy_from_slice(last);
    compress(&mut hash, &padded, message.len() as u64, true);
    hash
}

/// Takes a block into the hash.
fn compress(hash: &mut [u32; 8], block: &[u8], length: u64, is_last: bool) {
    let mut m = [0; 16];
    for (word, bytes) in m.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut v = [0; 16];
    v[..8].copy_from_slice(hash);
    v[8..].copy_from_slice(&START);
    v[12] ^= length as u32;
    v[13] ^= (length >> 32) as u32;
    if is_last {
        v[14] = !v[14];
    }
    for order in ORDER {
        let x = order.map(|i| m[i]);
        mix(&mut v, [0, 4, 8, 12], x[0], x[1]);
        mix(&mut v, [1, 5, 9, 13], x[2], x[3]);
        mix(&mut v, [2, 6, 10, 14], x[4], x[5]);
        mix(&mut v, [3, 7, 11, 15], x[6], x[7]);
        mix(&mut v, [0, 5, 10, 15], x[8], x[9]);
        mix(&mut v, [1, 6, 11, 12], x[10], x[11]);
        mix(&mut v, [2, 7, 8, 13], x[12], x[13]);
        mix(&mut v, [3, 4, 9, 14], x[14], x[15]);
    }
    for (i, word) in hash.iter_mut().enumerate() {
        *word ^= v[i] ^ v[i + 8];
    }
}

fn mix(v: &mut [u32; 16], [a, b, c, d]: [usize; 4], x: u32, y: u32) {
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(x);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(12);
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(y);
    v[d] = (v[d] ^ v[a]).rotate_right(8);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(7);
}

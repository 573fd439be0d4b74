//! XXH32 of short messages, a thread a message.

use warpsmith_device::prelude::*;

/// Words of a message.
pub const WORDS: usize = 16;

const PRIME1: u32 = 0x9E37_79B1;
const PRIME2: u32 = 0x85EB_CA77;
const PRIME3: u32 = 0xC2B2_AE3D;

/// The hash of each 64 bytes.
#[kernel]
pub fn xxhash(words: &[u32], seed: u32, mut hashes: PerThread<[u32]>) {
    if let (Some(message), Some(out)) = (
        words.chunks_exact(WORDS).nth(thread::index()),
        hashes.mine(),
    ) {
        *out = hash(message, seed);
    }
}

/// The hash of a message of whole stripes of four words.
pub fn hash(message: &[u32], seed: u32) -> u32 {
    let mut lanes = [
        seed.wrapping_add(PRIME1).wrapping_add(PRIME2),
        seed.wrapping_add(PRIME2),
        seed,
        seed.wrapping_sub(PRIME1),
    ];
    for stripe in message.chunks_exact(4) {
        for (lane, word) in lanes.iter_mut().zip(stripe) {
            *lane = lane
                .wrapping_add(word.wrapping_mul(PRIME2))
                .rotate_left(13)
                .wrapping_mul(PRIME1);
        }
    }
    let [a, b, c, d] = lanes;
    let mut hash = a
        .rotate_left(1)
        .wrapping_add(b.rotate_left(7))
        .wrapping_add(c.rotate_left(12))
        .wrapping_add(d.rotate_left(18))
        .wrapping_add(message.len() as u32 * 4);
    hash = (hash ^ (hash >> 15)).wrapping_mul(PRIME2);
    hash = (hash ^ (hash >> 13)).wrapping_mul(PRIME3);
    hash ^ (hash >> 16)
}

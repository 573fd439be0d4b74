//! Keys looked for in a Bloom filter.

use warpsmith_device::prelude::*;

/// Hash functions.
pub const HASHES: u32 = 5;

/// The place of a key's bit: the number of the word, and the bit's in it.
pub fn place(key: u64, number: u32, words: usize) -> (usize, u32) {
    let mut hash = key ^ (u64::from(number) << 56);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^= hash >> 33;
    let bit = hash as u32 % 32;
    ((hash >> 32) as usize % words, bit)
}

/// Whether each key may be in the set whose bits the filter has: 1, or 0.
#[kernel]
pub fn bloom_query(filter: &[u32], keys: &[u64], mut found: PerThread<[u8]>) {
    if let (Some(&key), Some(found)) = (keys.get(thread::index()), found.mine()) {
        let has_all = (0..HASHES).all(|number| {
            let (word, bit) = place(key, number, filter.len());
            filter[word] >> bit & 1 == 1
        });
        *found = u8::from(has_all);
    }
}

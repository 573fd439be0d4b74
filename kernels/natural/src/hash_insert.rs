//! Puts keys into a hash table.

use warpsmith_device::prelude::*;

/// A place of the table that has no key.
pub const EMPTY: u32 = u32::MAX;

/// Puts each key into the table, into the first free place from its own on; a key that is there already stays alone.
#[kernel]
pub fn hash_insert(keys: &[u32], table: AtomicSlice<u32>) {
    if let Some(&key) = keys.get(thread::index()) {
        let mut place = key.wrapping_mul(0x9E37_79B1) as usize % table.len();
        loop {
            match table[place].compare_exchange(EMPTY, key, Relaxed) {
                Ok(_) => break,
                Err(other) if other == key => break,
                Err(_) => place = (place + 1) % table.len(),
            }
        }
    }
}

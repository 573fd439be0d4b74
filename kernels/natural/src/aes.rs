//! Blocks enciphered by AES with a key of 128 bits, by a table in shared memory.

use core::array::from_fn;
use warpsmith_device::prelude::*;

/// Rounds.
pub const ROUNDS: usize = 10;
/// Threads of a block of the grid.
pub const THREADS: usize = 256;

/// Enciphers each block. `table[x]` has the column that the byte `x` of the first row adds to: twice, once, once and three times its
/// substitute, from the lowest byte on.
#[kernel(launch_bounds(256, exact))]
pub fn aes(
    plain: &[[u32; 4]],
    keys: &[[u32; 4]],
    table: &[u32],
    mut enciphered: PerThread<[[u32; 4]]>,
) {
    let own = table[thread::thread_idx_x() as usize];
    let table = shared!([u32; THREADS]).write(own).sync();
    if let (Some(plain), Some(to)) = (plain.get(thread::index()), enciphered.mine()) {
        let (first, rest) = keys.split_at(1);
        let (middle, last) = rest[..ROUNDS].split_at(ROUNDS - 1);
        let mut state = add(*plain, &first[0]);
        for key in middle {
            let columns = from_fn(|column| {
                (0..4).fold(0, |sum, row| {
                    let byte = byte_of(state[(column + row) % 4], row);
                    sum ^ table[byte].rotate_left(8 * row as u32)
                })
            });
            state = add(columns, key);
        }
        let columns = from_fn(|column| {
            u32::from_le_bytes(from_fn(|row| {
                let byte = byte_of(state[(column + row) % 4], row);
                (table[byte] >> 8) as u8
            }))
        });
        *to = add(columns, &last[0]);
    }
}

/// A byte of a column.
fn byte_of(column: u32, row: usize) -> usize {
    (column >> (8 * row) & 255) as usize
}

/// The sum of a state and a key.
fn add(state: [u32; 4], key: &[u32; 4]) -> [u32; 4] {
    from_fn(|i| state[i] ^ key[i])
}

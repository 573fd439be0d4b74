//! Checksums of messages, by a table.

use warpsmith_device::prelude::*;

/// The CRC-32 of each message of `length` bytes; `table` has what each byte changes.
#[kernel]
pub fn crc32(text: &[u8], length: usize, table: &[u32], mut sums: PerThread<[u32]>) {
    let i = thread::index();
    if let Some(sum) = sums.mine() {
        let message = &text[i * length..(i + 1) * length];
        *sum = checksum(message, table);
    }
}

/// The CRC-32 of a message.
pub fn checksum(message: &[u8], table: &[u32]) -> u32 {
    let mut crc = !0u32;
    for &byte in message {
        crc = table[((crc ^ u32::from(byte)) & 0xff) as usize] ^ (crc >> 8);
    }
    !crc
}

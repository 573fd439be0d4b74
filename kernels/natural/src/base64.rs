//! Bytes as letters.

use warpsmith_device::prelude::*;

/// The letters.
pub const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `out` = each three bytes as four letters.
#[kernel]
pub fn base64(bytes: &[[u8; 3]], mut out: PerThread<[[u8; 4]]>) {
    if let (Some(bytes), Some(out)) = (bytes.get(thread::index()), out.mine()) {
        *out = encode(bytes);
    }
}

/// Three bytes as four letters.
pub fn encode(bytes: &[u8; 3]) -> [u8; 4] {
    let word = bytes
        .iter()
        .fold(0u32, |word, &byte| word << 8 | u32::from(byte));
    let mut letters = [0u8; 4];
    for (i, letter) in letters.iter_mut().enumerate() {
        *letter = ALPHABET[(word >> (18 - 6 * i)) as usize & 63];
    }
    letters
}

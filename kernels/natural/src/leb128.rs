//! Lists of numbers, packed as differences of variable length.

use warpsmith_device::prelude::*;

/// What stands for a list that is none.
pub const WRONG: i64 = i64::MIN;

/// The largest number of each list: the bytes from `starts[i]` to `starts[i + 1]`.
#[kernel]
pub fn leb128(bytes: &[u8], starts: &[u32], mut largest: PerThread<[i64]>) {
    let i = thread::index();
    if let Some(largest) = largest.mine() {
        let list = &bytes[starts[i] as usize..starts[i + 1] as usize];
        *largest = largest_of(list).unwrap_or(WRONG);
    }
}

/// The largest number of a list.
pub fn largest_of(mut list: &[u8]) -> Option<i64> {
    let mut number = 0i64;
    let mut largest = None;
    while !list.is_empty() {
        let (code, rest) = decode(list)?;
        number = number.wrapping_add(difference(code));
        largest = largest.max(Some(number));
        list = rest;
    }
    largest
}

/// The first code, and what is behind it.
fn decode(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut code = 0;
    for (i, &byte) in bytes.iter().enumerate().take(10) {
        code |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((code, &bytes[i + 1..]));
        }
    }
    None
}

/// The difference of a code: 0, 1, 2, 3 and 4 are 0, -1, 1, -2 and 2.
fn difference(code: u64) -> i64 {
    (code >> 1) as i64 ^ -((code & 1) as i64)
}

//! Numbers at the end of the lines of a log.

use warpsmith_device::prelude::*;

/// What stands for a number that is not there.
pub const NONE: u32 = u32::MAX;

/// The status and the size of each line, behind its last quotation mark: the bytes from `starts[i]` to `starts[i + 1]`.
#[kernel]
pub fn log_status(text: &[u8], starts: &[u32], mut found: PerThread<[[u32; 2]]>) {
    let i = thread::index();
    if let Some(found) = found.mine() {
        let line = &text[starts[i] as usize..starts[i + 1] as usize];
        let (status, size) = numbers(line);
        *found = [status.unwrap_or(NONE), size.unwrap_or(NONE)];
    }
}

/// The status and the size of a line.
pub fn numbers(line: &[u8]) -> (Option<u32>, Option<u32>) {
    let Some(quote) = line.iter().rposition(|&byte| byte == b'"') else {
        return (None, None);
    };
    let mut words = line[quote + 1..]
        .split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
        .map(number);
    (words.next().flatten(), words.next().flatten())
}

/// The number of a word of digits.
fn number(word: &[u8]) -> Option<u32> {
    word.iter().try_fold(0u32, |number, &byte| match byte {
        b'0'..=b'9' => number.checked_mul(10)?.checked_add(u32::from(byte - b'0')),
        _ => None,
    })
}

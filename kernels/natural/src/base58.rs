//! Bytes written as digits of base 58.

use core::iter::repeat_n;
use warpsmith_device::prelude::*;

/// Bytes of a payload.
pub const PAYLOAD: usize = 24;
/// The most digits that a payload has.
pub const DIGITS: usize = 48;

/// The digits: letters that look like others are none.
const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The text of each payload, with blanks behind it.
#[kernel]
pub fn base58(payloads: &[[u8; PAYLOAD]], mut texts: PerThread<[[u8; DIGITS]]>) {
    if let (Some(payload), Some(text)) = (payloads.get(thread::index()), texts.mine()) {
        *text = encode(payload);
    }
}

/// The text of a payload.
pub fn encode(payload: &[u8; PAYLOAD]) -> [u8; DIGITS] {
    // The last digit comes first.
    let mut digits = [0u8; DIGITS];
    let mut length = 0;
    for &byte in payload {
        let mut carry = u32::from(byte);
        for digit in &mut digits[..length] {
            carry += u32::from(*digit) << 8;
            *digit = (carry % 58) as u8;
            carry /= 58;
        }
        while carry > 0 {
            digits[length] = (carry % 58) as u8;
            length += 1;
            carry /= 58;
        }
    }
    let zeros = payload.iter().take_while(|&&byte| byte == 0).count();
    let all = repeat_n(0, zeros).chain(digits[..length].iter().rev().copied());
    let mut text = [b' '; DIGITS];
    for (letter, digit) in text.iter_mut().zip(all) {
        *letter = ALPHABET[usize::from(digit)];
    }
    text
}

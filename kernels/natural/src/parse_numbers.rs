//! Decimal numbers read from text.

use warpsmith_device::prelude::*;

/// What stands for a field that is no number.
pub const WRONG: f32 = -1e9;

/// The number of each field: the bytes from `starts[i]` to `starts[i + 1]`.
#[kernel]
pub fn parse_numbers(text: &[u8], starts: &[u32], mut numbers: PerThread<[f32]>) {
    let i = thread::index();
    if let Some(number) = numbers.mine() {
        let field = &text[starts[i] as usize..starts[i + 1] as usize];
        *number = parse(field).unwrap_or(WRONG);
    }
}

/// The number of a field: blanks, a sign, digits with or without a point, blanks.
pub fn parse(field: &[u8]) -> Option<f32> {
    let field = field.trim_ascii();
    let (is_negative, digits) = match field {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, field),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u32;
    let mut scale = 1.0;
    let mut has_point = false;
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                value = value.checked_mul(10)?.checked_add(u32::from(byte - b'0'))?;
                if has_point {
                    scale *= 10.0;
                }
            }
            b'.' if !has_point => has_point = true,
            _ => return None,
        }
    }
    let value = value as f32 / scale;
    Some(if is_negative { -value } else { value })
}

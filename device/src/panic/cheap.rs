//! The commonest panics of `core`, with their messages made without `core::fmt`.
//!
//! Formatting works through function pointers, and a kernel from which an unknown function may be called gets a stack
//! and as many registers as the hungriest of them. So the PTX linker replaces these functions of `core` by the ones
//! here, which have the same signatures and say the same; a program whose other panics have literal messages then
//! contains no formatting at all.
//!
//! | Here | In `core` |
//! | --- | --- |
//! | `__warpsmith_panic_bounds_check` | `core::panicking::panic_bounds_check` |
//! | `__warpsmith_slice_index_fail` | `core::slice::index::slice_index_fail` |
//! | `__warpsmith_expect_failed` | `core::option::expect_failed` |

use core::panic::Location;

#[cfg(warpsmith_panic = "location")]
use super::report;
#[cfg(warpsmith_panic = "message")]
use super::report::{Report, Text};

/// The powers of ten, so that printing a number takes no division (whose code is long, and hungry for registers).
#[cfg(warpsmith_panic = "message")]
static POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut i = 1;
    while i < 20 {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

#[cfg(warpsmith_panic = "message")]
impl Text {
    /// Appends a number in decimal.
    #[inline(always)]
    fn push_number(&mut self, mut number: u64) {
        let mut started = false;
        let mut i = POWERS.len();
        while i > 0 {
            i -= 1;
            let power = POWERS[i];
            let mut digit = b'0';
            while number >= power {
                number -= power;
                digit += 1;
            }
            started |= digit != b'0' || i == 0;
            if started {
                self.push_byte(digit);
            }
        }
    }
}

/// Stand for the two numbers of a message.
#[cfg(warpsmith_panic = "message")]
const FIRST: u8 = 1;
#[cfg(warpsmith_panic = "message")]
const SECOND: u8 = 2;

/// Records a panic whose message has two numbers in it.
///
/// One pass over one text: little has to be kept over the call that claims the record, which is what sets the number
/// of registers of every kernel that can panic.
#[cold]
#[inline(never)]
fn two_numbers(text: &'static str, first: usize, second: usize, location: &Location<'_>) -> ! {
    #[cfg(warpsmith_panic = "location")]
    {
        _ = (text, first, second);
        report::without_message(Some(location));
    }
    #[cfg(warpsmith_panic = "message")]
    if let Some(mut report) = Report::begin(Some(location)) {
        for &byte in text.as_bytes() {
            match byte {
                FIRST | SECOND => {
                    let number = if byte == FIRST { first } else { second };
                    report.message.push_number(number as u64);
                }
                byte => report.message.push_byte(byte),
            }
        }
        report.finish();
    }
    super::end()
}

/// Replaces `core::panicking::panic_bounds_check`.
#[cold]
#[unsafe(no_mangle)]
fn __warpsmith_panic_bounds_check(index: usize, len: usize, location: &Location<'_>) -> ! {
    two_numbers(
        "index out of bounds: the len is \u{1} but the index is \u{2}",
        len,
        index,
        location,
    )
}

/// Replaces `core::slice::index::slice_index_fail`.
#[cold]
#[unsafe(no_mangle)]
fn __warpsmith_slice_index_fail(
    start: usize,
    end: usize,
    len: usize,
    location: &Location<'_>,
) -> ! {
    let (text, first, second) = if start > len {
        (
            "range start index \u{1} out of range for slice of length \u{2}",
            start,
            len,
        )
    } else if end > len {
        (
            "range end index \u{1} out of range for slice of length \u{2}",
            end,
            len,
        )
    } else {
        ("slice index starts at \u{1} but ends at \u{2}", start, end)
    };
    two_numbers(text, first, second, location)
}

/// Replaces `core::option::expect_failed` and `core::panicking::panic`.
#[cold]
#[unsafe(no_mangle)]
fn __warpsmith_expect_failed(message: &str, location: &Location<'_>) -> ! {
    #[cfg(warpsmith_panic = "location")]
    {
        _ = message;
        report::without_message(Some(location));
    }
    #[cfg(warpsmith_panic = "message")]
    if let Some(mut report) = Report::begin(Some(location)) {
        report.message.push(message.as_bytes());
        report.finish();
    }
    super::end()
}

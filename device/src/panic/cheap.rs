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

use super::report::{Report, Text};

impl Text {
    /// Appends a number in decimal.
    #[inline(always)]
    fn push_number(&mut self, number: usize) {
        let mut power: usize = 10_000_000_000_000_000_000;
        while power > number && power > 1 {
            power /= 10;
        }
        while power > 0 {
            self.push(&[b'0' + (number / power % 10) as u8]);
            power /= 10;
        }
    }
}

/// Numbers and texts one by one: arrays would pass through memory, and give every kernel a stack.
#[cold]
#[inline(never)]
fn two_numbers(
    first: &'static str,
    second: &'static str,
    first_number: usize,
    second_number: usize,
    location: &Location<'_>,
) {
    if let Some(mut report) = Report::begin(Some(location)) {
        report.message.push(first.as_bytes());
        report.message.push_number(first_number);
        report.message.push(second.as_bytes());
        report.message.push_number(second_number);
        report.finish();
    }
}

/// Replaces `core::panicking::panic_bounds_check`.
#[cold]
#[unsafe(no_mangle)]
fn __warpsmith_panic_bounds_check(index: usize, len: usize, location: &Location<'_>) -> ! {
    two_numbers(
        "index out of bounds: the len is ",
        " but the index is ",
        len,
        index,
        location,
    );
    super::end()
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
    if start > len {
        two_numbers(
            "range start index ",
            " out of range for slice of length ",
            start,
            len,
            location,
        );
    } else if end > len {
        two_numbers(
            "range end index ",
            " out of range for slice of length ",
            end,
            len,
            location,
        );
    } else {
        two_numbers(
            "slice index starts at ",
            " but ends at ",
            start,
            end,
            location,
        );
    }
    super::end()
}

/// Replaces `core::option::expect_failed`.
#[cold]
#[unsafe(no_mangle)]
fn __warpsmith_expect_failed(message: &str, location: &Location<'_>) -> ! {
    if let Some(mut report) = Report::begin(Some(location)) {
        report.message.push(message.as_bytes());
        report.finish();
    }
    super::end()
}

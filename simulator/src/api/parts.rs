//! The parts of a batch that share something: each begins at an index of the batch and ends where the next begins.

use std::ops::Range;

use super::entry::*;

/// Which items of a batch of `count` each of `parts` parts has, whose first items' indices are at `firsts`.
///
/// # Errors
///
/// Invalid value if there is no part, the first does not begin with the first item, or one does not begin behind the one before.
///
/// # Safety
///
/// `firsts` is null or valid for `parts` values.
pub(super) unsafe fn parts(
    firsts: *const usize,
    parts: usize,
    count: usize,
) -> Result<Vec<Range<usize>>> {
    if firsts.is_null() || parts == 0 || parts > count {
        return Err(code::INVALID_VALUE);
    }
    let mut found: Vec<Range<usize>> = Vec::with_capacity(parts);
    for index in 0..parts {
        // SAFETY: the array is not null, so valid for so many values by the caller's contract.
        let first = unsafe { *firsts.add(index) };
        let is_behind = match found.last_mut() {
            None => first == 0,
            Some(before) => {
                before.end = first;
                before.start < first
            }
        };
        if !is_behind || first >= count {
            return Err(code::INVALID_VALUE);
        }
        found.push(first..count);
    }
    Ok(found)
}

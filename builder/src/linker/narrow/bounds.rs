//! The highest unsigned number that a value can be.

use super::dominators::Dominators;
use super::values::Values;
use crate::llvm::{Block, Value};

/// The highest number of 32 bits.
pub(super) const MOST_OF_32: u64 = u32::MAX as u64;

/// The most that a value is where a reachable block is; `None` if it is no integer of at most 64 bits.
pub(in crate::linker) fn most_at<'c>(
    value: Value<'c>,
    block: Block<'c>,
    dominators: &Dominators<'c>,
) -> Option<u64> {
    let range = Values::of(dominators).at(value, block)?;
    // What may be negative is read from 64 bits, and may be any of those.
    Some(
        u64::try_from(range.high)
            .ok()
            .filter(|_| range.is_non_negative())
            .unwrap_or(u64::MAX),
    )
}

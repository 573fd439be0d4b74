//! The counters of a loop: phis of its first block that each round adds a constant to.

use super::loops::Loop;
use crate::llvm::{Value, opcode};

/// Such a phi.
pub(super) struct Counter<'c> {
    pub phi: Value<'c>,
    /// What it is in the first round.
    pub start: Value<'c>,
    /// What it is in the next one.
    pub next: Value<'c>,
    /// The constant.
    pub step: Value<'c>,
}

impl<'c> Counter<'c> {
    /// The counter that a phi of a loop's first block is, if it is one.
    pub(super) fn of(phi: Value<'c>, found: &Loop<'c>) -> Option<Counter<'c>> {
        let next = phi.incoming_from(found.latch)?;
        let is_sum = next.is_instruction()
            && next.opcode() == opcode::ADD
            && next.operand(0) == Some(phi)
            && !phi.is_pointer();
        if !is_sum {
            return None;
        }
        let step = next.operand(1)?;
        step.as_integer()?;
        Some(Counter {
            phi,
            start: phi.incoming_from(found.before)?,
            next,
            step,
        })
    }
}

/// All counters of a loop.
pub(super) fn all<'c>(found: &Loop<'c>) -> impl Iterator<Item = Counter<'c>> {
    let phis = found.header.phis().into_iter();
    phis.filter_map(|phi| Counter::of(phi, found))
}

//! Counters of a loop that are the same number in each round become one.
//!
//! ```text
//! i = phi 0, i + 4                        i = phi 0, i + 4
//! n = phi 0, n + 4                        .. x[i] ..
//! .. x[i] ..                              branch i + 4 == end
//! branch n + 4 == end
//! ```
//!
//! LLVM counts the rounds of a loop that it unrolls by a counter of its own, beside the index that the loop had. What holds of one of them alone, as that it never
//! wraps around, is not said of the one that is left.

use super::loops::{self, Loop};
use crate::llvm::{Module, Place, Value, opcode};

/// Joins the counters of all loops.
pub(super) fn join(module: &Module<'_>) {
    for function in module.functions() {
        for found in loops::all(function) {
            join_in(&found);
        }
    }
}

/// A phi of a loop's first block that each round adds a constant to.
struct Counter<'c> {
    phi: Value<'c>,
    start: Value<'c>,
    next: Value<'c>,
    step: Value<'c>,
}

impl<'c> Counter<'c> {
    fn of(phi: Value<'c>, found: &Loop<'c>) -> Option<Counter<'c>> {
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

    /// Whether both are the same number in each round: constants of one type are the same value.
    fn is_twin(&self, other: &Counter<'c>) -> bool {
        self.start == other.start && self.step == other.step
    }
}

fn join_in(found: &Loop<'_>) {
    let phis = found.header.phis().into_iter();
    let mut counters: Vec<Counter<'_>> = Vec::new();
    for counter in phis.filter_map(|phi| Counter::of(phi, found)) {
        let Some(twin) = counters.iter_mut().find(|twin| twin.is_twin(&counter)) else {
            counters.push(counter);
            continue;
        };
        let sum = |next| Place::before(next).binary(opcode::ADD, twin.phi, twin.step);
        let (of_twin, of_other) = (sum(twin.next), sum(counter.next));
        twin.next.replace_by(of_twin);
        counter.next.replace_by(of_other);
        counter.phi.replace_by(twin.phi);
        twin.next = of_twin;
    }
}

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

use super::loop_counters::{self, Counter};
use super::loops::{self, Loop};
use crate::llvm::{Module, Place, opcode};

/// Joins the counters of all loops.
pub(super) fn join(module: &Module<'_>) {
    for function in module.functions() {
        for found in loops::all(function) {
            join_in(&found);
        }
    }
}

/// Whether both are the same number in each round: constants of one type are the same value.
fn are_twins(one: &Counter<'_>, other: &Counter<'_>) -> bool {
    one.start == other.start && one.step == other.step
}

fn join_in(found: &Loop<'_>) {
    let mut counters: Vec<Counter<'_>> = Vec::new();
    for counter in loop_counters::all(found) {
        let Some(twin) = counters.iter_mut().find(|twin| are_twins(twin, &counter)) else {
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

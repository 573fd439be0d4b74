//! The conditions that are put before a loop: all have to hold where its copy without checks is gone through.

use crate::linker::unroll::step::Step;
use crate::llvm::{Place, Value, opcode, predicate};

/// What is computed before the loop.
pub(super) struct Before<'c> {
    pub place: Place<'c>,
    conditions: Vec<Value<'c>>,
}

impl<'c> Before<'c> {
    pub(super) fn at(place: Place<'c>) -> Before<'c> {
        Before {
            place,
            conditions: Vec::new(),
        }
    }

    /// Adds that a comparison has to hold.
    pub(super) fn require(&mut self, predicate: i32, left: Value<'c>, right: Value<'c>) {
        let condition = self.place.comparison(predicate, left, right);
        self.conditions.push(condition);
    }

    /// Adds that a condition has to hold, or not to.
    pub(super) fn require_is(&mut self, condition: Value<'c>, is_needed: bool) {
        let condition = match is_needed {
            true => condition,
            false => {
                let no = self.place.constant(1, 0);
                self.place.comparison(predicate::EQUAL, condition, no)
            }
        };
        self.conditions.push(condition);
    }

    /// A step of run time as a number of its type; `None` if what it is computed from has another one.
    pub(super) fn number(&self, step: Step<'c>, bits: u32) -> Option<Value<'c>> {
        let place = self.place;
        let constant = |number: i64| place.constant(bits, number as u64 & u64::MAX >> (64 - bits));
        let (value, factor) = step.value.filter(|(v, _)| v.integer_bits() == Some(bits))?;
        let product = match factor {
            1 => value,
            _ => place.binary(opcode::MUL, value, constant(factor)),
        };
        Some(match step.constant {
            0 => product,
            more => place.binary(opcode::ADD, product, constant(more)),
        })
    }

    /// Whether all of the conditions hold.
    pub(super) fn all_hold(self) -> Option<Value<'c>> {
        let place = self.place;
        // What was never computed where the first round leaves the loop may be poison, and any answer is right then.
        let conditions = self.conditions.into_iter().map(|one| place.freeze(one));
        conditions.reduce(|all, one| place.binary(opcode::AND, all, one))
    }
}

//! How many rounds a loop makes behind the first one.

use super::before::Before;
use crate::linker::loops::{Loop, is_inside};
use crate::linker::unroll::step::Step;
use crate::linker::unroll::steps::{Test, Until};
use crate::llvm::{Value, opcode, predicate};

/// How many rounds follow the first one.
pub(super) enum Rounds<'c> {
    /// So many, in 64 bits.
    Number(Value<'c>),
    /// So many steps of a number of run time as there are in a distance, or one more where something is left.
    Steps {
        distance: Value<'c>,
        step: Step<'c>,
        bits: u32,
    },
}

impl<'c> Rounds<'c> {
    /// The rounds behind the first one, at whose end `less` and `more` are compared; `None` if they are not known.
    pub(super) fn of(
        found: &Loop<'c>,
        test: &Test<'c>,
        (less, more): (Value<'c>, Value<'c>),
        before: &mut Before<'c>,
    ) -> Option<Rounds<'c>> {
        let (place, bits) = (before.place, test.bits);
        let constant = |number| place.constant(bits, number);
        let difference = place.binary(opcode::SUB, more, less);
        let distance = match test.until {
            Until::Equal => difference,
            Until::Past => {
                let is_left = place.comparison(predicate::LESS, less, more);
                place.select(is_left, difference, constant(0))
            }
        };
        let one_step = match test.step.value {
            None => constant(u64::try_from(test.step.constant).ok()?),
            Some(_) => before.number(test.step, bits)?,
        };
        // The last step must not go past the end of the type, where the loop would begin anew.
        let is_one = test.step == Step::of_constant(1);
        if test.until == Until::Past && !is_one {
            let (end, room) = match is_inside(found, test.less) {
                true => {
                    let most =
                        place.binary(opcode::XOR, one_step, constant(u64::MAX >> (64 - bits)));
                    (more, most)
                }
                false => (one_step, less),
            };
            before.require(predicate::LESS_OR_EQUAL, end, room);
        }
        if test.step.value.is_some() {
            return (test.until == Until::Past).then_some(Rounds::Steps {
                distance,
                step: test.step,
                bits,
            });
        }
        let step = u64::try_from(test.step.constant).ok()?;
        if !step.is_power_of_two() {
            return None;
        }
        if is_one {
            return Some(Rounds::Number(place.resized(distance, 64)));
        }
        let left = place.binary(opcode::AND, distance, constant(step - 1));
        let whole = place.binary(opcode::LSHR, distance, constant(step.ilog2().into()));
        let whole = place.resized(whole, 64);
        Some(Rounds::Number(match test.until {
            Until::Equal => {
                before.require(predicate::EQUAL, left, constant(0));
                whole
            }
            Until::Past => {
                let is_more = place.comparison(predicate::NOT_EQUAL, left, constant(0));
                let one = place.resized(is_more, 64);
                place.binary(opcode::ADD, whole, one)
            }
        }))
    }
}

//! By how much a round changes a value.

use crate::llvm::Value;

/// A number that is the same in all rounds: `factor * value + constant`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Step<'c> {
    pub value: Option<(Value<'c>, i64)>,
    pub constant: i64,
}

impl<'c> Step<'c> {
    pub(super) const ZERO: Step<'static> = Step {
        value: None,
        constant: 0,
    };

    pub(super) fn of_constant(constant: i64) -> Step<'c> {
        Step {
            value: None,
            constant,
        }
    }

    pub(super) fn plus(self, other: Step<'c>) -> Option<Step<'c>> {
        let value = match (self.value, other.value) {
            (value, None) | (None, value) => value,
            (Some((one, a)), Some((two, b))) if one == two => Some((one, a.checked_add(b)?)),
            _ => return None,
        };
        Some(Step {
            value: value.filter(|(_, factor)| *factor != 0),
            constant: self.constant.checked_add(other.constant)?,
        })
    }

    pub(super) fn times(self, number: i64) -> Option<Step<'c>> {
        let value = match self.value {
            Some((value, factor)) => Some((value, factor.checked_mul(number)?)),
            None => None,
        };
        Some(Step {
            value: value.filter(|(_, factor)| *factor != 0),
            constant: self.constant.checked_mul(number)?,
        })
    }

    /// The quotient, if nothing is left.
    pub(super) fn divided_by(self, number: i64) -> Option<Step<'c>> {
        let exact = |dividend: i64| (dividend % number == 0).then_some(dividend / number);
        let value = match self.value {
            Some((value, factor)) => Some((value, exact(factor)?)),
            None => None,
        };
        Some(Step {
            value,
            constant: exact(self.constant)?,
        })
    }

    /// Whether it is above zero, unless the value that it is a multiple of is zero or of the highest quarter of its type.
    pub(super) fn may_lead_on(self) -> bool {
        match self.value {
            Some((_, factor)) => self.constant >= 0 && (1..=1 << 20).contains(&factor),
            None => self.constant > 0,
        }
    }
}

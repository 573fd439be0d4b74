//! For every two slots of a form, all pairs of what may stand in them.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::forms::with_choice;
use super::operands::statement;
use crate::Match;
use crate::form::{Form, MAX_SLOTS, Slot};
use crate::forms::FAMILIES;
use crate::operand::{Presence, type_bits};

/// Statements with every pair of alternatives of two slots of a form, and of an alternative and an operand that may be left
/// out. What else they have is as little as the form's rules allow; where they allow none, the rules refuse the pair.
pub fn pairs() -> Vec<String> {
    let mut all = BTreeSet::new();
    for family in FAMILIES {
        for form in family.forms.iter().filter(|form| form.unchecked.is_none()) {
            of_form(form, &mut all);
        }
    }
    all.into_iter().collect()
}

fn of_form(form: &'static Form, all: &mut BTreeSet<String>) {
    let Some(base) = with_choice(form, &[]) else {
        return;
    };
    let optional: Vec<&str> = form
        .operands()
        .iter()
        .filter(|operand| operand.presence == Presence::Optional && operand.with.is_empty())
        .map(|operand| operand.name)
        .chain(
            form.operands()
                .iter()
                .filter(|operand| operand.pair == Presence::Optional)
                .map(|_| "|"),
        )
        .collect();
    for (at, slot) in form.slots().iter().enumerate() {
        for one in choices(slot) {
            for other_slot in &form.slots()[at + 1..] {
                for other in choices(other_slot) {
                    let pair = [(slot, one), (other_slot, other)];
                    let found =
                        with_choice(form, &pair).unwrap_or_else(|| refused(form, &base, &pair));
                    all.insert(statement(&found, &[]));
                }
            }
            if let Some(found) = with_choice(form, &[(slot, one)]) {
                for name in &optional {
                    all.insert(statement(&found, &[name]));
                }
            }
        }
    }
    all.insert(statement(&base, &optional));
}

/// What may stand in a slot; empty: nothing.
fn choices(slot: &Slot) -> impl Iterator<Item = &'static str> {
    slot.alternatives()
        .map(|alternative| alternative.word)
        .chain(slot.optional.then_some(""))
}

/// The form with a pair that its rules do not allow.
fn refused(form: &'static Form, base: &Match, pair: &[(&Slot, &'static str)]) -> Match {
    let mut chosen = [""; MAX_SLOTS];
    for (slot, word) in form.slots().iter().zip(&mut chosen) {
        let choice = pair.iter().find(|(other, _)| core::ptr::eq(*other, slot));
        *word = choice.map_or(base.slot(slot.name).unwrap_or(""), |&(_, word)| word);
    }
    let mut types = chosen.iter().filter(|word| type_bits(word) != 0);
    Match {
        form,
        chosen,
        main_type: types.next_back().copied().unwrap_or(""),
    }
}

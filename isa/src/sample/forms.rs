//! An example of each form, of each alternative, and of each special register.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::operands::statement;
use super::{Example, Origin, Sample};
use crate::form::{Form, Slot};
use crate::forms::FAMILIES;
use crate::operand::{Presence, type_bits};
use crate::special_registers::SPECIAL_REGISTERS;
use crate::{Match, accept};

/// Examples of all forms and all their alternatives.
pub fn all() -> Vec<Sample> {
    let mut samples = Vec::new();
    for family in FAMILIES {
        for form in family.forms.iter().filter(|form| form.unchecked.is_none()) {
            of_form(form, family.name, &mut samples);
        }
    }
    for register in SPECIAL_REGISTERS {
        let mut read = match register.name.split_once('<') {
            // The first of a row stands for all.
            Some((start, rest)) => {
                let end = rest.split_once('>').map_or("", |(_, end)| end);
                format!("{start}0{end}")
            }
            None => register.name.to_owned(),
        };
        if register.vector {
            read.push_str(".x");
        }
        let (class, ty) = match type_bits(register.ty) {
            1 => ("%p1", "pred"),
            64 => ("%d1", "u64"),
            _ => ("%r1", "u32"),
        };
        let text = format!("mov.{ty} {class}, {read};");
        samples.push(Sample {
            origin: Origin::Special(read),
            text,
        });
    }
    samples
}

fn of_form(form: &'static Form, family: &'static str, samples: &mut Vec<Sample>) {
    let Some(base) = with_choice(form, &[]) else {
        panic!("no instruction follows from `{}`", form.syntax);
    };
    let mut add = |found: Match, example: Example, optional: &[&str]| {
        let text = statement(&found, optional);
        samples.push(Sample {
            origin: Origin::Form {
                found: Box::new(found),
                family,
                example,
            },
            text,
        });
    };
    add(base, Example::Form, &[]);
    for slot in form.slots() {
        for alternative in slot.alternatives() {
            if base.slot(slot.name) == Some(alternative.word) && !slot.optional {
                continue;
            }
            let found = with_choice(form, &[(slot, alternative.word)]);
            let found = found
                .unwrap_or_else(|| panic!("`.{}` never fits `{}`", alternative.word, form.syntax));
            add(
                found,
                Example::Alternative(slot.name, alternative.word),
                &[],
            );
        }
    }
    for operand in form.operands() {
        if operand.presence == Presence::Optional && operand.with.is_empty() {
            add(base, Example::Operand(operand.name), &[operand.name]);
        }
        if operand.pair == Presence::Optional {
            add(base, Example::Operand(operand.name), &["|"]);
        }
    }
}

/// The form with these alternatives (empty: none), and as little else as its rules allow.
pub(super) fn with_choice(form: &'static Form, choices: &[(&Slot, &'static str)]) -> Option<Match> {
    let slots = form.slots();
    let chosen = |slot: &Slot| {
        let choice = choices
            .iter()
            .find(|(other, _)| core::ptr::eq(*other, slot));
        choice.map(|&(_, word)| word)
    };
    let mut words: Vec<Option<&'static str>> = slots
        .iter()
        .map(|slot| match chosen(slot) {
            Some("") => None,
            Some(word) => Some(word),
            _ if slot.optional => None,
            _ => slot
                .alternatives()
                .next()
                .map(|alternative| alternative.word),
        })
        .collect();
    let attempt = |words: &[Option<&'static str>]| {
        let modifiers: Vec<&str> = words.iter().flatten().copied().collect();
        accept(form.opcode, &modifiers, |found| {
            core::ptr::eq(found.form, form)
        })
        .ok()
    };
    if let Some(found) = attempt(&words) {
        return Some(found);
    }
    for (at, slot) in slots.iter().enumerate() {
        if chosen(slot).is_some() {
            continue;
        }
        let before = words[at];
        for alternative in slot.alternatives() {
            words[at] = Some(alternative.word);
            if let Some(found) = attempt(&words) {
                return Some(found);
            }
        }
        words[at] = before;
    }
    None
}

//! Filling the slots of a form with an instruction's modifiers.

use crate::form::{Form, MAX_SLOTS, Slot};
use crate::matched::Match;
use crate::modifier::ModifierClass;
use crate::name::Modifiers;
use crate::operand::type_bits;
use crate::words::{LISTS, TYPE_LIST};

/// What of an instruction's modifiers stands in which slot of a form.
pub(crate) struct Filled<'t> {
    /// The form with these modifiers.
    pub found: Match,
    /// How many modifiers have no slot.
    pub left: usize,
    /// The first of them.
    pub first_left: Option<&'t str>,
    /// Whether a type is one of them.
    type_left: bool,
    /// How many slots that must not be empty are.
    pub missing: usize,
    /// The first of them.
    pub empty: Option<&'static Slot>,
    /// Whether one for a type is one of them.
    type_missing: bool,
}

/// The modifiers of an instruction in the slots of a form, as many as have one.
pub(crate) fn fill<'t>(form: &'static Form, modifiers: &Modifiers<'t, '_>) -> Filled<'t> {
    let words = modifiers.words;
    let mut chosen = [""; MAX_SLOTS];
    let mut in_name = words[..modifiers.in_name].iter().peekable();
    for (slot, chosen) in form.name_slots().iter().zip(&mut chosen) {
        if let Some(found) = in_name.peek().and_then(|word| slot.find(word)) {
            *chosen = found.word;
            in_name.next();
        }
    }
    let (mut taken, mut empty, mut missing) = (modifiers.passed_over, None, 0);
    let mut type_missing = false;
    // Of each list, where the next of its words may stand at first.
    let mut next = [0; LISTS];
    let named = form.name_slots().len();
    for (slot, chosen) in form.slots().iter().zip(&mut chosen).skip(named) {
        let rest = words.iter().enumerate().skip(modifiers.in_name);
        let found = rest.clone().find_map(|(at, &modifier)| {
            let list = modifiers.list(at);
            if taken >> at & 1 != 0 || list != 0 && at < next[list] {
                return None;
            }
            slot.find(modifier)
                .map(|alternative| (at, alternative.word))
        });
        match found {
            Some((at, word)) => {
                taken |= 1 << at;
                *chosen = word;
                next[modifiers.list(at)] = at + 1;
            }
            None if !slot.optional => {
                empty = empty.or(Some(slot));
                missing += 1;
                type_missing |= slot.class() == ModifierClass::Type;
            }
            None => {}
        }
    }
    let is_left = |at: &usize| taken >> at & 1 == 0;
    let left = (modifiers.in_name..words.len()).filter(is_left);
    let main_type = chosen
        .iter()
        .rfind(|word| type_bits(word) != 0)
        .copied()
        .unwrap_or("");
    Filled {
        found: Match {
            form,
            chosen,
            main_type,
        },
        left: left.clone().count(),
        first_left: left.clone().next().map(|at| words[at]),
        type_left: left
            .clone()
            .any(|at| modifiers.list(at) == usize::from(TYPE_LIST)),
        missing,
        empty,
        type_missing,
    }
}

/// The form with these types, whatever the other modifiers.
pub(crate) fn of_types(form: &'static Form, modifiers: &Modifiers<'_, '_>) -> Option<Match> {
    let filled = fill(form, modifiers);
    (!filled.type_left && !filled.type_missing).then_some(filled.found)
}

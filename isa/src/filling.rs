//! Filling the slots of a form with an instruction's modifiers.

use crate::form::{Form, MAX_SLOTS, Slot};
use crate::matched::Match;
use crate::modifier::ModifierClass;
use crate::name::Modifiers;
use crate::operand::type_bits;
use crate::words::{LISTS, TYPE_LIST};

/// What of an instruction's modifiers stands in which slot of a form.
pub(crate) struct Filled<'t, 'm> {
    form: &'static Form,
    modifiers: &'m Modifiers<'t, 'm>,
    /// The modifier in each slot; empty: none.
    chosen: [&'static str; MAX_SLOTS],
    /// A bit for each modifier that has a slot or is passed over.
    taken: u32,
    /// How many slots that must not be empty are.
    pub missing: usize,
    /// The first of them.
    pub empty: Option<&'static Slot>,
    /// Whether one for a type is one of them.
    type_missing: bool,
}

/// The modifiers of an instruction in the slots of a form, as many as have one.
pub(crate) fn fill<'t, 'm>(
    form: &'static Form,
    modifiers: &'m Modifiers<'t, 'm>,
) -> Filled<'t, 'm> {
    try_fill(form, modifiers, false).expect("it goes on with slots that are empty")
}

/// The same; `None` as soon as a slot is empty that must not be.
pub(crate) fn fill_all<'t, 'm>(
    form: &'static Form,
    modifiers: &'m Modifiers<'t, 'm>,
) -> Option<Filled<'t, 'm>> {
    try_fill(form, modifiers, true)
}

#[inline]
fn try_fill<'t, 'm>(
    form: &'static Form,
    modifiers: &'m Modifiers<'t, 'm>,
    all: bool,
) -> Option<Filled<'t, 'm>> {
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
            None if !slot.optional && all => return None,
            None if !slot.optional => {
                empty = empty.or(Some(slot));
                missing += 1;
                type_missing |= slot.class() == ModifierClass::Type;
            }
            None => {}
        }
    }
    Some(Filled {
        form,
        modifiers,
        chosen,
        taken,
        missing,
        empty,
        type_missing,
    })
}

impl<'t, 'm> Filled<'t, 'm> {
    /// The numbers of the modifiers that have no slot.
    fn left_at(&self) -> impl Iterator<Item = usize> {
        let rest = self.modifiers.in_name..self.modifiers.words.len();
        rest.filter(|at| self.taken >> at & 1 == 0)
    }

    /// The modifiers that have no slot.
    pub fn left(&self) -> impl Iterator<Item = &'t str> {
        self.left_at().map(|at| self.modifiers.words[at])
    }

    /// Whether a type has no slot, or the slot of a type none.
    pub fn has_other_types(&self) -> bool {
        let is_type = |at| self.modifiers.list(at) == usize::from(TYPE_LIST);
        self.type_missing || self.left_at().any(is_type)
    }

    /// Whether all modifiers have a slot, and all slots that must not be empty a modifier.
    pub fn is_whole(&self) -> bool {
        self.empty.is_none() && self.left_at().next().is_none()
    }

    /// The form with these modifiers.
    pub fn found(&self) -> Match {
        let mut types = self.chosen.iter().filter(|word| type_bits(word) != 0);
        Match {
            form: self.form,
            chosen: self.chosen,
            main_type: types.next_back().copied().unwrap_or(""),
        }
    }
}

/// The form with these types, whatever the other modifiers.
pub(crate) fn of_types(form: &'static Form, modifiers: &Modifiers<'_, '_>) -> Option<Match> {
    let filled = fill(form, modifiers);
    (!filled.has_other_types()).then(|| filled.found())
}

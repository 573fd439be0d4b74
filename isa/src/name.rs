//! An instruction's name as ptxas reads it: its opcode and the modifiers that belong to it, as in `cp.async.bulk.tensor`.

use crate::form::Form;
use crate::index::forms_of;
use crate::words::{
    LISTS, TYPE_LIST, TYPED_LAST, UNTYPED, is_element, is_repeatable, is_shape, list_of,
    meaningless_for, selected_by,
};
use core::fmt;

/// The most modifiers of a name.
const MAX_NAME: usize = 4;
/// The most modifiers that are told apart.
pub(crate) const MAX_MODIFIERS: usize = 32;

/// An instruction's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'t> {
    opcode: &'t str,
    /// The modifiers; empty: none.
    words: [&'t str; MAX_NAME],
}

impl<'t> Name<'t> {
    /// That of an opcode and the first of an instruction's modifiers.
    pub(crate) fn new(opcode: &'t str, modifiers: &[&'t str]) -> Name<'t> {
        let mut words = [""; MAX_NAME];
        for (word, modifier) in words.iter_mut().zip(modifiers) {
            *word = modifier;
        }
        Name { opcode, words }
    }

    /// Whether this is the name.
    pub(crate) fn is(&self, text: &str) -> bool {
        let mut parts = text.split('.');
        let words = self.words.iter().take_while(|word| !word.is_empty());
        parts.next() == Some(self.opcode) && words.copied().eq(parts)
    }

    /// The name followed by the first two of the instruction's types, as ptxas says it of some.
    pub(crate) fn with_types(mut self, types: impl Iterator<Item = &'t str>) -> Name<'t> {
        let free = self.words.iter_mut().skip_while(|word| !word.is_empty());
        for (word, ty) in free.zip(types.take(2)) {
            *word = ty;
        }
        self
    }

    /// Whether this modifier is looked for together with the types of an instruction of this name.
    pub(crate) fn selects(&self, word: &str) -> bool {
        selected_by(word).any(|names| names.split(' ').any(|other| self.is(other)))
    }

    /// Whether ptxas looks at the types of an instruction of this name last.
    pub(crate) fn is_typed_last(&self) -> bool {
        TYPED_LAST.split(' ').any(|other| self.is(other))
    }

    /// Whether ptxas tells the types of an instruction of this name with it.
    pub(crate) fn tells_types(&self) -> bool {
        !UNTYPED.split(' ').any(|other| self.is(other))
    }

    /// Whether an instruction of this name may have this modifier without a place for it.
    fn passes_over(&self, word: &str) -> bool {
        meaningless_for(word)
            .any(|names| names.is_empty() || names.split(' ').any(|other| self.is(other)))
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.opcode)?;
        for word in self.words.iter().take_while(|word| !word.is_empty()) {
            // `tcgen05.wait::ld` is called `tcgen05.wait`.
            let word = word.split_once("::").map_or(*word, |(word, _)| word);
            write!(f, ".{word}")?;
        }
        Ok(())
    }
}

/// The modifiers of an instruction, told apart.
pub(crate) struct Modifiers<'t, 'm> {
    /// All of them.
    pub words: &'m [&'t str],
    /// How many belong to the name.
    pub in_name: usize,
    /// A bit for each that is passed over.
    pub passed_over: u32,
    /// Whether types that stand for elements of matrices are no types of the instruction.
    skips_elements: bool,
    /// Of each, the list whose order counts; 0: none.
    lists: [u8; MAX_MODIFIERS],
}

impl<'t, 'm> Modifiers<'t, 'm> {
    /// Those of an instruction with this opcode, at most [`MAX_MODIFIERS`]; `None` if no instruction has such a name.
    pub fn read(opcode: &str, words: &'m [&'t str]) -> Option<Modifiers<'t, 'm>> {
        let in_name = forms_of(opcode)
            .filter_map(|form| name_length(form, words))
            .max()?;
        let mut modifiers = Modifiers {
            words,
            in_name,
            passed_over: 0,
            skips_elements: opcode == "mma",
            lists: [0; MAX_MODIFIERS],
        };
        let name = Name::new(opcode, &words[..in_name]);
        for (number, word) in words.iter().enumerate().skip(in_name) {
            modifiers.lists[number] = list_of(word);
            let repeated = words[..number].contains(word);
            let passed_over = if repeated {
                is_repeatable(word)
            } else {
                // Few words are passed over at all.
                name.passes_over(word) && !modifiers.forms(opcode).any(|form| has_word(form, word))
            };
            modifiers.passed_over |= u32::from(passed_over) << number;
        }
        Some(modifiers)
    }

    /// The forms with this name.
    pub fn forms(&self, opcode: &str) -> impl Iterator<Item = &'static Form> + Clone + use<'t, 'm> {
        let (words, in_name) = (self.words, self.in_name);
        forms_of(opcode).filter(move |form| name_length(form, words) == Some(in_name))
    }

    /// The types of the instruction.
    pub fn types(&self) -> impl Iterator<Item = &'t str> {
        let rest = self.words.iter().copied().enumerate().skip(self.in_name);
        rest.filter(|&(at, word)| {
            self.list(at) == usize::from(TYPE_LIST) && !(self.skips_elements && is_element(word))
        })
        .map(|(_, word)| word)
    }

    /// The shape of its matrices.
    pub fn shape(&self) -> Option<&'t str> {
        let mut rest = self.words[self.in_name..].iter().copied();
        rest.find(|word| is_shape(word))
    }

    /// The list of the modifier of this number.
    pub fn list(&self, number: usize) -> usize {
        usize::from(self.lists[number]) % LISTS
    }
}

/// How many of the modifiers belong to the name that a form has; `None` if they begin differently.
fn name_length(form: &Form, words: &[&str]) -> Option<usize> {
    let mut length = 0;
    for slot in form.name_slots() {
        match words.get(length) {
            Some(word) if slot.find(word).is_some() => length += 1,
            _ if slot.optional => {}
            _ => return None,
        }
    }
    Some(length)
}

/// Whether a form takes a modifier outside of its name.
pub(crate) fn has_word(form: &Form, word: &str) -> bool {
    let slots = &form.slots()[form.name_slots().len()..];
    slots.iter().any(|slot| slot.find(word).is_some())
}

//! Reading a form's modifiers: each must be read by the family that lowers it, else its instructions are refused by name.

use std::cell::Cell;

use warpsmith_isa::Match;
use warpsmith_isa::effect::{Completion, Effect, Fence};

use super::types::Ty;

/// A form whose modifiers are being read. What has been read is marked, so that nothing is ignored by mistake.
pub(crate) struct FormReader<'f> {
    form: &'f Match,
    /// A bit for each slot that has been read.
    read: Cell<u32>,
}

impl<'f> FormReader<'f> {
    /// A reader of a form, of which nothing has been read yet.
    pub fn new(form: &'f Match) -> FormReader<'f> {
        FormReader {
            form,
            read: Cell::new(0),
        }
    }

    /// The opcode.
    pub fn opcode(&self) -> &'static str {
        self.form.form.opcode
    }

    /// How many operands it takes, optional ones included.
    pub fn operands(&self) -> usize {
        self.form.operands().count()
    }

    /// Whether it takes the operand of this name in its syntax line.
    pub fn takes(&self, operand: &str) -> bool {
        self.form.operands().any(|other| other.name == operand)
    }

    /// Reads the modifier in the slot of this name; `None` if it is empty or the form has none of this name.
    pub fn slot(&self, name: &str) -> Option<&'static str> {
        let mut slots = self.form.slots().enumerate();
        let (number, (_, word)) = slots.find(|(_, (slot, _))| slot.name == name)?;
        self.mark(number);
        Some(word).filter(|word| !word.is_empty())
    }

    /// Reads this modifier; whether it is there.
    pub fn has(&self, word: &str) -> bool {
        let mut slots = self.form.slots().enumerate();
        let found = slots.find(|(_, (_, other))| *other == word);
        if let Some((number, _)) = found {
            self.mark(number);
        }
        found.is_some()
    }

    /// Reads the first of these modifiers that is there.
    pub fn one_of(&self, words: &[&'static str]) -> Option<&'static str> {
        words.iter().copied().find(|word| self.has(word))
    }

    /// Reads the first modifier that has not been read and that `parse` knows.
    pub fn next<T>(&self, parse: impl Fn(&'static str) -> Option<T>) -> Option<T> {
        let mut slots = self.form.slots().enumerate();
        let (number, value) = slots.find_map(|(number, (_, word))| {
            let is_read = self.read.get() >> number & 1 != 0;
            let value = (!is_read).then(|| parse(word))??;
            Some((number, value))
        })?;
        self.mark(number);
        Some(value)
    }

    /// Reads the first type that has not been read.
    pub fn ty(&self) -> Option<Ty> {
        self.next(Ty::named)
    }

    /// The first type, which still has to be read.
    pub fn first_type(&self) -> Option<Ty> {
        self.form.words().find_map(Ty::named)
    }

    /// Whether one of the types is such, all of which still have to be read.
    pub fn any_type(&self, is_such: impl Fn(Ty) -> bool) -> bool {
        self.form.words().filter_map(Ty::named).any(is_such)
    }

    /// Reads the modifiers in the slots of these names, which change nothing of what is computed.
    pub fn ignore(&self, slots: &[&str]) {
        for (number, (slot, _)) in self.form.slots().enumerate() {
            if slots.contains(&slot.name) {
                self.mark(number);
            }
        }
    }

    /// Reads all modifiers of a form that declares no access to memory and no fence: it tunes or measures a device, and none of its
    /// modifiers changes what is computed. Of another form it reads nothing.
    pub fn ignore_tuning(&self) {
        if self.form.effects().next().is_none() && self.form.fence().is_none() {
            self.read.set(u32::MAX);
        }
    }

    /// Reads what the instruction orders, if it is a fence.
    pub fn fence(&self) -> Option<Fence> {
        for (number, (_, word)) in self.form.slots().enumerate() {
            if self.form.is_in_fence(word) {
                self.mark(number);
            }
        }
        self.form.fence()
    }

    /// Reads what the instruction does at its address operand of this number.
    ///
    /// # Panics
    /// If it declares nothing there: a mistake of the form.
    pub fn effect(&self, operand: usize) -> Effect {
        for (number, (_, word)) in self.form.slots().enumerate() {
            if self.form.is_in_effects(word) {
                self.mark(number);
            }
        }
        let found = self.form.effects().find(|found| found.operand == operand);
        let found = found.unwrap_or_else(|| {
            let syntax = self.form.form.syntax;
            panic!("`{syntax}` declares no access at operand {operand}")
        });
        found.effect
    }

    /// Whether its accesses are done with the instruction.
    pub fn is_synchronous(&self) -> bool {
        let mut effects = self.form.effects();
        effects.all(|access| access.effect.completion == Completion::Synchronous)
    }

    /// The first modifier that has not been read.
    pub fn unread(&self) -> Option<&'static str> {
        let mut slots = self.form.slots().enumerate();
        let (_, (_, word)) = slots
            .find(|(number, (_, word))| !word.is_empty() && self.read.get() >> number & 1 == 0)?;
        Some(word)
    }

    fn mark(&self, slot: usize) {
        self.read.set(self.read.get() | 1 << slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(opcode: &'static str, modifiers: &[&'static str]) -> Match {
        warpsmith_isa::find(opcode, modifiers).expect("the form exists")
    }

    #[test]
    fn what_is_not_read_is_left() {
        let form = form("add", &["rn", "ftz", "sat", "f32"]);
        let reader = FormReader::new(&form);
        assert_eq!(reader.unread(), Some("rn"));
        assert_eq!(reader.slot("rnd"), Some("rn"));
        assert_eq!(reader.first_type(), reader.ty());
        assert!(reader.has("ftz") && !reader.has("approx"));
        assert_eq!(reader.unread(), Some("sat"));
        assert_eq!(reader.one_of(&["satfinite", "sat"]), Some("sat"));
        assert_eq!(reader.unread(), None);
    }

    #[test]
    fn equal_types_are_read_one_after_the_other() {
        let form = form("cvt", &["u16", "u16"]);
        let reader = FormReader::new(&form);
        assert_eq!(
            (reader.ty(), reader.unread()),
            (Ty::named("u16"), Some("u16"))
        );
        assert_eq!((reader.ty(), reader.unread()), (Ty::named("u16"), None));
        assert_eq!(reader.ty(), None);
    }

    #[test]
    fn an_effect_has_read_what_it_says_and_nothing_else() {
        let form = form(
            "ld",
            &["relaxed", "gpu", "global", "L1::evict_last", "v2", "u32"],
        );
        let reader = FormReader::new(&form);
        reader.effect(1);
        assert_eq!(reader.unread(), Some("L1::evict_last"));
        reader.ignore(&["level1::eviction_priority"]);
        assert_eq!(reader.unread(), Some("v2"));
        let form = self::form("isspacep", &["global"]);
        assert!(!form.is_in_effects("global"));
    }

    #[test]
    fn what_is_declared_is_not_ignored_as_tuning() {
        for (opcode, modifiers, unread) in [
            ("prefetch", &["global", "L2"][..], None),
            ("setmaxnreg", &["inc", "sync", "aligned", "u32"], None),
            // It writes, and it orders.
            ("discard", &["global", "L2"], Some("global")),
            ("fence", &["acq_rel", "gpu"], Some("acq_rel")),
        ] {
            let form = form(opcode, modifiers);
            let reader = FormReader::new(&form);
            reader.ignore_tuning();
            assert_eq!(reader.unread(), unread, "{opcode}");
        }
        let form = form("fence", &["proxy", "async", "global"]);
        let reader = FormReader::new(&form);
        assert!(reader.fence().is_some());
        assert_eq!(reader.unread(), Some("proxy"));
    }
}

//! Faults in the words of an instruction's name.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::Sieve;
use crate::Match;
use crate::find::fitting;
use crate::forms::FAMILIES;
use crate::index::forms_of;
use crate::modifier::ModifierClass;
use crate::sample::operands::{line, operands};

/// An instruction with each change of its modifiers.
pub(super) fn of_instruction(found: &Match, sieve: Sieve, all: &mut BTreeSet<String>) {
    let words: Vec<&'static str> = found.words().collect();
    let opcode = found.form.opcode;
    let given = operands(found, &[]);
    let mut add = |words: &[&str]| {
        if !sieve.keeps(&(found.form.syntax, words)) {
            return;
        }
        // If it is no fault, the operands are those that it takes.
        let taken = fitting(opcode, words).next();
        let taken = taken.map_or_else(|| given.clone(), |found| operands(&found, &[]));
        all.insert(line(opcode, words, &taken));
    };
    add(&words);
    for at in 0..words.len() {
        let mut fewer = words.clone();
        let word = fewer.remove(at);
        add(&fewer);
        // Elsewhere, and elsewhere once more.
        for to in 0..words.len() {
            let mut moved = fewer.clone();
            moved.insert(to, word);
            add(&moved);
        }
        for to in [0, at, words.len()] {
            let mut doubled = words.clone();
            doubled.insert(to, word);
            add(&doubled);
        }
        for other in at + 1..words.len() {
            let mut swapped = words.clone();
            swapped.swap(at, other);
            add(&swapped);
        }
    }
    for foreign in vocabulary(opcode) {
        let class = ModifierClass::of(foreign);
        for at in 0..words.len() {
            if ModifierClass::of(words[at]) == class {
                let mut replaced = words.clone();
                replaced[at] = foreign;
                add(&replaced);
            }
        }
        // In front of the first of its class, or else of the first type; and at the end.
        let place = |class| {
            words
                .iter()
                .position(|word| ModifierClass::of(word) == class)
        };
        let before = place(class).or_else(|| place(ModifierClass::Type));
        for at in [before.unwrap_or(0), words.len()] {
            let mut more = words.clone();
            more.insert(at, foreign);
            add(&more);
        }
    }
}

/// The words that are tried where they may not belong: all of the opcode's forms, and from all forms every word of a class
/// and the first of each slot.
fn vocabulary(opcode: &str) -> BTreeSet<&'static str> {
    let mut words = BTreeSet::from(["banana"]);
    for slot in forms_of(opcode).flat_map(|form| form.slots()) {
        // Shapes of warpgroups are many, and alike.
        words.extend(
            slot.alternatives()
                .take(12)
                .map(|alternative| alternative.word),
        );
    }
    let forms = FAMILIES.iter().flat_map(|family| family.forms);
    for slot in forms.flat_map(|form| form.slots()) {
        let all = slot.alternatives().map(|alternative| alternative.word);
        words.extend(
            all.enumerate()
                .filter(|&(number, word)| {
                    number == 0 || ModifierClass::of(word) != ModifierClass::Other
                })
                .map(|(_, word)| word),
        );
    }
    words
}

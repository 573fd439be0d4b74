//! The instructions of the tables with each choice of modifiers.

use std::collections::HashSet;

use warpsmith_isa::form::Form;
use warpsmith_isa::{Match, PtxVersion, Target, accept};

use crate::deviations::miscompiled;
use crate::program::{TARGET, VERSION};

/// So many choices of modifiers a form has at most that all are taken; of a form with more, as many that each two modifiers stand
/// together once.
const ALL: usize = 160;

/// The version and target of the modules.
fn module() -> (PtxVersion, Target) {
    let (major, minor) = VERSION.split_once('.').expect("two numbers");
    let number = |text: &str| text.parse().expect("a number");
    let target = Target::parse(TARGET).expect("an architecture");
    (PtxVersion::new(number(major), number(minor)), target)
}

/// The choices of modifiers that a form has, and that a module may have; without those that ptxas makes wrong code of.
pub fn variants(form: &'static Form) -> Vec<Match> {
    let mut choices: Vec<Vec<&'static str>> = vec![Vec::new()];
    for slot in form.slots() {
        let mut longer = Vec::new();
        for choice in &choices {
            if slot.optional {
                longer.push([&choice[..], &[""]].concat());
            }
            for alternative in slot.alternatives() {
                longer.push([&choice[..], &[alternative.word]].concat());
            }
        }
        choices = longer;
    }
    let (version, target) = module();
    let mut found: Vec<(Vec<&'static str>, Match)> = Vec::new();
    for choice in choices {
        let words: Vec<&str> = choice
            .iter()
            .copied()
            .filter(|word| !word.is_empty())
            .collect();
        if miscompiled(form.opcode, &words).is_some() {
            continue;
        }
        let Ok(variant) = accept(form.opcode, &words, |found| std::ptr::eq(found.form, form))
        else {
            continue;
        };
        // A word may fit a slot further on: then it was counted there.
        let own = variant
            .slots()
            .map(|(_, word)| word)
            .eq(choice.iter().copied());
        if own && variant.check_target(version, target).is_ok() {
            found.push((choice, variant));
        }
    }
    if found.len() > ALL {
        found = pairwise(found);
    }
    found.into_iter().map(|(_, variant)| variant).collect()
}

/// Choices among which each two modifiers that stand together in one of them still do.
fn pairwise(all: Vec<(Vec<&'static str>, Match)>) -> Vec<(Vec<&'static str>, Match)> {
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    for (choice, variant) in all {
        let mut is_new = false;
        for second in 0..choice.len() {
            for first in 0..second {
                is_new |= seen.insert((first, choice[first], second, choice[second]));
            }
        }
        if is_new {
            kept.push((choice, variant));
        }
    }
    kept
}

/// The instruction as it is written, without operands.
pub fn mnemonic(variant: &Match) -> String {
    let mut text = variant.form.opcode.to_owned();
    for word in variant.words() {
        text.push('.');
        text.push_str(word);
    }
    text
}

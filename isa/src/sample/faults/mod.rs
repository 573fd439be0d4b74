//! Instructions with something wrong, made from the forms by a fixed list of changes, most of which ptxas refuses.

mod modifiers;
mod operands;

use alloc::collections::BTreeMap;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use super::forms::with_choice;
use crate::form::{Form, Slot};
use crate::forms::FAMILIES;
use crate::{Match, PtxVersion, Target};

/// A version and an architecture, and the statements that are asked for there.
pub type Faults = BTreeMap<(PtxVersion, Target), BTreeSet<String>>;

/// The architectures whose verdicts are asked for, each for what those before it lack.
const TARGETS: &[&str] = &["sm_90a", "sm_100a", "sm_120a"];

/// Which faults are looked at: all of them, or always the same few of as many.
#[derive(Clone, Copy, Debug)]
pub struct Sieve {
    one_in: u64,
}

impl Sieve {
    /// All faults.
    pub const ALL: Sieve = Sieve { one_in: 1 };

    /// One of so many.
    pub const fn one_in(number: u64) -> Sieve {
        Sieve { one_in: number }
    }

    /// Whether this one is looked at.
    pub fn keeps(self, fault: &impl Hash) -> bool {
        let mut hasher = Fnv(0xCBF2_9CE4_8422_2325);
        fault.hash(&mut hasher);
        hasher.finish().is_multiple_of(self.one_in)
    }
}

/// The hash of Fowler, Noll and Vo: the same everywhere and always.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        // Its low bits alone repeat themselves.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

/// Instructions with modifiers doubled, superfluous, missing, replaced and out of order.
pub fn modifiers(sieve: Sieve) -> Faults {
    of_all_forms(|found, all| modifiers::of_instruction(found, sieve, all))
}

/// Instructions with other operands than they take.
pub fn operands(sieve: Sieve) -> Faults {
    of_all_forms(|found, all| operands::of_instruction(found, sieve, all))
}

fn of_all_forms(mut faults_of: impl FnMut(&Match, &mut BTreeSet<String>)) -> Faults {
    let mut all = Faults::new();
    for family in FAMILIES {
        for form in family.forms.iter().filter(|form| form.unchecked.is_none()) {
            for example in [with_choice(form, &[]), full(form)].into_iter().flatten() {
                if let Some(cell) = home(&example) {
                    faults_of(&example, all.entry(cell).or_default());
                }
            }
        }
    }
    all
}

/// The first of the architectures that has an instruction.
fn home(found: &Match) -> Option<(PtxVersion, Target)> {
    let cells = TARGETS
        .iter()
        .filter_map(|name| Some((PtxVersion::NEWEST, Target::parse(name)?)));
    let mut cells = cells.filter(|&(version, target)| found.check_target(version, target).is_ok());
    cells.next()
}

/// The form with as many of its optional modifiers as its rules allow.
fn full(form: &'static Form) -> Option<Match> {
    let mut choices: Vec<(&Slot, &'static str)> = Vec::new();
    let mut found = with_choice(form, &[])?;
    let cell = home(&found)?;
    for slot in form.slots().iter().filter(|slot| slot.optional) {
        for alternative in slot.alternatives() {
            choices.push((slot, alternative.word));
            let more = with_choice(form, &choices)
                .filter(|more| more.check_target(cell.0, cell.1).is_ok());
            if let Some(more) = more {
                found = more;
                break;
            }
            choices.pop();
        }
    }
    Some(found)
}

//! Since when an instruction exists, and what a module lacks that may not have it.

use crate::form::Rule;
use crate::matched::Match;
use crate::phrase::{Named, Phrase, Subject, phrase};
use crate::refusal::Refusal;
use crate::target::{PtxVersion, Since, Target, Targets};

impl Match {
    /// All that it asks of a module: the modifier that asks (empty: the form itself), and for what.
    fn needs(&self) -> impl Iterator<Item = (&'static str, Since)> + '_ {
        let form = self.form;
        let words = form
            .slots()
            .iter()
            .zip(&self.chosen)
            .filter(|(_, word)| !word.is_empty())
            .filter_map(|(slot, &word)| Some((word, slot.find(word)?.since()?)));
        let rules = form.rules.iter().filter_map(|rule| match *rule {
            Rule::Since(list, since) if list.split(' ').all(|name| self.holds(name)) => {
                let first = list.split(' ').next().unwrap_or_default();
                let word = first
                    .split_once('=')
                    .map_or(first, |(_, word)| word)
                    .trim_start_matches('.');
                Some((self.slot(word).unwrap_or(word), Since::parse(since)))
            }
            _ => None,
        });
        core::iter::once(("", form.since)).chain(words).chain(rules)
    }

    /// What it asks of a module of this version on an old architecture alone.
    fn needs_before(
        &self,
        version: PtxVersion,
        target: Target,
    ) -> impl Iterator<Item = (&'static str, Since)> + '_ {
        self.form.rules.iter().filter_map(move |rule| match *rule {
            Rule::Before(level, first) if target.level < level => {
                let first = Since::parse(first);
                if self.form.since.targets.contain(target) {
                    return Some((OLD_ARCHITECTURE, first));
                }
                // Before that version no old architecture had it.
                (version < first.ptx).then_some((
                    "",
                    Since {
                        targets: Targets::AtLeast(level),
                        ..Since::ALWAYS
                    },
                ))
            }
            _ => None,
        })
    }

    /// Since when it exists: the latest version of its form and modifiers, and the narrowest of their architectures.
    pub fn since(&self) -> Since {
        let mut result = Since::ALWAYS;
        for (_, since) in self.needs() {
            result.ptx = result.ptx.max(since.ptx);
            result.targets = match (result.targets, since.targets) {
                (Targets::AtLeast(a), Targets::AtLeast(b)) => {
                    Targets::AtLeast(if a > b { a } else { b })
                }
                (Targets::Named(names), Targets::AtLeast(_)) => Targets::Named(names),
                (_, named) => named,
            };
        }
        result
    }

    /// The first PTX version that has it for this architecture.
    pub fn first_version(&self, target: Target) -> PtxVersion {
        self.needs_before(PtxVersion::NEWEST, target)
            .fold(self.since().ptx, |first, (_, since)| first.max(since.ptx))
    }

    /// Whether a module of this version and architecture may have it.
    ///
    /// # Errors
    /// What it lacks: of several needs the one that asks for the most, so that a module which has that may have the
    /// instruction.
    pub fn check_target(&self, version: PtxVersion, target: Target) -> Result<(), Refusal<'_>> {
        let (mut newest, mut lacking): (Option<_>, Option<_>) = (None, None);
        for (word, since) in self.needs().chain(self.needs_before(version, target)) {
            if version < since.ptx && newest.is_none_or(|(_, other)| since.ptx > other) {
                newest = Some((word, since.ptx));
            }
            if !since.targets.contain(target)
                && lacking.is_none_or(|(_, other)| is_narrower(since.targets, other))
            {
                lacking = Some((word, since.targets));
            }
        }
        if let Some((word, version)) = newest {
            let phrase = phrase(self, word);
            let feature = self.named(phrase, phrase.version, word);
            return Err(Refusal::NeedsVersion { feature, version });
        }
        if let Some((word, targets)) = lacking {
            let phrase = phrase(self, word);
            let feature = self.named(phrase, phrase.target, word);
            return Err(match targets {
                Targets::AtLeast(level) if !phrase.unsupported => {
                    Refusal::NeedsTarget { feature, level }
                }
                _ => Refusal::NotOnTarget { feature, target },
            });
        }
        self.check_removed(version, target)
    }

    fn check_removed(&self, version: PtxVersion, target: Target) -> Result<(), Refusal<'_>> {
        let Some(until) = self.form.until else {
            return Ok(());
        };
        let level = match until.targets {
            Targets::AtLeast(level) => level,
            Targets::Named(_) => 0,
        };
        if version <= until.ptx || target.level < level {
            return Ok(());
        }
        Err(Refusal::Removed(self.form.removed))
    }

    fn named(&self, phrase: &'static Phrase, subject: Subject, word: &'static str) -> Named<'_> {
        Named {
            phrase,
            subject,
            word,
            found: self,
        }
    }
}

/// In place of a modifier: that the architecture is an old one.
const OLD_ARCHITECTURE: &str = "before";

/// Whether fewer architectures have an instruction.
fn is_narrower(targets: Targets, other: Targets) -> bool {
    match (targets, other) {
        (Targets::AtLeast(level), Targets::AtLeast(other)) => level > other,
        (Targets::Named(_), Targets::AtLeast(_)) => true,
        _ => false,
    }
}

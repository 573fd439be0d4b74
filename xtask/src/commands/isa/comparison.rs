//! Comparing what the tables say of instructions with what ptxas says.

use std::collections::{BTreeMap, BTreeSet};
use warpsmith_isa::Refusal;
use warpsmith_isa::phrases::PHRASES;

use super::cells::Cell;
use super::known::{KNOWN, Known};
use super::verdicts::Verdicts;

/// Where the tables and ptxas agree, and where not.
pub struct Comparison {
    /// The least share of the refusals that must have ptxas's very words, in percent.
    least_same_words: f64,
    /// The differences that are known.
    known: &'static [Known],
    /// Of each, how many verdicts differ as it says.
    found: Vec<usize>,
    /// Whether all of the names of needs and all known differences must be met.
    complete: bool,
    agree: usize,
    /// Instructions whose verdicts differ: how often, and an example.
    differ: BTreeMap<String, (usize, String)>,
    refused: usize,
    /// Instructions that are refused in other words than ptxas's: how often, and an example.
    other_words: BTreeMap<String, (usize, String)>,
    /// The rows of the table of names that were asked for.
    named: BTreeSet<usize>,
}

impl Comparison {
    /// A comparison of instructions that exist.
    pub fn of_instructions() -> Comparison {
        Comparison::new(99.5, &[])
    }

    /// A comparison of instructions with a fault.
    pub fn of_faults(all: bool) -> Comparison {
        Comparison {
            complete: all,
            ..Comparison::new(93.0, KNOWN)
        }
    }

    fn new(least_same_words: f64, known: &'static [Known]) -> Comparison {
        Comparison {
            least_same_words,
            known,
            found: vec![0; known.len()],
            complete: true,
            agree: 0,
            differ: BTreeMap::new(),
            refused: 0,
            other_words: BTreeMap::new(),
            named: BTreeSet::new(),
        }
    }

    /// Compares the verdicts on these statements with those of the tables.
    ///
    /// The tables give one reason for a refusal, of several needs the one that asks for the most. ptxas says a sentence for
    /// each: the words are the same if ours is one of its sentences for the instruction.
    pub fn add<'t>(
        &mut self,
        statements: &[&str],
        verdicts: &Verdicts,
        refusal: impl Fn(usize, Cell) -> Option<Refusal<'t>>,
    ) {
        for (cell, refusals) in &verdicts.cells {
            let (version, target) = cell;
            for (index, statement) in statements.iter().enumerate() {
                let ours = refusal(index, *cell);
                let theirs = refusals.get(&index);
                if ours.is_none() != theirs.is_none() {
                    let is_it = |known: &Known| known.is(statement, theirs.is_some());
                    if let Some(number) = self.known.iter().position(is_it) {
                        self.found[number] += 1;
                        continue;
                    }
                    let said = match (theirs, &ours) {
                        (Some(sentences), _) => format!(
                            "ptxas refuses it for {target}, version {version}: {}",
                            sentences.join("; ")
                        ),
                        (None, Some(ours)) => {
                            format!(
                                "ptxas takes it for {target}, version {version}; refused: {ours}"
                            )
                        }
                        (None, None) => String::new(),
                    };
                    note(&mut self.differ, statement, said);
                    continue;
                }
                self.agree += 1;
                let (Some(ours), Some(theirs)) = (ours, theirs) else {
                    continue;
                };
                self.refused += 1;
                self.mark(&ours);
                let ours = ours.to_string();
                if !theirs.contains(&ours) {
                    let said = format!(
                        "`{ours}`; ptxas for {target}, version {version}: `{}`",
                        theirs.join("; ")
                    );
                    note(&mut self.other_words, statement, said);
                }
            }
        }
    }

    fn mark(&mut self, refusal: &Refusal<'_>) {
        if let Refusal::NeedsVersion { feature, .. }
        | Refusal::NeedsTarget { feature, .. }
        | Refusal::NotOnTarget { feature, .. } = refusal
        {
            let row = PHRASES
                .iter()
                .position(|phrase| core::ptr::eq(phrase, feature.phrase()));
            self.named.extend(row);
        }
    }

    /// How many verdicts were compared.
    pub fn verdicts(&self) -> usize {
        self.agree + self.differ.values().map(|(count, _)| count).sum::<usize>()
    }

    /// Prints what differs; whether nothing does, and the words are ptxas's often enough.
    pub fn report(&self) -> bool {
        for (statement, (count, said)) in &self.differ {
            println!("{statement}\n    {said} ({count} verdicts differ)");
        }
        // Of faults there are many.
        let shown = if self.known.is_empty() {
            usize::MAX
        } else {
            20
        };
        for (statement, (count, said)) in self.other_words.iter().take(shown) {
            println!("{statement}\n    in other words {count} times: {said}");
        }
        let unused = (0..PHRASES.len()).filter(|row| !self.named.contains(row));
        let mut unused: Vec<String> = match self.known {
            [] => unused
                .map(|row| format!("no refusal is named by {:?}", PHRASES[row]))
                .collect(),
            _ => Vec::new(),
        };
        for (known, &found) in self.known.iter().zip(&self.found) {
            match found {
                0 if self.complete => {
                    unused.push(format!("no verdict differs as it is known: {known}"))
                }
                0 => {}
                _ => println!("{found} verdicts differ as it is known: {known}"),
            }
        }
        for line in &unused {
            println!("{line}");
        }
        println!(
            "{} of {} verdicts agree; {} instructions differ",
            self.agree,
            self.verdicts(),
            self.differ.len()
        );
        let mut alike = true;
        if self.refused > 0 {
            let other: usize = self.other_words.values().map(|(count, _)| count).sum();
            let same = self.refused - other;
            let share = same as f64 * 100.0 / self.refused as f64;
            alike = share >= self.least_same_words;
            println!(
                "{same} of {} refusals have ptxas's very words: {share:.2} %, at least {} % are required; \
                 {} instructions have others",
                self.refused,
                self.least_same_words,
                self.other_words.len()
            );
        }
        self.differ.is_empty() && alike && unused.is_empty()
    }
}

fn note(list: &mut BTreeMap<String, (usize, String)>, statement: &str, said: String) {
    list.entry(statement.to_owned()).or_insert((0, said)).0 += 1;
}

//! Comparing what the tables say of instructions with what ptxas says.

use std::collections::{BTreeMap, BTreeSet};
use warpsmith_isa::Refusal;
use warpsmith_isa::phrases::PHRASES;

use super::cells::Cell;
use super::verdicts::Verdicts;

/// The least share of the refusals that must have ptxas's very words, in percent.
const LEAST_SAME_WORDS: f64 = 99.5;

/// Where the tables and ptxas agree, and where not.
#[derive(Default)]
pub struct Comparison {
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
        for (statement, (count, said)) in &self.other_words {
            println!("{statement}\n    in other words {count} times: {said}");
        }
        let unused = (0..PHRASES.len()).filter(|row| !self.named.contains(row));
        let unused: Vec<usize> = if self.refused == 0 {
            Vec::new()
        } else {
            unused.collect()
        };
        for &row in &unused {
            println!("no refusal is named by {:?}", PHRASES[row]);
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
            alike = share >= LEAST_SAME_WORDS;
            println!(
                "{same} of {} refusals have ptxas's very words: {share:.2} %, at least {LEAST_SAME_WORDS} % are required; \
                 {} instructions have others",
                self.refused,
                self.other_words.len()
            );
        }
        self.differ.is_empty() && alike && unused.is_empty()
    }
}

fn note(list: &mut BTreeMap<String, (usize, String)>, statement: &str, said: String) {
    list.entry(statement.to_owned()).or_insert((0, said)).0 += 1;
}

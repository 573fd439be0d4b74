//! Comparing what the tables and the front end say with what ptxas says.

use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use warpsmith_builder::ptxas::Ptxas;
use warpsmith_isa::phrases::PHRASES;
use warpsmith_isa::sample::Sample;
use warpsmith_isa::{Refusal, matches};

use super::cells::Cell;
use super::declarations::{self, Declaration};
use super::known::Known;
use super::verdicts::Verdicts;
use super::{front_end, judge, parallel};

/// Where we and ptxas agree, and where not.
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
    /// Refusals in other words than ptxas's, by what both say of whichever names and numbers: how often, and an example.
    other_words: BTreeMap<String, (usize, String)>,
    /// The rows of the table of names that were asked for.
    named: BTreeSet<usize>,
}

impl Comparison {
    /// A comparison of instructions that exist.
    pub fn of_instructions() -> Comparison {
        Comparison::new(99.8, &[])
    }

    /// A comparison of instructions with a fault, of all of them or of a part.
    pub fn of_faults(least_same_words: f64, known: &'static [Known], all: bool) -> Comparison {
        Comparison {
            complete: all,
            ..Comparison::new(least_same_words, known)
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

    /// Compares ptxas's verdicts on examples of forms with those of the tables.
    pub fn add_samples(&mut self, samples: &[Sample], verdicts: &Verdicts) {
        for (cell, refusals) in &verdicts.cells {
            for (index, sample) in samples.iter().enumerate() {
                let ours = sample.refusal(cell.0, cell.1);
                let theirs = refusals.get(&index).map(Vec::as_slice);
                if let (Some(ours), Some(_)) = (&ours, theirs) {
                    self.mark(ours);
                }
                let ours = ours.map(|ours| ours.to_string());
                self.add(&sample.text, *cell, ours.as_deref(), theirs);
            }
        }
    }

    /// Compares ptxas's verdicts on statements with those of the front end.
    pub fn add_statements(&mut self, ptxas: &Ptxas, statements: &[&str], cell: Cell) -> Result<()> {
        let verdicts = Verdicts::ask(ptxas, statements, &[cell])?;
        let ours = front_end::refusals(cell, statements);
        for (_, refusals) in &verdicts.cells {
            // What we alone refuse ptxas is asked about once more, by itself.
            let alone = parallel::map(statements.len(), |index| {
                if ours[index].is_none() || refusals.contains_key(&index) {
                    return Ok(Vec::new());
                }
                judge::refusal_alone(ptxas, cell.0, cell.1, statements[index])
            });
            for (index, (statement, alone)) in statements.iter().zip(alone).enumerate() {
                let alone = Some(alone?).filter(|said| !said.is_empty());
                let theirs = refusals.get(&index).or(alone.as_ref());
                self.add(
                    statement,
                    cell,
                    ours[index].as_deref(),
                    theirs.map(Vec::as_slice),
                );
            }
        }
        Ok(())
    }

    /// Compares ptxas's verdicts on modules with those of the front end.
    pub fn add_declarations(&mut self, ptxas: &Ptxas, declarations: &[Declaration]) -> Result<()> {
        let cell = declarations::cell();
        let verdicts = parallel::map(declarations.len(), |number| {
            let text = declarations[number].text();
            let theirs = judge::module_refusal(ptxas, cell.1, &text);
            (front_end::refusal(&text), theirs)
        });
        for (declaration, (ours, theirs)) in declarations.iter().zip(verdicts) {
            let theirs = theirs?;
            let theirs = (!theirs.is_empty()).then_some(theirs.as_slice());
            self.add(&declaration.to_string(), cell, ours.as_deref(), theirs);
        }
        Ok(())
    }

    /// Compares two verdicts: why we refuse something, and what ptxas says of it.
    ///
    /// We give one reason for a refusal, of several needs the one that asks for the most. ptxas says a sentence for each: the words
    /// are the same if ours are one of its sentences.
    pub fn add(
        &mut self,
        what: &str,
        (version, target): Cell,
        ours: Option<&str>,
        theirs: Option<&[String]>,
    ) {
        if ours.is_none() != theirs.is_none() {
            let said = theirs.map_or(ours.unwrap_or_default().to_owned(), |theirs| {
                theirs.join("; ")
            });
            let is_it = |known: &Known| known.is(what, &said, theirs.is_some());
            if let Some(number) = self.known.iter().position(is_it) {
                self.found[number] += 1;
                return;
            }
            let said = match theirs {
                Some(_) => format!("ptxas refuses it for {target}, version {version}: {said}"),
                None => {
                    format!("ptxas takes it for {target}, version {version}; refused: {said}")
                }
            };
            note(&mut self.differ, what, said);
            return;
        }
        self.agree += 1;
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            return;
        };
        if theirs == [judge::CRASHED] {
            return;
        }
        self.refused += 1;
        if !theirs
            .iter()
            .any(|sentence| front_end::says(ours, sentence))
        {
            let theirs = theirs.join("; ");
            let kind = format!(
                "{}\n    ptxas: {}",
                without_names(ours),
                without_names(&theirs)
            );
            let example =
                format!("{what} for {target}, version {version}: `{ours}`; ptxas: `{theirs}`");
            note(&mut self.other_words, &kind, example);
        }
    }

    /// Notes which needs of these statements the tables have names for.
    pub fn mark_all(&mut self, statements: &[&str], (version, target): Cell) {
        for statement in statements {
            let name = statement.split([' ', ';']).next().unwrap_or_default();
            let mut parts = name.split('.');
            let opcode = parts.next().unwrap_or_default();
            let modifiers: Vec<&str> = parts.collect();
            let Ok(forms) = matches(opcode, &modifiers) else {
                continue;
            };
            for form in forms {
                if let Err(refusal) = form.check_target(version, target) {
                    self.mark(&refusal);
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
        let mut other_words: Vec<_> = self.other_words.iter().collect();
        other_words.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (kind, (count, example)) in other_words.into_iter().take(SHOWN) {
            println!("in other words {count} times: {kind}\n    such as {example}");
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
                 the others are of {} kinds",
                self.refused,
                self.least_same_words,
                self.other_words.len()
            );
        }
        self.differ.is_empty() && alike && unused.is_empty()
    }
}

/// The most kinds of refusals in other words that are shown.
const SHOWN: usize = 40;

/// A sentence, with `_` for what it names: what stands between quotes, and what is said beyond ptxas's words.
fn without_names(said: &str) -> String {
    let mut kind = String::new();
    for (number, part) in said.split('\'').enumerate() {
        kind.push_str(if number % 2 == 0 { part } else { "'_'" });
    }
    match kind.split_once(": ") {
        Some((words, more)) if more.contains('`') => format!("{words}: .."),
        _ => kind,
    }
}

fn note(list: &mut BTreeMap<String, (usize, String)>, statement: &str, said: String) {
    list.entry(statement.to_owned()).or_insert((0, said)).0 += 1;
}

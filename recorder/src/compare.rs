//! Where a device answers something else than what was recorded.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::bounds::tolerance;
use crate::deviations::deviation;
use crate::device::Device;
use crate::program::{Family, Program, value};
use crate::recording::{Entry, Recording};

/// What came of comparing a family.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Programs that answered what was recorded.
    pub same: usize,
    /// Values that they wrote.
    pub values: usize,
    /// Programs that the device refuses, though they were recorded.
    pub refused: Vec<String>,
    /// Programs that are not those that were recorded under their names.
    pub stale: Vec<String>,
    /// Programs that were not recorded yet.
    pub unrecorded: Vec<String>,
    /// What differs where the device that was recorded is known to deviate from the manual ([`deviation`]), a text for each program.
    pub deviating: Vec<String>,
    /// What differs elsewhere, a text for each program.
    pub wrong: Vec<String>,
}

/// Runs the programs of a family and compares them with a recording; those whose name contains `wanted`.
pub fn compare(device: &Device, family: &Family, recording: &Recording, wanted: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let entries: HashMap<&str, &Entry> = recording
        .entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry))
        .collect();
    let mut chosen: Vec<(&Program, &[u8])> = Vec::new();
    for program in family
        .programs
        .iter()
        .filter(|program| program.name.contains(wanted))
    {
        match entries.get(program.name.as_str()) {
            Some(entry) if entry.fingerprint == program.fingerprint() => {
                if let Ok(bytes) = &entry.answer {
                    chosen.push((program, bytes));
                }
            }
            Some(_) => outcome.stale.push(program.name.clone()),
            None => outcome.unrecorded.push(program.name.clone()),
        }
    }
    let programs: Vec<&Program> = chosen.iter().map(|(program, _)| *program).collect();
    let answers = device.run(&programs, |_| {});
    for ((program, expected), answer) in chosen.into_iter().zip(answers) {
        match answer {
            Err(why) => outcome.refused.push(format!("{}: {why}", program.name)),
            Ok(found) => match difference(program, expected, &found) {
                None => {
                    outcome.same += 1;
                    outcome.values += program
                        .columns
                        .iter()
                        .map(|column| column.count)
                        .sum::<usize>();
                }
                Some(text) => match deviation(&program.name) {
                    Some(why) => outcome.deviating.push(format!("{text}\n    {why}")),
                    None => outcome.wrong.push(text),
                },
            },
        }
    }
    outcome
}

/// How many differences of a program are shown.
const SHOWN: usize = 4;

/// How the answers differ, with the inputs where a program has an array for each operand.
fn difference(program: &Program, expected: &[u8], found: &[u8]) -> Option<String> {
    let allowed = tolerance(&program.name);
    let (mut start, mut count, mut text) = (0, 0, String::new());
    for (number, column) in program.columns.iter().enumerate() {
        for case in 0..column.count {
            let at = start + case * column.width;
            let (right, wrong) = (
                value(expected, at, column.width),
                value(found, at, column.width),
            );
            if right == wrong
                || allowed.is_some_and(|allowed| allowed.covers(program, case, right, wrong))
            {
                continue;
            }
            count += 1;
            if count <= SHOWN {
                let digits = 2 * column.width + 2;
                let inputs: Vec<String> = program
                    .inputs(case)
                    .iter()
                    .map(|input| format!("{input:#x}"))
                    .collect();
                let _ = write!(
                    text,
                    "\n    result {number}, input {case} ({}): recorded {right:#0digits$x}, found {wrong:#0digits$x}",
                    inputs.join(", ")
                );
                text = text.replace("(): ", ": ");
            }
        }
        start += column.width * column.count;
    }
    (count > 0).then(|| format!("{}: {count} values differ{text}", program.name))
}

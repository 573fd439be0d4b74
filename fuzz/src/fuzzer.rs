//! Runs rounds until the time is up, keeps what they find, and tries cases again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::folders;
use crate::isolated::{self, Ending};
use crate::kind::Kind;
use crate::reduction;
use crate::report::Line;

/// So many cases of a run are kept at most: one defect shows in many.
const MOST_KEPT: usize = 5;

/// What a run, or a replay, did.
#[derive(Default)]
pub struct Outcome {
    /// Rounds.
    pub rounds: u64,
    /// How many of what was tried.
    pub counts: BTreeMap<String, u64>,
    /// What failed: the case, if one can be named, and why.
    pub failures: Vec<Failure>,
}

/// A case that failed.
pub struct Failure {
    /// Its file.
    pub file: Option<PathBuf>,
    /// Why.
    pub why: String,
}

/// Runs rounds of a kind with the seeds from `seed` on for so long; `said` is told of each failure.
pub fn run(
    kind: &Kind,
    seed: u64,
    time: Duration,
    mut said: impl FnMut(&Failure),
) -> Result<Outcome> {
    let (start, mut outcome, mut kept) = (Instant::now(), Outcome::default(), 0);
    let mut longest = Duration::ZERO;
    // A round that would not end in time is not begun; the first one always is.
    while outcome.rounds == 0 || start.elapsed() + longest < time {
        let began = Instant::now();
        let mut command = Command::new(std::env::current_exe().context("where am I?")?);
        let round_seed = seed.wrapping_add(outcome.rounds);
        command.args(["round", kind.name, &round_seed.to_string()]);
        for failure in child(kind, &mut command, &mut outcome.counts)? {
            let why = format!("seed {round_seed}: {}", failure.why);
            let file = match &failure.file {
                Some(file) if kept < MOST_KEPT => {
                    kept += 1;
                    if kind.reducible {
                        reduction::reduce(file, |case| fails(kind, case))?;
                    }
                    Some(keep(kind, file)?)
                }
                _ => None,
            };
            let failure = Failure { file, why };
            said(&failure);
            outcome.failures.push(failure);
        }
        outcome.rounds += 1;
        longest = longest.max(began.elapsed());
    }
    Ok(outcome)
}

/// Whether a case fails. One that cannot be tried, for example since it is no program, does not.
fn fails(kind: &Kind, case: &Path) -> Result<bool> {
    let outcome = replay(kind, &[case.to_path_buf()])?;
    Ok(outcome
        .failures
        .iter()
        .any(|failure| failure.file.is_some()))
}

/// Tries cases again, all in one process.
pub fn replay(kind: &Kind, files: &[PathBuf]) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    if files.is_empty() {
        return Ok(outcome);
    }
    let mut command = Command::new(std::env::current_exe().context("where am I?")?);
    command.args(["cases", kind.name]).args(files);
    outcome.failures = child(kind, &mut command, &mut outcome.counts)?;
    Ok(outcome)
}

/// Runs a round, or cases, in a process of its own.
fn child(
    kind: &Kind,
    command: &mut Command,
    counts: &mut BTreeMap<String, u64>,
) -> Result<Vec<Failure>> {
    let (mut trying, mut failures) = (None, Vec::new());
    command.envs(kind.environment.iter().copied());
    let ended = isolated::run(command, kind.limits, |line| match Line::parse(line) {
        Some(Line::Trying(file)) => trying = Some(file.to_path_buf()),
        Some(Line::Found(file, why)) => failures.push(Failure {
            file: Some(file.to_path_buf()),
            why: why.into(),
        }),
        Some(Line::Count(unit, count)) => *counts.entry(unit.into()).or_default() += count,
        None => {}
    })?;
    if let Some(why) = ended.ending.failure() {
        // One that ends by itself says what is wrong, which is not the case that it tried last.
        let by_itself = matches!(&ended.ending, Ending::Exited(status) if status.code() == Some(1));
        failures.push(Failure {
            file: if by_itself { None } else { trying },
            why: format!("the process {why}\n{}", ended.stderr.trim_end()),
        });
    }
    Ok(failures)
}

/// Copies a case to the folder of the kind's cases.
fn keep(kind: &Kind, file: &Path) -> Result<PathBuf> {
    let folder = folders::cases(kind.name);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let name = file.file_name().context("a case has a name")?;
    let kept = folder.join(name);
    fs::copy(file, &kept).with_context(|| format!("cannot keep {}", file.display()))?;
    Ok(kept)
}

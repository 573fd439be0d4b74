//! What rounds and replays of programs have in common: projects are built, those that cannot be are tried alone, cases are tried again.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use warpsmith_host::prelude::*;

use super::case::Case;
use super::project::{BuildFailure, Built, Settings, Template, build};
use crate::report::Report;

/// How a case ended that failed.
pub struct Failure {
    /// What is wrong.
    pub why: String,
    /// Whether it cost the context, so that nothing can be tried any more.
    pub lost: bool,
}

/// Builds a round's programs; what cannot be built for the device is told, each program alone, in the text that `case` gives for it, and nothing is
/// left to try.
pub fn build_round(
    template: &Template,
    programs: &[String],
    settings: Settings,
    report: &mut Report,
    case: impl Fn(usize, &str) -> String,
) -> Result<Option<Built>> {
    match build(template, "round", programs, settings) {
        Ok(built) => Ok(Some(built)),
        Err(BuildFailure::Device(_)) => {
            for (program, why) in alone(template, programs, settings)? {
                let text = case(program, &why);
                let file = report.write(&program.to_string(), "rs", text.as_bytes())?;
                report.found(&file, &why);
            }
            Ok(None)
        }
        Err(failure) => Err(anyhow::Error::from(failure).context("the generator wrote no program")),
    }
}

/// Tries cases again: those with the same settings share a project, and where that cannot be built, each is built alone. `attempt` runs one of
/// the project's programs on its case's inputs.
pub fn replay(
    template: &Template,
    files: &[PathBuf],
    report: &mut Report,
    attempt: impl Fn(&Gpu, &Module, &Built, usize, &Case) -> Result<Option<Failure>>,
) -> Result<()> {
    for group in groups(files)? {
        let programs = group.programs();
        let built = match build(template, "cases", &programs, group.settings) {
            Ok(built) => built,
            Err(BuildFailure::Device(_)) => {
                for (program, why) in alone(template, &programs, group.settings)? {
                    report.found(group.file(program), &why);
                }
                continue;
            }
            Err(failure) => return Err(failure.into()),
        };
        let gpu = Gpu::open_default()?;
        let module = gpu.load(&built.ptx)?;
        for (program, (file, case)) in group.cases.iter().enumerate() {
            report.trying(file);
            if let Some(failure) = attempt(&gpu, &module, &built, program, case)? {
                report.found(file, &failure.why);
                if failure.lost {
                    return Ok(());
                }
            }
        }
        report.count("cases", programs.len() as u64);
    }
    Ok(())
}

/// Cases that are compiled alike.
struct Group {
    settings: Settings,
    /// Each with its file.
    cases: Vec<(PathBuf, Case)>,
}

impl Group {
    fn programs(&self) -> Vec<String> {
        let sources = self.cases.iter().map(|(_, case)| case.source.clone());
        sources.collect()
    }

    fn file(&self, program: usize) -> &Path {
        &self.cases[program].0
    }
}

/// Reads cases and groups them by their settings.
fn groups(files: &[PathBuf]) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for file in files {
        let case = Case::read(file)?;
        let entry = (file.clone(), case);
        let settings = entry.1.settings;
        match groups.iter_mut().find(|group| group.settings == settings) {
            Some(group) => group.cases.push(entry),
            None => groups.push(Group {
                settings,
                cases: vec![entry],
            }),
        }
    }
    Ok(groups)
}

/// Those of the programs whose device build fails, each with the reason.
fn alone(
    template: &Template,
    programs: &[String],
    settings: Settings,
) -> Result<Vec<(usize, String)>> {
    let mut failing = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        match build(template, "alone", std::slice::from_ref(program), settings) {
            Ok(_) => {}
            Err(BuildFailure::Device(why)) => failing.push((number, why)),
            Err(failure) => return Err(failure.into()),
        }
    }
    if failing.is_empty() {
        bail!("the device build fails for all programs together, and for none alone");
    }
    Ok(failing)
}

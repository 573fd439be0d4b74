//! Trying cases again: those with the same settings share a project, and where that cannot be built, each is built alone.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::case::Case;
use super::project::{BuildFailure, Settings, Template, build};

/// Cases that are compiled alike.
pub struct Group {
    /// How.
    pub settings: Settings,
    /// Each with its file.
    pub cases: Vec<(PathBuf, Case)>,
}

impl Group {
    /// The cases' programs.
    pub fn programs(&self) -> Vec<String> {
        let sources = self.cases.iter().map(|(_, case)| case.source.clone());
        sources.collect()
    }
}

/// Reads cases and groups them by their settings.
pub fn groups(files: &[PathBuf]) -> Result<Vec<Group>> {
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
pub fn alone(
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

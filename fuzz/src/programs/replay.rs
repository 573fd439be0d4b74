//! Trying cases again: those with the same settings share a project.

use std::path::PathBuf;

use anyhow::Result;

use super::case::Case;
use super::project::Settings;

/// Cases that are compiled alike.
pub struct Group {
    /// How.
    pub settings: Settings,
    /// Each with its file.
    pub cases: Vec<(PathBuf, Case)>,
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

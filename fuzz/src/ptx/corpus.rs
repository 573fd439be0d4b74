//! The PTX that is damaged: the simulator's file tests, and the kernels of the reference suite, each in a module of its own.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::folders;

/// Longer texts are left out: they take long, and damage seldom meets what matters.
const LONGEST: usize = 60_000;

/// All texts, in an order that does not change.
pub fn texts() -> Result<Vec<String>> {
    let simulator = folders::workspace().join("simulator");
    let mut texts = Vec::new();
    for folder in ["tests/files", "src/engine/isa"] {
        collect(&simulator.join(folder), &mut texts)?;
    }
    if texts.len() < 50 {
        bail!(
            "there are only {} file tests in {}",
            texts.len(),
            simulator.display()
        );
    }
    texts.extend(kernels(warpsmith_suite::PTX));
    texts.retain(|text| text.len() <= LONGEST);
    Ok(texts)
}

fn collect(folder: &Path, texts: &mut Vec<String>) -> Result<()> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, texts)?;
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            let text = std::fs::read_to_string(&path);
            texts.push(text.with_context(|| format!("cannot read {}", path.display()))?);
        }
    }
    Ok(())
}

/// A module for each kernel of a module that the builder made, without what is said of the source.
fn kernels(module: &str) -> Vec<String> {
    let (mut common, mut entries): (String, Vec<String>) = Default::default();
    let mut entry: Option<String> = None;
    for line in module.lines() {
        if line.starts_with(".section") {
            break;
        }
        if line.starts_with(".visible .entry") {
            entry = Some(String::new());
        }
        let place = match &mut entry {
            Some(entry) => entry,
            None => &mut common,
        };
        if !line.trim_start().starts_with(".loc") && !line.trim_start().starts_with(".file") {
            *place += line;
            *place += "\n";
        }
        if line == "}" {
            entries.extend(entry.take());
        }
    }
    entries
        .iter()
        .map(|entry| format!("{common}\n{entry}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suites_kernels_are_modules_of_their_own() {
        let kernels = kernels(warpsmith_suite::PTX);
        assert!(kernels.len() > 10);
        for kernel in &kernels {
            assert_eq!(kernel.matches("\n.visible .entry").count(), 1, "{kernel}");
            assert!(kernel.contains(".version"), "{kernel}");
        }
    }
}

//! Which definition counts of each name that modules see of each other.

use std::collections::{HashMap, HashSet};

use super::parts::{Declaration, Parts, Unit};
use crate::ptx::ast::Linkage;

/// The definition of a name that other modules see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    pub(super) unit: usize,
    pub(super) statement: usize,
    pub(super) linkage: Linkage,
    /// Its statement declares nothing else.
    is_alone: bool,
}

/// The definitions of the modules that were added so far.
#[derive(Debug, Default)]
pub struct Definitions {
    chosen: HashMap<String, Definition>,
    /// The statements of those that do not count, with the numbers of their units.
    superseded: HashSet<(usize, usize)>,
    /// The names of the units.
    units: Vec<String>,
    /// What was wrong: nothing can be linked any more.
    refused: Option<String>,
}

impl Definitions {
    /// Adds those of a module.
    ///
    /// # Errors
    ///
    /// What the driver's linker says of a name that is defined twice, in this module or in one before it.
    pub fn add(&mut self, unit: &Unit) -> Result<(), String> {
        self.add_parts(&Parts::new(unit)?)
    }

    /// As [`add`](Self::add), of a module that was taken apart.
    pub(super) fn add_parts(&mut self, part: &Parts<'_>) -> Result<(), String> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        self.units.push(part.unit.name.clone());
        let defined = part
            .declarations()
            .filter(|(_, declared)| declared.defines && declared.linkage != Linkage::Private);
        for (statement, declared) in defined {
            let is_alone = part.statements[statement].declares.len() == 1;
            self.define(statement, declared, is_alone)
                .inspect_err(|error| self.refused = Some(error.clone()))?;
        }
        Ok(())
    }

    /// A statement of the last unit defines a name.
    fn define(
        &mut self,
        statement: usize,
        declared: &Declaration<'_>,
        is_alone: bool,
    ) -> Result<(), String> {
        let name = declared.name;
        let new = Definition {
            unit: self.units.len() - 1,
            statement,
            linkage: declared.linkage,
            is_alone,
        };
        let Some(old) = self.chosen.insert(name.to_owned(), new) else {
            return Ok(());
        };
        let strong = |definition: Definition| definition.linkage == Linkage::Visible;
        let lost = match (strong(old), strong(new)) {
            (true, true) => {
                return Err(format!(
                    "Multiple definition of '{name}' in '{}', first defined in '{}'",
                    self.units[new.unit], self.units[old.unit]
                ));
            }
            (false, true) => old,
            _ => {
                self.chosen.insert(name.to_owned(), old);
                new
            }
        };
        if !lost.is_alone {
            return Err(format!(
                "'{name}' is defined again in '{}', in one declaration with other variables: declare each by itself",
                self.units[lost.unit]
            ));
        }
        self.superseded.insert((lost.unit, lost.statement));
        Ok(())
    }

    /// The definition of a name that counts.
    pub(super) fn get(&self, name: &str) -> Option<Definition> {
        self.chosen.get(name).copied()
    }

    /// The statements whose definitions do not count, with the numbers of their units.
    pub(super) fn superseded(&self) -> &HashSet<(usize, usize)> {
        &self.superseded
    }
}

//! What ptxas says of many instructions, for many versions and architectures.

use anyhow::Result;
use warpsmith_builder::ptxas::Ptxas;

use super::cells::Cell;
use super::judge::{self, Refusals};
use super::parallel;

/// The most instructions of one module: each that stops ptxas costs another run over its module.
const MODULE: usize = 4096;

/// Which instructions ptxas refuses, and why, for each version and architecture.
pub struct Verdicts {
    /// By version and architecture.
    pub cells: Vec<(Cell, Refusals)>,
}

impl Verdicts {
    /// Asks ptxas about each statement in each of the cells.
    pub fn ask(ptxas: &Ptxas, statements: &[&str], cells: &[Cell]) -> Result<Verdicts> {
        let modules: Vec<(usize, &[&str])> = statements
            .chunks(MODULE)
            .enumerate()
            .map(|(number, part)| (number * MODULE, part))
            .collect();
        let results = parallel::map(cells.len() * modules.len(), |index| {
            let (cell, module) = (index / modules.len(), index % modules.len());
            let ((version, target), (first, part)) = (cells[cell], modules[module]);
            (cell, first, judge::refusals(ptxas, version, target, part))
        });
        let mut all: Vec<(Cell, Refusals)> = cells
            .iter()
            .map(|&cell| (cell, Refusals::default()))
            .collect();
        for (cell, first, refusals) in results {
            let found = refusals?.into_iter();
            all[cell]
                .1
                .extend(found.map(|(index, said)| (first + index, said)));
        }
        Ok(Verdicts { cells: all })
    }

    /// Whether ptxas takes this instruction there.
    pub fn accepts(&self, index: usize, cell: Cell) -> bool {
        self.cells
            .iter()
            .any(|(other, refusals)| *other == cell && !refusals.contains_key(&index))
    }
}

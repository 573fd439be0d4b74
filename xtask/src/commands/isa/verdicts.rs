//! What ptxas says of many instructions, for many versions and architectures.

use anyhow::Result;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpsmith_builder::ptxas::Ptxas;

use super::cells::Cell;
use super::judge::{self, Refusals};

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
        let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let cell = index / modules.len().max(1);
                let Some(&(version, target)) = cells.get(cell) else {
                    break;
                };
                let (first, part) = modules[index % modules.len()];
                let refusals = judge::refusals(ptxas, version, target, part);
                results
                    .lock()
                    .expect("no thread panics with the results")
                    .push((cell, first, refusals));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(work);
            }
        });
        let mut all: Vec<(Cell, Refusals)> = cells
            .iter()
            .map(|&cell| (cell, Refusals::default()))
            .collect();
        for (cell, first, refusals) in results
            .into_inner()
            .expect("no thread panics with the results")
        {
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

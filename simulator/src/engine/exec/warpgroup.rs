//! Warpgroups: four consecutive warps of a block that execute `wgmma` instructions together.
//!
//! All four execute the same sequence of these instructions with the same descriptors, each at its own pace. The sequence is kept
//! here from the instruction that the slowest warp executes next: a warp that executes another one than those before it is found
//! out at once. A product is one operation of the whole warpgroup: when the first warp finds it complete, all its reads of shared
//! memory are done, and none of them can come before all four warps have issued it. So the factors that come from shared memory are
//! read once, for all warps, and kept here until each of them has completed its part of the product.

use std::collections::VecDeque;

use super::bulk_copy::Watched;
use crate::check::PoisonOrigin;
use crate::numerics::matrix::factors::Factors;

/// Warps of a warpgroup.
pub(crate) const WARPS: u32 = 4;
/// How many instructions a warp may be ahead of the slowest: more than any program has in flight, so that a warp that never comes
/// does not let the others fill the memory.
const MOST_AHEAD: u64 = 1024;

/// What the warps of a warpgroup have to agree on in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptors {
    /// That of A; `None` if A is in registers.
    pub a: Option<u64>,
    pub b: u64,
}

/// The factors of a product that come from shared memory.
#[derive(Debug)]
pub(crate) struct SharedFactors {
    /// All 64 rows of A; `None` if A is in registers.
    pub a: Option<Factors>,
    pub b: Factors,
    /// What of them is uninitialised: of A, of B.
    pub uninitialised: [Vec<UninitialisedElement>; 2],
}

/// An uninitialised element of a factor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UninitialisedElement {
    /// Its row of A, or column of B.
    pub line: usize,
    /// Its place along k.
    pub k: usize,
    pub origin: PoisonOrigin,
}

/// An instruction of a warpgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Which instruction it is ([`Program::site`](crate::engine::program::Program::site)).
    pub site: u32,
    /// Of a product.
    pub descriptors: Option<Descriptors>,
}

/// How a warp's instruction differs from that of another warp of its warpgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// The other warp has executed another instruction.
    Instruction { other: u32, site: u32 },
    /// The other warp has given another descriptor for the factor of this name.
    Descriptor {
        other: u32,
        site: u32,
        factor: char,
        value: Option<u64>,
    },
    /// The other warp has exited without executing the instruction.
    Exited { other: u32 },
    /// The warp exits, and the other one has executed a further instruction.
    Exits { other: u32, site: u32 },
}

/// An instruction that some warps have executed.
#[derive(Debug)]
struct Entry {
    step: Step,
    /// The warp that has executed it first: its number in the warpgroup.
    first: u32,
    /// Of a product that some warps have completed.
    factors: Option<Box<SharedFactors>>,
    /// Of a product: the warps that have completed it, one bit for each.
    completed: u8,
    /// Of a product: what the checks were told of its reads.
    watched: Vec<Watched>,
}

impl Entry {
    /// Whether nobody needs it any more, once all warps have executed it.
    fn is_done(&self) -> bool {
        self.step.descriptors.is_none() || self.completed == (1 << WARPS) - 1
    }
}

/// The common state of four warps. Warps are numbered from 0 inside it.
#[derive(Debug, Default)]
pub(crate) struct Warpgroup {
    /// The instructions from number `start` on.
    entries: VecDeque<Entry>,
    start: u64,
    /// For each warp: the number of the instruction that it executes next.
    next: [u64; WARPS as usize],
    /// The warps that have exited.
    exited: [bool; WARPS as usize],
    /// The warps that have executed `wgmma.fence`.
    fenced: [bool; WARPS as usize],
}

impl Warpgroup {
    /// A warp executes an instruction: its number in the sequence.
    pub fn step(&mut self, warp: u32, step: Step) -> Result<u64, Mismatch> {
        let number = self.next[warp as usize];
        let index = (number - self.start) as usize;
        if let Some(entry) = self.entries.get(index) {
            let other = entry.first;
            if entry.step.site != step.site {
                let site = entry.step.site;
                return Err(Mismatch::Instruction { other, site });
            }
            if let (Some(theirs), Some(own)) = (entry.step.descriptors, step.descriptors) {
                for (factor, theirs, own) in
                    [('A', theirs.a, own.a), ('B', Some(theirs.b), Some(own.b))]
                {
                    if theirs != own {
                        return Err(Mismatch::Descriptor {
                            other,
                            site: entry.step.site,
                            factor,
                            value: theirs,
                        });
                    }
                }
            }
        } else {
            if let Some(other) = self.exited.iter().position(|&exited| exited) {
                let other = other as u32;
                return Err(Mismatch::Exited { other });
            }
            self.entries.push_back(Entry {
                step,
                first: warp,
                factors: None,
                completed: 0,
                watched: Vec::new(),
            });
        }
        self.next[warp as usize] = number + 1;
        self.forget();
        Ok(number)
    }

    /// The number of the next instruction of a warp.
    pub fn next(&self, warp: u32) -> u64 {
        self.next[warp as usize]
    }

    /// The instruction that the others have to come to before a warp may execute its next one, if it is too far ahead of them.
    pub fn is_ahead(&self, warp: u32) -> Option<u64> {
        let number = self.next[warp as usize].checked_sub(MOST_AHEAD)?;
        (!self.all_executed(number)).then_some(number)
    }

    /// Whether all warps have executed the instruction of this number.
    pub fn all_executed(&self, number: u64) -> bool {
        self.next.iter().all(|&next| next > number)
    }

    /// A warp executes `wgmma.fence`.
    pub fn fence(&mut self, warp: u32) {
        self.fenced[warp as usize] = true;
    }

    /// Whether a warp has executed `wgmma.fence`.
    pub fn is_fenced(&self, warp: u32) -> bool {
        self.fenced[warp as usize]
    }

    /// A warp exits.
    pub fn exit(&mut self, warp: u32) -> Result<(), Mismatch> {
        self.exited[warp as usize] = true;
        let index = (self.next[warp as usize] - self.start) as usize;
        match self.entries.get(index) {
            None => Ok(()),
            Some(entry) => Err(Mismatch::Exits {
                other: entry.first,
                site: entry.step.site,
            }),
        }
    }

    /// The checks were told of further reads of the product of this number.
    ///
    /// # Panics
    /// If all warps have completed the product.
    pub fn watch(&mut self, number: u64, watched: Vec<Watched>) {
        self.entry(number).watched.extend(watched);
    }

    /// What the checks were told of the reads of the product of this number.
    ///
    /// # Panics
    /// If all warps have completed the product.
    pub fn watched(&mut self, number: u64) -> Vec<Watched> {
        self.entry(number).watched.clone()
    }

    /// Whether this warp has been the first to execute the instruction of this number.
    ///
    /// # Panics
    /// If all warps are done with it.
    pub fn is_first(&mut self, warp: u32, number: u64) -> bool {
        self.entry(number).first == warp
    }

    /// The factors of the product of this number, if a warp has read them.
    ///
    /// # Panics
    /// If all warps have completed the product.
    pub fn take_factors(&mut self, number: u64) -> Option<Box<SharedFactors>> {
        self.entry(number).factors.take()
    }

    /// A warp has completed the product of this number, which has these factors.
    ///
    /// # Panics
    /// If all warps have completed it already.
    pub fn complete(&mut self, warp: u32, number: u64, factors: Box<SharedFactors>) {
        let entry = self.entry(number);
        entry.completed |= 1 << warp;
        entry.factors = (!entry.is_done()).then_some(factors);
        self.forget();
    }

    /// The instruction of this number.
    fn entry(&mut self, number: u64) -> &mut Entry {
        &mut self.entries[(number - self.start) as usize]
    }

    /// Drops the instructions at the start that all warps are done with.
    fn forget(&mut self) {
        while self.all_executed(self.start) && self.entries.front().is_some_and(Entry::is_done) {
            self.entries.pop_front();
            self.start += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::matrix::factors::Order;
    use crate::numerics::matrix::shape::Element;

    fn plain(site: u32) -> Step {
        Step {
            site,
            descriptors: None,
        }
    }

    fn product(site: u32, b: u64) -> Step {
        Step {
            site,
            descriptors: Some(Descriptors { a: Some(1), b }),
        }
    }

    fn factors() -> Box<SharedFactors> {
        let b = Factors::new(Element::S8, Order::ByDepth, 8, 32);
        let uninitialised = Default::default();
        Box::new(SharedFactors {
            a: None,
            b,
            uninitialised,
        })
    }

    #[test]
    fn warps_run_ahead_and_catch_up() {
        let mut group = Warpgroup::default();
        for site in 0..5 {
            assert_eq!(group.step(2, plain(site)), Ok(u64::from(site)));
        }
        assert!(!group.all_executed(0));
        for warp in [0, 1, 3] {
            for site in 0..5 {
                assert_eq!(group.step(warp, plain(site)), Ok(u64::from(site)));
            }
        }
        assert!(group.all_executed(4) && !group.all_executed(5));
        assert!(group.entries.is_empty());
        for warp in 0..WARPS {
            assert_eq!(group.exit(warp), Ok(()));
        }
    }

    #[test]
    fn another_instruction_or_descriptor_is_found_out() {
        let mut group = Warpgroup::default();
        group.step(1, plain(7)).unwrap();
        group.step(1, product(8, 5)).unwrap();
        let mismatch = Mismatch::Instruction { other: 1, site: 7 };
        assert_eq!(group.step(0, plain(8)), Err(mismatch));
        group.step(0, plain(7)).unwrap();
        let mismatch = Mismatch::Descriptor {
            other: 1,
            site: 8,
            factor: 'B',
            value: Some(5),
        };
        assert_eq!(group.step(0, product(8, 6)), Err(mismatch));
    }

    #[test]
    fn a_warp_that_exits_is_missed() {
        let mut group = Warpgroup::default();
        group.step(3, plain(7)).unwrap();
        assert_eq!(group.exit(0), Err(Mismatch::Exits { other: 3, site: 7 }));
        let mut group = Warpgroup::default();
        assert_eq!(group.exit(0), Ok(()));
        assert_eq!(group.step(1, plain(7)), Err(Mismatch::Exited { other: 0 }));
    }

    #[test]
    fn factors_are_kept_until_all_warps_have_completed_the_product() {
        let mut group = Warpgroup::default();
        for warp in 0..WARPS {
            group.step(warp, product(1, 2)).unwrap();
            group.step(warp, plain(3)).unwrap();
        }
        assert!(group.take_factors(0).is_none());
        group.complete(0, 0, factors());
        for warp in 1..WARPS {
            let factors = group.take_factors(0).expect("kept");
            group.complete(warp, 0, factors);
        }
        assert!(group.entries.is_empty());
    }

    #[test]
    fn no_warp_runs_too_far_ahead() {
        let mut group = Warpgroup::default();
        let mut executed = 0;
        while group.is_ahead(0).is_none() {
            group.step(0, plain(1)).unwrap();
            executed += 1;
        }
        assert_eq!(executed, MOST_AHEAD);
        for warp in 1..WARPS {
            assert_eq!(group.is_ahead(0), Some(0));
            group.step(warp, plain(1)).unwrap();
        }
        assert_eq!(group.is_ahead(0), None);
    }
}

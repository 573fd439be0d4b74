//! Which loads of a loop may be made before the rounds that they belong to.

use std::collections::HashMap;

use super::inside::{Inside, Stepping};
use crate::linker::loops::{Loop, is_inside};
use crate::linker::narrow::products;
use crate::linker::offsets::whole;
use crate::linker::unroll::steps::Changes;
use crate::llvm::{Block, Module, Value, opcode};

/// A load that every round makes that does not leave the loop before it.
pub(super) struct Load<'c> {
    pub load: Value<'c>,
    pub inside: Inside<'c>,
    /// After which tests it may be made; the loads of stage 0 are tested before all copies.
    stage: usize,
}

/// The loads that are made early, in their order.
pub(in crate::linker::unroll) struct Early<'c> {
    loads: Vec<Load<'c>>,
    pub(super) steppings: Vec<Stepping<'c>>,
    /// The phis of the first block of which each round's value is known before all rounds.
    pub(super) phis: Vec<Value<'c>>,
}

impl<'c> Early<'c> {
    /// The early loads of a loop; `None` if there are none.
    pub(in crate::linker::unroll) fn of(
        module: &Module<'c>,
        found: &Loop<'c>,
    ) -> Option<Early<'c>> {
        let mut search = Search {
            module,
            found,
            changes: Changes::of_loop(module, found),
            loads: Vec::new(),
            stages: HashMap::new(),
        };
        let blocks = found.blocks.iter();
        for block in blocks.filter(|block| is_always_passed(found, **block)) {
            for load in block.instructions() {
                search.add(load);
            }
        }
        let mut phis = found.header.phis();
        phis.retain(|phi| search.changes.of(*phi).is_some());
        let loads = search.loads;
        let steppings = steppings(module, &loads)?;
        (!loads.is_empty()).then_some(Early {
            loads,
            steppings,
            phis,
        })
    }

    /// Whether any load waits for another one.
    pub(in crate::linker::unroll) fn is_chain(&self) -> bool {
        let stages = || self.loads.iter().map(|load| load.stage);
        stages().min() != stages().max()
    }

    /// The loads of each stage.
    pub(super) fn stages(&self) -> impl Iterator<Item = Vec<&Load<'c>>> {
        let count = self.loads.iter().map(|load| load.stage + 1).max();
        (0..count.unwrap_or(0)).map(|stage| {
            let loads = self.loads.iter();
            loads.filter(|load| load.stage == stage).collect()
        })
    }
}

struct Search<'l, 'c> {
    module: &'l Module<'c>,
    found: &'l Loop<'c>,
    changes: Changes<'l, 'c>,
    loads: Vec<Load<'c>>,
    /// The stage behind whose loads each value is known; `None` if it is known in its round only.
    stages: HashMap<Value<'c>, Option<usize>>,
}

impl<'c> Search<'_, 'c> {
    fn add(&mut self, load: Value<'c>) {
        if load.opcode() != opcode::LOAD || load.is_volatile() || load.is_atomic() {
            return;
        }
        let size = self.module.size_of(load.ty());
        let Some((address, known)) = load
            .operand(0)
            .and_then(|address| Some((address, self.stage(address)?)))
        else {
            return;
        };
        let inside = Inside::of(self.module, self.found, &mut self.changes, address, size);
        if let Some(inside) = inside {
            let stage = match inside {
                Inside::Steps { .. } => 0,
                Inside::Element { .. } => known + 1,
            };
            self.stages.insert(load, Some(stage));
            self.loads.push(Load {
                load,
                inside,
                stage,
            });
        }
    }

    fn stage(&mut self, value: Value<'c>) -> Option<usize> {
        if !is_inside(self.found, value) {
            return Some(0);
        }
        if let Some(known) = self.stages.get(&value) {
            return *known;
        }
        let stage = match value.opcode() {
            // Nothing but arithmetic of such phis leads to its next value.
            opcode::PHI => self.changes.of(value).map(|_| 0),
            _ if may_be_early(value) => (0..value.operand_count())
                .map(|n| self.stage(value.operand(n)?))
                .try_fold(0, |most, stage| Some(stage?.max(most))),
            _ => None,
        };
        self.stages.insert(value, stage);
        stage
    }
}

/// Whether an operation may be executed where its result is not used, and reads no memory.
fn may_be_early(value: Value<'_>) -> bool {
    const OTHERS: [i32; 6] = [
        opcode::ICMP,
        opcode::SELECT,
        opcode::FREEZE,
        opcode::PTR_TO_INT,
        opcode::ADDRESS_SPACE_CAST,
        opcode::GET_ELEMENT_POINTER,
    ];
    value.is_plain_arithmetic()
        || value.is_resizing()
        || OTHERS.contains(&value.opcode())
        || products::is_wide(value)
}

/// The loads of stage 0 by the address that they are a constant away from.
fn steppings<'c>(module: &Module<'c>, loads: &[Load<'c>]) -> Option<Vec<Stepping<'c>>> {
    let mut all: Vec<(Value<'c>, u64, Stepping<'c>)> = Vec::new();
    for load in loads {
        let Inside::Steps { slice, step } = load.inside else {
            continue;
        };
        let address = load.load.operand(0)?;
        let (whole, start) = whole(module, address);
        let bytes = module.size_of(load.load.ty());
        let same = |(other, _, known): &&mut (Value<'c>, u64, Stepping<'c>)| {
            *other == whole && known.is_of(slice, step)
        };
        let Some((_, first, known)) = all.iter_mut().find(same) else {
            all.push((whole, start, Stepping::of(slice, step, address, bytes)?));
            continue;
        };
        let end = (*first + known.bytes).max(start + bytes);
        let (start, address) = match start < *first {
            true => (start, address),
            false => (*first, known.address),
        };
        *known = Stepping::of(slice, step, address, end - start)?;
        *first = start;
    }
    Some(all.into_iter().map(|(_, _, stepping)| stepping).collect())
}

/// Whether each round that does not leave the loop goes through a block.
fn is_always_passed<'c>(found: &Loop<'c>, block: Block<'c>) -> bool {
    let mut reached = Vec::new();
    let mut open = vec![found.header];
    while let Some(next) = open.pop() {
        if next == block || !found.blocks.contains(&next) || reached.contains(&next) {
            continue;
        }
        if next == found.latch {
            return false;
        }
        reached.push(next);
        open.extend(next.successors());
    }
    true
}

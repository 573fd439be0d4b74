//! What numbers the values of a function can be, by their own arithmetic and by the comparisons on the way to a block.

mod divided;
mod edges;
pub(super) mod fallen;
mod operations;
mod relation;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cell::{Cell, RefCell};

use super::dominators::Dominators;
use super::ranges::Range;
use crate::llvm::{Block, Value, ValueKind};

/// How many operations are looked through.
const DEPTH: u32 = 12;

/// How many values are looked at for one.
const MOST: u32 = 500;

/// The ranges of a function's values.
pub(super) struct Values<'d, 'c> {
    dominators: &'d Dominators<'c>,
    known: RefCell<HashMap<(Value<'c>, Block<'c>), Range>>,
    /// What is asked at the moment.
    open: RefCell<HashSet<(Value<'c>, Block<'c>)>>,
    /// Whether something was answered by what depends on itself.
    is_cut: Cell<bool>,
    /// How many more values are looked at for what is asked.
    rest: Cell<u32>,
    /// Values that are taken to be below [`SHORT`].
    short: HashSet<Value<'c>>,
}

/// What lengths are below nearly always: the sums of two of them are signed numbers of 32 bits.
pub(super) const SHORT: u64 = 1 << 30;

impl<'d, 'c> Values<'d, 'c> {
    pub(super) fn of(dominators: &'d Dominators<'c>) -> Values<'d, 'c> {
        Values::with_short(dominators, HashSet::default())
    }

    /// The same, as if these values were below [`SHORT`].
    pub(super) fn with_short(
        dominators: &'d Dominators<'c>,
        short: HashSet<Value<'c>>,
    ) -> Values<'d, 'c> {
        Values {
            dominators,
            known: RefCell::default(),
            open: RefCell::default(),
            is_cut: Cell::new(false),
            rest: Cell::new(0),
            short,
        }
    }

    /// What a value can be where a reachable block is; `None` if it is no integer of at most 64 bits.
    pub(super) fn at(&self, value: Value<'c>, block: Block<'c>) -> Option<Range> {
        let bits = bits_of(value)?;
        self.rest.set(MOST);
        Some(self.range(value, bits, block, DEPTH))
    }

    /// Whether a number that differs from another is below it: as that of a round that has not come to what its loop counts to.
    pub(super) fn is_below_if_other(&self, number: Value<'c>, end: Value<'c>) -> bool {
        self.rest.set(MOST);
        bits_of(number).is_some_and(|bits| self.is_below_end(number, end, bits, DEPTH))
    }

    fn operand(&self, value: Value<'c>, n: u32, block: Block<'c>, depth: u32) -> Option<Range> {
        let operand = value.operand(n)?;
        Some(self.range(operand, bits_of(operand)?, block, depth))
    }

    /// All values that are known where a block is were computed at the same time: what dominates it was not executed again since.
    fn range(&self, value: Value<'c>, bits: u32, block: Block<'c>, depth: u32) -> Range {
        let all = Range::of_type(bits);
        if let Some(number) = value.as_integer() {
            return Range::constant(number, bits);
        }
        let is_instruction = value.kind() == ValueKind::Instruction;
        if !is_instruction && value.parameter_of().is_none() {
            return all;
        }
        let key = (value, block);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let next = depth.checked_sub(1).zip(self.rest.get().checked_sub(1));
        let Some((next, rest)) = next.filter(|_| !self.open.borrow().contains(&key)) else {
            // Of what depends on itself nothing is known meanwhile.
            self.is_cut.set(true);
            return all;
        };
        self.rest.set(rest);
        self.open.borrow_mut().insert(key);
        let was_cut = self.is_cut.replace(false);
        let own = match is_instruction {
            _ if self.short.contains(&value) => Some(Range::new(0, i128::from(SHORT) - 1)),
            true => self.of_instruction(value, bits, block, next),
            false => self.of_parameter(value),
        };
        let range = own.filter(|own| own.is_in(all)).unwrap_or(all);
        let range = self.refined(range, value, block, next);
        self.open.borrow_mut().remove(&key);
        // Asked by itself, it may be known better.
        if !self.is_cut.get() || depth == DEPTH {
            self.known.borrow_mut().insert(key, range);
        }
        self.is_cut.set(self.is_cut.get() || was_cut);
        range
    }
}

/// The width of an integer of at most 64 bits.
pub(super) fn bits_of(value: Value<'_>) -> Option<u32> {
    let bits = value.integer_bits().filter(|bits| (1..=64).contains(bits));
    bits.filter(|_| !value.is_pointer())
}

//! Loads of all copies of a round that are made before the first copy.
//!
//! Where a round branches, stores or exchanges something, the loads of the next round wait: for the branch, or for memory that might be what they
//! load. A slice that the kernel only reads holds the same at any time, so what the copies load from it may be loaded before any of them:
//!
//! ```text
//! round:  x = a[i]; if x >= n { panic }; if b[x] < t { c[x] = t }        // of b, n is the length
//!
//! copies: x1 = a[i]; x2 = a[i + 1]; x3 = a[i + 2]; x4 = a[i + 3]
//!         if x1 < n && x2 < n && x3 < n && x4 < n {
//!             y1 = b[x1]; y2 = b[x2]; y3 = b[x3]; y4 = b[x4]
//!             four rounds without these loads
//!         } else { the loop as it was }
//! ```
//!
//! A round may leave the loop, as for a panic, before the next one has loaded anything. So nothing that the program tests counts: an address is
//! inside the slice by what is tested here of the slice's own length, or nothing is loaded from it early. The same test of the program, which
//! follows in the copy, is gone then.

mod inside;
mod loads;

use super::ROUNDS;
use super::scopes::push_copy;
use super::steps::Test;
use crate::linker::block_copies::Copies;
use crate::linker::loops::{Loop, is_inside};
use crate::linker::read_only_slices::Slice;
use crate::llvm::{Block, Value, opcode, predicate};
use inside::Inside;
pub(super) use loads::Early;
use loads::Load;

/// The early loads while copies are made.
pub(super) struct Made<'l, 'c> {
    early: &'l Early<'c>,
    found: &'l Loop<'c>,
    /// How far from its slice's start each stepping address may be.
    rooms: Vec<Value<'c>>,
    /// Whether the first loads are inside, before the copies.
    pub enters: Option<Value<'c>>,
    /// What is computed of each round.
    rounds: Vec<Copies<'c>>,
    /// Whether each round but the first one follows; empty if all do for certain. One that does not loads what the one before it loads.
    follow: Vec<Value<'c>>,
    /// What each round gives, or need not compute: its early loads, and the tests that they passed.
    pub known: Vec<Vec<(Value<'c>, Value<'c>)>>,
}

impl<'l, 'c> Made<'l, 'c> {
    fn new(early: &'l Early<'c>, found: &'l Loop<'c>, count: usize) -> Made<'l, 'c> {
        Made {
            early,
            found,
            rooms: Vec::new(),
            enters: None,
            rounds: vec![Copies::default(); count],
            follow: Vec::new(),
            known: vec![Vec::new(); count],
        }
    }

    /// Puts whether the first loads are inside at the end of the block before the loop.
    pub(super) fn before(early: &'l Early<'c>, found: &'l Loop<'c>) -> Made<'l, 'c> {
        let before = found.before;
        let (rooms, exist): (Vec<_>, Vec<_>) = early
            .steppings
            .iter()
            .map(|stepping| stepping.room(before))
            .unzip();
        let mut made = Made::new(early, found, ROUNDS);
        made.rooms = rooms;
        let inside = made.are_inside(before, |phi| phi.incoming_from(before));
        made.enters = all(before, exist.into_iter().chain(inside));
        made
    }

    /// Puts whether the first loads of all copies are inside at the end of a block, where the copies have these phis.
    pub(super) fn are_inside(
        &self,
        block: Block<'c>,
        phi: impl Fn(Value<'c>) -> Option<Value<'c>>,
    ) -> Option<Value<'c>> {
        let mut copies = Copies::default();
        for &own in &self.early.phis {
            phi(own).inspect(|value| copies.set(own, *value));
        }
        let steppings = self.early.steppings.iter().zip(&self.rooms);
        let tests = steppings.map(|(stepping, room)| {
            let address = computed(self.found, &mut copies, block, stepping.address);
            let test = stepping.is_inside(block, address, *room);
            // In the place of poison any answer is right, as nothing would be loaded then.
            block.push_freeze(test)
        });
        all(block, tests.collect::<Vec<_>>())
    }

    /// Puts the loads of all rounds at the end of the block `first`, which has the loop's phis; gives the block where the first round goes on. Where
    /// slices do not have the elements, `otherwise` is next, which has the loop's phis, too.
    pub(super) fn put(
        &mut self,
        function: Value<'c>,
        (first, phis): (Block<'c>, &[(Value<'c>, Value<'c>)]),
        otherwise: Block<'c>,
    ) -> Block<'c> {
        self.step(first, phis);
        self.load_all(function, first, otherwise)
    }

    /// Puts what each round begins with at the end of a block.
    fn step(&mut self, block: Block<'c>, phis: &[(Value<'c>, Value<'c>)]) {
        for &(phi, copy) in phis {
            self.rounds[0].set(phi, copy);
        }
        for round in 1..self.rounds.len() {
            for &phi in &self.early.phis {
                if let Some(next) = phi.incoming_from(self.found.latch) {
                    let next = computed(self.found, &mut self.rounds[round - 1], block, next);
                    self.rounds[round].set(phi, next);
                }
            }
        }
    }

    /// The same of rounds whose beginnings are known.
    pub(super) fn load_all(
        &mut self,
        function: Value<'c>,
        first: Block<'c>,
        otherwise: Block<'c>,
    ) -> Block<'c> {
        let mut block = first;
        for stage in self.early.stages() {
            if let Some(pass) = self.have_elements(block, &stage) {
                let next = function.append_block();
                block.push_branch(pass, next, otherwise);
                let phis = self.found.header.phis().into_iter();
                for (phi, of_otherwise) in phis.zip(otherwise.phis()) {
                    of_otherwise.add_incoming(self.rounds[0].value(phi), block);
                }
                block = next;
            }
            for round in 0..self.rounds.len() {
                for load in &stage {
                    if let Inside::Steps { .. } = load.inside {
                        self.choose(block, round, load.load.operand(0));
                    }
                    let round = (&mut self.rounds[round], &mut self.known[round]);
                    let value = computed(self.found, round.0, block, load.load);
                    round.1.push((load.load, value));
                }
            }
        }
        block
    }

    /// Puts whether the slices have the elements that a stage loads at the end of a block; `None` if no load of it needs that.
    fn have_elements(&mut self, block: Block<'c>, stage: &[&Load<'c>]) -> Option<Value<'c>> {
        let mut greatest: Vec<(Slice<'c>, Value<'c>)> = Vec::new();
        for n in 0..self.rounds.len() {
            let mut tested = Vec::new();
            for load in stage {
                let Inside::Element { slice, index } = load.inside else {
                    continue;
                };
                if tested.contains(&(slice, index)) {
                    continue;
                }
                tested.push((slice, index));
                // What was loaded is that of the round before already.
                if is_of_phi(self.found, index) {
                    self.choose(block, n, Some(index));
                }
                let (round, known) = (&mut self.rounds[n], &mut self.known[n]);
                // Any number in the place of poison, but the same one for the test and for the address.
                let number = computed(self.found, round, block, index);
                let number = block.push_freeze(number);
                round.set(index, number);
                known.extend(slice.tests_of(self.found, index));
                // One test for all numbers of this type.
                let same = |(other, most): &&mut (Slice<'c>, Value<'c>)| {
                    *other == slice && most.ty() == number.ty()
                };
                match greatest.iter_mut().find(same) {
                    Some((_, most)) => {
                        let is_less = block.push_comparison(predicate::LESS, *most, number);
                        *most = block.push_select(is_less, number, *most);
                    }
                    None => greatest.push((slice, number)),
                }
            }
        }
        let tests = greatest.into_iter();
        let tests: Vec<_> = tests.map(|(slice, most)| slice.has(block, most)).collect();
        all(block, tests)
    }
}

/// The last rounds, of which some may not follow.
impl<'l, 'c> Made<'l, 'c> {
    /// Puts what each of `count` rounds begins with, whether it follows, and whether the first loads of all that do are inside, at the end of a
    /// block that has the loop's phis.
    pub(super) fn last(
        (early, found): (&'l Early<'c>, &'l Loop<'c>),
        (test, count): (&Test<'c>, usize),
        block: Block<'c>,
        phis: &[(Value<'c>, Value<'c>)],
    ) -> Made<'l, 'c> {
        let mut made = Made::new(early, found, count);
        made.step(block, phis);
        for round in 1..count {
            let before = &mut made.rounds[round - 1];
            let comparison = computed(found, before, block, test.comparison);
            let constant = |is| Value::integer_like(is, comparison);
            let goes_on = match test.again {
                0 => comparison,
                _ => block.push_binary(opcode::XOR, comparison, constant(1)),
            };
            // Behind a round that does not follow it may be poison.
            let follows = match made.follow.last() {
                Some(before) => block.push_select(*before, goes_on, constant(0)),
                None => goes_on,
            };
            made.follow.push(follows);
        }
        let mut tests = Vec::new();
        for stepping in &early.steppings {
            let (room, exists) = stepping.room_of_one(block);
            tests.push(exists);
            for round in 0..count {
                made.choose(block, round, Some(stepping.address));
            }
            // What is between is inside then.
            for round in [0, count - 1] {
                let address = computed(found, &mut made.rounds[round], block, stepping.address);
                let test = stepping.is_inside(block, address, room);
                tests.push(block.push_freeze(test));
            }
        }
        made.enters = all(block, tests);
        made
    }

    /// Whether each of [these rounds](Made::last) but the first one follows.
    pub(super) fn follow(&self) -> &[Value<'c>] {
        &self.follow
    }

    /// Lets a value that leads to loads be the one of the round before where a round does not follow.
    fn choose(&mut self, block: Block<'c>, round: usize, value: Option<Value<'c>>) {
        let follows = round.checked_sub(1).and_then(|n| self.follow.get(n));
        let (Some(&follows), Some(value)) = (follows, value) else {
            return;
        };
        let known = |round: &mut Copies<'c>| computed(self.found, round, block, value);
        let before = known(&mut self.rounds[round - 1]);
        let own = known(&mut self.rounds[round]);
        if own != before {
            let chosen = block.push_select(follows, own, before);
            self.rounds[round].set(value, chosen);
        }
    }
}

/// Puts whether all of these hold at the end of a block; `None` if there are none.
fn all<'c>(block: Block<'c>, tests: impl IntoIterator<Item = Value<'c>>) -> Option<Value<'c>> {
    let both = |all, test| block.push_binary(opcode::AND, all, test);
    tests.into_iter().reduce(both)
}

/// What stands for a value of the loop in a round, computed at the end of a block if it was not yet. What is known of the round has its phis.
fn computed<'c>(
    found: &Loop<'c>,
    round: &mut Copies<'c>,
    block: Block<'c>,
    value: Value<'c>,
) -> Value<'c> {
    let known = round.value(value);
    if known != value || !is_inside(found, value) || value.opcode() == opcode::PHI {
        return known;
    }
    for n in 0..value.operand_count() {
        if let Some(operand) = value.operand(n) {
            computed(found, round, block, operand);
        }
    }
    push_copy(round, block, value)
}

/// Whether a value is computed from what the rounds step, and not from what they load alone.
fn is_of_phi<'c>(found: &Loop<'c>, value: Value<'c>) -> bool {
    is_inside(found, value)
        && match value.opcode() {
            opcode::PHI => true,
            opcode::LOAD => false,
            _ => (0..value.operand_count())
                .filter_map(|n| value.operand(n))
                .any(|operand| is_of_phi(found, operand)),
        }
}

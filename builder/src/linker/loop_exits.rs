//! Threads that leave a loop at two places reconverge behind it, before they go on at one or at the other.
//!
//! ```text
//! while at < end && is_blank(text[at]) { at += 1 }   // leaves for the end of the kernel, or for the rest
//! rest
//! ```
//!
//! Where a loop ends by the test of its counter, nothing may be left to do, and jump threading lets this exit lead past the rest. The ways of a warp's threads
//! meet again behind the rest then, and not behind the loop: ptxas lets those that have left go through the rest, while the others wait in the
//! loop, so that it is made once for each number of rounds. With one block that both exits lead to, which branches by where a thread comes
//! from, it is made by all threads together.
//!
//! Only where the exit by what was read or computed leads to much that the exit by the counter leaves out: a search, behind which most threads have
//! something to do. Threads that go past the loop to there go through that block, too. A comparison, in which most threads leave early for nothing, gains nothing by it.
//!
//! A panic is an exit, too: what follows it has branches, and ptxas may then take the panic, and not what is behind the loop, for the place where
//! threads meet that have left. So the panics of a loop are behind its one exit as well, where much is left to do and nothing counts the rounds, or no
//! other loop is around it or behind. Of all others ptxas found the right place in what was looked at, and the exit costs registers.
//!
//! A loop in which threads may wait for each other is left alone: those that have left must not wait for those that are in it.

use std::cell::LazyCell;

use rustc_hash::FxHashSet as HashSet;

use super::cold_values::cold;
use super::loops::Loop;
use super::meetings::is_meeting;
use super::narrow::dominators::{self, Dominators};
use super::uniform::Uniform;
use crate::llvm::{Block, Module, Place, Value, ValueKind, opcode};

/// How many instructions behind an exit are worth the block: it costs a loop up to two in each round.
const LEAST_BEHIND: usize = 24;

/// As how many of them a load counts, which is waited for.
const LOAD: usize = 12;

/// Joins the exits of all loops of which it is worth it; the blocks that they lead to then.
pub(super) fn join<'c>(module: &Module<'c>) -> HashSet<Block<'c>> {
    let mut joined = HashSet::default();
    for function in module.functions() {
        // A loop has one exit then.
        while let Some(exits) = first(function) {
            joined.insert(exits.join(function));
        }
    }
    joined
}

/// The loops of a function without those whose exits are to be joined that lead to no panic.
pub(super) fn without_searches<'c>(function: Value<'c>, mut loops: Vec<Loop<'c>>) -> Vec<Loop<'c>> {
    // Most functions have no loop of several exits.
    let flow = LazyCell::new(|| Flow::of(function));
    loops.retain(|found| {
        let leave = |block: &&Block<'c>| {
            let mut to = block.successors().into_iter();
            to.any(|to| !found.blocks.contains(&to))
        };
        let has_several = found.blocks.iter().filter(leave).count() > 1;
        !has_several
            || !Exits::of(&flow, found.header, &found.blocks).is_some_and(|exits| exits.is_search)
    });
    loops
}

fn first(function: Value<'_>) -> Option<Exits<'_>> {
    let flow = Flow::of(function);
    let mut loops = flow.loops.iter();
    loops.find_map(|(header, blocks)| Exits::of(&flow, *header, blocks))
}

/// What is known of a function.
struct Flow<'c> {
    dominators: Dominators<'c>,
    loops: Vec<dominators::Loop<'c>>,
    uniform: Uniform<'c>,
    /// The blocks from which only panics are reached.
    cold: HashSet<Block<'c>>,
}

impl<'c> Flow<'c> {
    fn of(function: Value<'c>) -> Flow<'c> {
        let dominators = Dominators::of(function);
        Flow {
            loops: dominators.loops(),
            dominators,
            uniform: Uniform::of(function),
            cold: cold(&function.blocks()),
        }
    }
}

/// The edges that lead out of a loop: from a block of it to one behind.
struct Edges<'c> {
    all: Vec<(Block<'c>, Block<'c>)>,
    /// The blocks that they lead to, but for panics.
    plain: Vec<Block<'c>>,
    /// Those that begin panics.
    cold: Vec<Block<'c>>,
}

impl<'c> Edges<'c> {
    fn of(flow: &Flow<'c>, blocks: &[Block<'c>]) -> Edges<'c> {
        let (mut all, mut plain, mut cold) = (Vec::new(), Vec::new(), Vec::new());
        for &from in blocks {
            for to in from.successors() {
                if blocks.contains(&to) || all.contains(&(from, to)) {
                    continue;
                }
                all.push((from, to));
                let targets = match flow.cold.contains(&to) {
                    true => &mut cold,
                    false => &mut plain,
                };
                if !targets.contains(&to) {
                    targets.push(to);
                }
            }
        }
        Edges { all, plain, cold }
    }

    /// Adds the edges from elsewhere to a block behind: from copies of the rounds, or past the loop. Threads that come from there meet the others then.
    fn add_others(
        &mut self,
        flow: &Flow<'c>,
        blocks: &[Block<'c>],
        to: Block<'c>,
        is_near: impl Fn(Block<'c>) -> bool,
    ) {
        let from = flow.dominators.before(to);
        let begins_loop = from.iter().any(|from| flow.dominators.dominates(to, *from));
        if begins_loop {
            return;
        }
        let others = from.into_iter().filter(|from| !blocks.contains(from));
        for from in others.filter(|from| is_near(*from)) {
            if !self.all.contains(&(from, to)) {
                self.all.push((from, to));
            }
        }
    }
}

/// The exits of a loop that are to be joined.
struct Exits<'c> {
    /// Whether two of them lead to no panic.
    is_search: bool,
    /// The blocks behind them.
    behind: Vec<Block<'c>>,
    /// The edges that lead there: from a block of the loop, to one of `behind`.
    edges: Vec<(Block<'c>, Block<'c>)>,
    /// All blocks that are reached from these in a round of the loop around this one.
    reached: HashSet<Block<'c>>,
    /// What is made in the loop and used behind it.
    used: Vec<Value<'c>>,
}

impl<'c> Exits<'c> {
    /// Those of a loop, if they may be joined and it is worth it.
    fn of(flow: &Flow<'c>, header: Block<'c>, blocks: &[Block<'c>]) -> Option<Exits<'c>> {
        let mut edges = Edges::of(flow, blocks);
        let round = Round { header, blocks };
        // Where most threads go on that leave the loop.
        let most = match edges.plain[..] {
            [only] => {
                let behind = reached(flow, &[only], header);
                let is_worth_it = !edges.cold.is_empty()
                    && is_much(flow, &behind, None)
                    && round.may_part(flow, &behind);
                is_worth_it.then_some(only)
            }
            [one, other] => {
                let mut ways = [(one, other), (other, one)].into_iter();
                ways.find(|(found, otherwise)| round.searches(flow, &edges, *found, *otherwise))
                    .map(|(found, _)| found)
            }
            _ => None,
        }?;
        if blocks.iter().any(|block| may_wait(*block)) {
            return None;
        }
        let is_search = edges.plain.len() > 1;
        // What else leads to the end of a search is much.
        edges.add_others(flow, blocks, most, |from| {
            !is_search || flow.dominators.dominates(from, header)
        });
        let behind = [edges.plain, edges.cold].concat();
        let reached = reached(flow, &behind, header);
        let made = blocks.iter().flat_map(|block| block.instructions());
        let used = made.filter(|value| {
            let mut users = value.users().into_iter();
            users.any(|user| is_used_in(*value, user, &reached))
        });
        Some(Exits {
            is_search,
            used: used.collect(),
            behind,
            edges: edges.all,
            reached,
        })
    }

    fn join(&self, function: Value<'c>) -> Block<'c> {
        let dominators = Dominators::of(function);
        let joined = function.append_block();
        let mut ways = Vec::new();
        for &(from, to) in &self.edges {
            let Some(end) = from.terminator() else {
                continue;
            };
            let between = function.append_block();
            for (n, _) in (0..).zip(end.successors()).filter(|(_, next)| *next == to) {
                end.set_successor(n, between);
            }
            let jump = between.push_jump(joined);
            ways.push(Way {
                from,
                to,
                between,
                jump,
            });
        }
        for &to in &self.behind {
            for phi in to.phis() {
                pass_on(phi, to, &ways, joined);
            }
        }
        for &value in &self.used {
            let passed = joined.push_phi(value);
            for way in &ways {
                let comes_by = match dominators.dominates(value.block(), way.from) {
                    true => value,
                    false => Value::undefined(value.ty(), value),
                };
                passed.add_incoming(comes_by, way.between);
            }
            let user = || {
                let mut users = value.users().into_iter();
                users.find(|user| is_used_in(value, *user, &self.reached))
            };
            while let Some(user) = user() {
                self.replace_behind(user, value, passed);
            }
        }
        part(function, joined, &ways, &self.behind);
        joined
    }

    /// Lets an instruction behind the loop use another value in the place of one that was made in the loop.
    fn replace_behind(&self, user: Value<'c>, value: Value<'c>, by: Value<'c>) {
        if user.opcode() != opcode::PHI {
            for n in (0..user.operand_count()).filter(|n| user.operand(*n) == Some(value)) {
                user.set_operand(n, by);
            }
            return;
        }
        let changed = user.build_phi_before(user);
        for (one, from) in user.incoming() {
            let is_behind = one == value && self.reached.contains(&from);
            changed.add_incoming(if is_behind { by } else { one }, from);
        }
        user.replace_by(changed);
    }
}

/// An edge that leads out of a loop.
struct Way<'c> {
    from: Block<'c>,
    to: Block<'c>,
    /// The block that it leads through now.
    between: Block<'c>,
    /// That block's jump.
    jump: Value<'c>,
}

impl<'c> Way<'c> {
    /// Where there are constants for it.
    fn end(&self) -> Place<'c> {
        Place::before(self.jump)
    }
}

/// A loop.
struct Round<'a, 'c> {
    header: Block<'c>,
    blocks: &'a [Block<'c>],
}

impl<'c> Round<'_, 'c> {
    /// Whether threads of a warp may leave it after different numbers of rounds, and ptxas may not find where they meet: nothing counts the rounds,
    /// or no other loop is around it or behind.
    fn may_part(&self, flow: &Flow<'c>, behind: &HashSet<Block<'c>>) -> bool {
        let is_last = flow.loops.iter().all(|(header, blocks)| {
            let is_around = *header != self.header && blocks.contains(&self.header);
            !is_around && !behind.contains(header)
        });
        self.blocks.iter().any(|block| {
            let leaves = |to: &Block<'c>| !self.blocks.contains(to) && !flow.cold.contains(to);
            let condition = block.terminator().and_then(|end| end.operand(0));
            block.successors().iter().any(leaves)
                && condition.is_some_and(|condition| {
                    !flow.uniform.contains(condition) && (is_last || !self.is_counted(condition))
                })
        })
    }

    /// Whether a condition of it compares counters only: what changes by the same in each round.
    fn is_counted(&self, condition: Value<'c>) -> bool {
        let is_inside = |value: &Value<'c>| {
            value.kind() == ValueKind::Instruction && self.blocks.contains(&value.block())
        };
        let operands =
            |value: Value<'c>| (0..value.operand_count()).filter_map(move |n| value.operand(n));
        let mut open = vec![condition];
        let mut seen = HashSet::default();
        while let Some(value) = open.pop() {
            if !is_inside(&value) || !seen.insert(value) {
                continue;
            }
            match value.opcode() {
                opcode::PHI if value.block() == self.header => {
                    let mut next = value.incoming().into_iter();
                    let changes_alike = next.all(|(next, from)| {
                        let is_sum = matches!(
                            next.is_instruction().then(|| next.opcode()),
                            Some(opcode::ADD | opcode::SUB | opcode::GET_ELEMENT_POINTER)
                        );
                        !self.blocks.contains(&from)
                            || next == value
                            || is_sum
                                && operands(next).all(|part| part == value || !is_inside(&part))
                    });
                    if !changes_alike {
                        return false;
                    }
                }
                opcode::PHI | opcode::LOAD | opcode::CALL => return false,
                _ => open.extend(operands(value)),
            }
        }
        true
    }

    /// Whether it is left for one block by what was read or computed, for another one otherwise, and much is done behind the first one alone.
    fn searches(
        &self,
        flow: &Flow<'c>,
        edges: &Edges<'c>,
        found: Block<'c>,
        otherwise: Block<'c>,
    ) -> bool {
        let leads_to_found = |leads: &dyn Fn(Block<'c>) -> bool| {
            let mut plain = edges.all.iter().filter(|(_, to)| !flow.cold.contains(to));
            plain.all(|(from, to)| leads(*from) == (*to == found))
        };
        let is_search = leads_to_found(&|from| is_by_what_was_read(from, self.blocks, self.header))
            || leads_to_found(&|from| {
                let condition = from.terminator().and_then(|end| end.operand(0));
                condition.is_some_and(|condition| !self.is_counted(condition))
            });
        is_search && {
            let [found, otherwise] = [found, otherwise].map(|to| reached(flow, &[to], self.header));
            is_much(flow, &found, Some(&otherwise))
        }
    }
}

/// Ends the block that all exits lead to by a branch to where each of them led: to the first one or, by a number, to one of the others.
fn part<'c>(function: Value<'c>, joined: Block<'c>, ways: &[Way<'c>], behind: &[Block<'c>]) {
    let [first, others @ ..] = behind else {
        return;
    };
    let Some(place) = ways.first().map(Way::end) else {
        return;
    };
    let choice = |bits, number: &dyn Fn(Block<'c>) -> u64| {
        let chosen = joined.push_phi(place.constant(bits, 0));
        for way in ways {
            chosen.add_incoming(place.constant(bits, number(way.to)), way.between);
        }
        chosen
    };
    let is_first = choice(1, &|to| u64::from(to == *first));
    let other = match others {
        [other] => *other,
        _ => {
            let which = choice(32, &|to| {
                others.iter().position(|other| *other == to).unwrap_or(0) as u64
            });
            let chosen = function.append_block();
            let mut cases = (0..).zip(others.iter().copied());
            let default = cases.next().map_or(*first, |(_, default)| default);
            let cases: Vec<_> = cases
                .map(|(n, other)| (place.constant(32, n), other))
                .collect();
            chosen.push_switch(which, default, &cases);
            for to in others {
                to.replace_incoming(joined, &[chosen]);
            }
            chosen
        }
    };
    joined.push_branch(is_first, *first, other);
}

/// Lets a phi of a block behind the loop have what the exits bring from the block that they lead to now.
fn pass_on<'c>(phi: Value<'c>, of: Block<'c>, ways: &[Way<'c>], joined: Block<'c>) {
    let passed = joined.push_phi(phi);
    for way in ways {
        let comes_by = phi.incoming_from(way.from).filter(|_| way.to == of);
        let comes_by = comes_by.unwrap_or_else(|| Value::undefined(phi.ty(), phi));
        passed.add_incoming(comes_by, way.between);
    }
    let changed = phi.build_phi_before(phi);
    let is_exit = |from: &Block<'c>| ways.iter().any(|way| way.to == of && way.from == *from);
    for (value, from) in phi.incoming() {
        if !is_exit(&from) {
            changed.add_incoming(value, from);
        }
    }
    changed.add_incoming(passed, joined);
    phi.replace_by(changed);
}

/// What is reached from blocks before any that dominates `header`.
fn reached<'c>(flow: &Flow<'c>, from: &[Block<'c>], header: Block<'c>) -> HashSet<Block<'c>> {
    let mut reached = HashSet::default();
    let mut open = from.to_vec();
    while let Some(block) = open.pop() {
        if !flow.dominators.dominates(block, header) && reached.insert(block) {
            open.extend(block.successors());
        }
    }
    reached
}

/// Whether much is done in what is reached behind one exit and not behind another one.
fn is_much<'c>(
    flow: &Flow<'c>,
    behind: &HashSet<Block<'c>>,
    other: Option<&HashSet<Block<'c>>>,
) -> bool {
    let is_own = |block: &&Block<'c>| {
        !other.is_some_and(|other| other.contains(*block)) && !flow.cold.contains(*block)
    };
    let own: Vec<_> = behind.iter().filter(is_own).collect();
    let leads_back = |block: &Block<'c>| {
        let to = block.successors().into_iter();
        to.filter(|to| own.contains(&to))
            .any(|to| flow.dominators.dominates(to, *block))
    };
    let instructions = own.iter().flat_map(|block| block.instructions());
    let costs = instructions.map(|one| match one.opcode() {
        opcode::LOAD => LOAD,
        _ => 1,
    });
    costs.sum::<usize>() >= LEAST_BEHIND || own.iter().any(|block| leads_back(block))
}

/// Whether what a round of a loop has read decides where a block of it leads.
fn is_by_what_was_read<'c>(block: Block<'c>, blocks: &[Block<'c>], header: Block<'c>) -> bool {
    let mut open: Vec<_> = block.terminator().into_iter().collect();
    let mut seen = HashSet::default();
    while let Some(value) = open.pop() {
        let is_of_round = value.kind() == ValueKind::Instruction
            && blocks.contains(&value.block())
            && !(value.opcode() == opcode::PHI && value.block() == header);
        if !is_of_round || !seen.insert(value) {
            continue;
        }
        if value.opcode() == opcode::LOAD {
            return true;
        }
        open.extend((0..value.operand_count()).filter_map(|n| value.operand(n)));
    }
    false
}

/// Whether threads may wait in a block for others.
pub(super) fn may_wait(block: Block<'_>) -> bool {
    block
        .instructions()
        .into_iter()
        .any(|one| match one.opcode() {
            opcode::CALL => {
                let is_pure = one
                    .called_assembly()
                    .is_some_and(|asm| !asm.has_side_effects())
                    || one.callee().is_some_and(|callee| is_pure(callee));
                !is_pure || is_meeting(one)
            }
            opcode::LOAD | opcode::STORE => one.is_volatile() || one.is_atomic(),
            _ => one.is_atomic_access(),
        })
}

/// Whether no other thread has to do with what a function does.
fn is_pure(function: Value<'_>) -> bool {
    if function.kind() != ValueKind::Function {
        return false;
    }
    let name = function.name();
    let is_of_llvm = name.starts_with("llvm.") && !name.starts_with("llvm.nvvm.");
    is_of_llvm || function.accesses_no_memory()
}

/// Whether a value is used in one of these blocks; a phi uses it at the end of the block that it comes from.
fn is_used_in<'c>(value: Value<'c>, by: Value<'c>, blocks: &HashSet<Block<'c>>) -> bool {
    match by.opcode() {
        opcode::PHI => {
            let mut incoming = by.incoming().into_iter();
            incoming.any(|(one, from)| one == value && blocks.contains(&from))
        }
        _ => blocks.contains(&by.block()),
    }
}

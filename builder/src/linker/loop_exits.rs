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
//! Only where the exit by what was read leads to much that the exit by the counter leaves out: a search, behind which most threads have
//! something to do. A comparison, in which most threads leave early for nothing, gains nothing by it. A loop in which threads may
//! wait for each other is left alone: those that have left must not wait for those that are in it.

use rustc_hash::FxHashSet as HashSet;

use super::cold_values::cold;
use super::loops::Loop;
use super::narrow::dominators::Dominators;
use super::unroll::is_meeting;
use crate::llvm::{Block, Module, Place, Value, ValueKind, opcode};

/// How many instructions behind an exit are worth the block: it costs a loop up to two in each round.
const LEAST_BEHIND: usize = 24;

/// Joins the exits of all loops of which it is worth it.
pub(super) fn join(module: &Module<'_>) {
    for function in module.functions() {
        // A loop has one exit then.
        while let Some(exits) = first(function) {
            exits.join(function);
        }
    }
}

/// Whether the exits of a loop are to be joined.
pub(super) fn are_to_be_joined<'c>(function: Value<'c>, found: &Loop<'c>) -> bool {
    Exits::of(&Flow::of(function), found.header, &found.blocks).is_some()
}

fn first(function: Value<'_>) -> Option<Exits<'_>> {
    let flow = Flow::of(function);
    let mut loops = natural_loops(&flow.dominators).into_iter();
    loops.find_map(|(header, blocks)| Exits::of(&flow, header, &blocks))
}

/// What is known of a function.
struct Flow<'c> {
    dominators: Dominators<'c>,
    /// The blocks from which only panics are reached.
    cold: HashSet<Block<'c>>,
}

impl<'c> Flow<'c> {
    fn of(function: Value<'c>) -> Flow<'c> {
        Flow {
            dominators: Dominators::of(function),
            cold: cold(&function.blocks()),
        }
    }
}

/// The two exits of a loop that are to be joined.
struct Exits<'c> {
    /// The blocks behind them.
    behind: [Block<'c>; 2],
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
        let is_inside = |block: &Block<'c>| blocks.contains(block);
        let mut edges = Vec::new();
        let mut cold_exits = Vec::new();
        for &from in blocks {
            for to in from.successors() {
                match flow.cold.contains(&to) {
                    _ if is_inside(&to) => {}
                    true => cold_exits.push(to),
                    false if edges.contains(&(from, to)) => {}
                    false => edges.push((from, to)),
                }
            }
        }
        let targets: HashSet<_> = edges.iter().map(|(_, to)| *to).collect();
        if targets.len() != 2 || blocks.iter().any(|block| may_wait(*block)) {
            return None;
        }
        let (_, one) = edges[0];
        let other = targets.into_iter().find(|to| *to != one)?;
        let from_one = reached(flow, &[one], header);
        let from_other = reached(flow, &[other], header);
        let is_search_for = |to| {
            let mut edges = edges.iter();
            edges
                .all(|(from, behind)| is_by_what_was_read(*from, blocks, header) == (*behind == to))
        };
        let is_worth_it = (is_search_for(one) && is_much(flow, &from_one, &from_other))
            || (is_search_for(other) && is_much(flow, &from_other, &from_one));
        if !is_worth_it {
            return None;
        }
        let mut behind = from_one;
        behind.extend(from_other);
        let otherwise = reached(flow, &cold_exits, header);
        let both: HashSet<_> = behind.intersection(&otherwise).copied().collect();
        let mut used = Vec::new();
        for value in blocks.iter().flat_map(|block| block.instructions()) {
            let is_used = |blocks| {
                value
                    .users()
                    .into_iter()
                    .any(|user| is_used_in(value, user, blocks))
            };
            if is_used(&both) {
                return None;
            }
            if is_used(&behind) {
                used.push(value);
            }
        }
        Some(Exits {
            behind: [one, other],
            edges,
            reached: behind,
            used,
        })
    }

    fn join(&self, function: Value<'c>) {
        let dominators = Dominators::of(function);
        let joined = function.append_block();
        let [first, _] = self.behind;
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
            let is_first = Place::before(jump).constant(1, u64::from(to == first));
            ways.push(Way {
                from,
                to,
                between,
                is_first,
            });
        }
        let Some(like) = ways.first().map(|way| way.is_first) else {
            return;
        };
        let comes_from_first = joined.push_phi(like);
        for way in &ways {
            comes_from_first.add_incoming(way.is_first, way.between);
        }
        for to in self.behind {
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
        let [yes, no] = self.behind;
        joined.push_branch(comes_from_first, yes, no);
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
    /// Whether `to` is the first of the blocks behind.
    is_first: Value<'c>,
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

/// The loops of a function, whatever their form: each block to which others lead back, and all blocks from which these are reached.
fn natural_loops<'c>(dominators: &Dominators<'c>) -> Vec<(Block<'c>, Vec<Block<'c>>)> {
    let mut found = Vec::new();
    for &header in dominators.order() {
        let mut open = dominators.before(header);
        open.retain(|latch| dominators.dominates(header, *latch));
        if open.is_empty() {
            continue;
        }
        let mut blocks = vec![header];
        while let Some(block) = open.pop() {
            if !blocks.contains(&block) {
                blocks.push(block);
                open.extend(dominators.before(block));
            }
        }
        found.push((header, blocks));
    }
    found
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

/// Whether much is done in what is reached behind one exit and not behind the other.
fn is_much<'c>(flow: &Flow<'c>, behind: &HashSet<Block<'c>>, other: &HashSet<Block<'c>>) -> bool {
    let is_own = |block: &&Block<'c>| !other.contains(*block) && !flow.cold.contains(*block);
    let own: Vec<_> = behind.iter().filter(is_own).collect();
    let leads_back = |block: &Block<'c>| {
        let to = block.successors().into_iter();
        to.filter(|to| own.contains(&to))
            .any(|to| flow.dominators.dominates(to, *block))
    };
    let instructions = own.iter().map(|block| block.instructions().len());
    instructions.sum::<usize>() >= LEAST_BEHIND || own.iter().any(|block| leads_back(block))
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
fn may_wait(block: Block<'_>) -> bool {
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

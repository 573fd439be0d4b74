//! Checks that follow each other lead to their panics by one branch.
//!
//! ```text
//! branch i < n, next, panic_i                 branch i < n && j < n, rest, which
//! next: x = load i                            rest:  x = load i
//!       branch j < n, rest, panic_j           which: branch i < n, panic_j, panic_i
//! ```
//!
//! What each panic says is put into registers on the way that all threads go, as its edge has no block of its own; and loads wait for the checks
//! before them. Here both happen once. A check is made before the one that it follows only if what it compares may be computed there, and what stands
//! between them has no [effects](effects) that would be missed of a thread that panics. The first check that fails is the one that tells.

mod effects;
mod own_panics;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::llvm::{Block, Module, Value, opcode};
use effects::Effect;

/// How many instructions a check may take that is made earlier.
const MOST_MOVED: usize = 8;

/// Joins the checks of all functions.
pub(super) fn merge(module: &Module<'_>) {
    for function in module.functions() {
        own_panics::give(function);
        let mut found = Found::of(function);
        for block in function.blocks() {
            while found.join(function, block) {}
        }
    }
}

/// A branch that leads on, or to a panic.
struct Check<'c> {
    condition: Value<'c>,
    /// Whether the panic comes where the condition does not hold.
    is_needed: bool,
    panic: Block<'c>,
    next: Block<'c>,
}

struct Found<'c> {
    /// How many edges lead to a block.
    leading: HashMap<Block<'c>, usize>,
    /// The blocks that are made to tell panics apart.
    telling: HashSet<Block<'c>>,
}

impl<'c> Found<'c> {
    fn of(function: Value<'c>) -> Found<'c> {
        let mut leading = HashMap::default();
        for to in function.blocks().into_iter().flat_map(Block::successors) {
            *leading.entry(to).or_default() += 1;
        }
        Found {
            leading,
            telling: HashSet::default(),
        }
    }

    fn check(&self, block: Block<'c>) -> Option<Check<'c>> {
        let branch = block.terminator()?;
        let [yes, no]: [Block<'c>; 2] = branch.successors().try_into().ok()?;
        if branch.opcode() != opcode::BRANCH || yes == no {
            return None;
        }
        let condition = branch.operand(0)?;
        let (is_needed, panic, next) = match (self.is_panic(yes), self.is_panic(no)) {
            (false, true) => (true, no, yes),
            (true, false) => (false, yes, no),
            _ => return None,
        };
        Some(Check {
            condition,
            is_needed,
            panic,
            next,
        })
    }

    fn is_panic(&self, block: Block<'c>) -> bool {
        self.is_reached_once(block) && (self.telling.contains(&block) || block.is_dead_end())
            || effects::is_only_trap(block)
    }

    /// Whether one edge leads to a block, on which it chooses nothing.
    fn is_reached_once(&self, block: Block<'c>) -> bool {
        self.leading.get(&block) == Some(&1) && block.phis().is_empty()
    }

    /// What a panic, or those that a block tells apart, is made of.
    fn told(&self, panic: Block<'c>) -> Vec<Value<'c>> {
        let instructions = panic.instructions().into_iter();
        let operands =
            instructions.flat_map(|i| (0..i.operand_count()).filter_map(move |n| i.operand(n)));
        let further = panic.successors().into_iter();
        operands
            .chain(further.flat_map(|panic| self.told(panic)))
            .collect()
    }

    /// Joins the check at the end of a block with the next one; whether it could be.
    fn join(&mut self, function: Value<'c>, block: Block<'c>) -> bool {
        let Some(first) = self.check(block) else {
            return false;
        };
        let mut between = Vec::new();
        let mut last = first.next;
        let second = loop {
            if !self.is_reached_once(last) || last == block {
                return false;
            }
            let mut instructions = last.instructions();
            let end = instructions.pop();
            between.extend(instructions);
            if let Some(second) = self.check(last) {
                break second;
            }
            match (end.map(Value::opcode), &last.successors()[..]) {
                (Some(opcode::BRANCH), &[next]) => last = next,
                _ => return false,
            }
        };
        let all = between.iter().map(|i| effects::of(*i)).max();
        let is_missed = match all.unwrap_or(Effect::None) {
            Effect::None => false,
            Effect::OwnMemory => !effects::reads_nothing(second.panic),
            Effect::Others => true,
        };
        if is_missed {
            return false;
        }
        let mut moved = Vec::new();
        let told = self.told(second.panic).into_iter();
        let mut needed = told.chain([second.condition]);
        if !needed.all(|value| moves(value, &between, &mut moved)) {
            return false;
        }
        let (Some(end), Some(other_end)) = (block.terminator(), last.terminator()) else {
            return false;
        };
        let location = end.debug_location();
        end.erase();
        other_end.erase();
        for instruction in moved {
            block.push_moved(instruction);
        }
        let truth = |is_true: bool| Value::integer_like(is_true.into(), first.condition);
        let holds = |check: &Check<'c>| match check.is_needed {
            true => check.condition,
            false => block.push_binary(opcode::XOR, check.condition, truth(true)),
        };
        // Where the first does not hold, the second may be poison.
        let (one, other) = (holds(&first), holds(&second));
        let both = block.push_select(one, other, truth(false));
        let mut branches = vec![last.push_jump(second.next)];
        let otherwise = match first.panic == second.panic {
            // Nothing is told.
            true => first.panic,
            false => {
                let which = function.append_block();
                branches.push(match first.is_needed {
                    true => which.push_branch(first.condition, second.panic, first.panic),
                    false => which.push_branch(first.condition, first.panic, second.panic),
                });
                self.leading.insert(which, 1);
                self.telling.insert(which);
                which
            }
        };
        branches.push(block.push_branch(both, first.next, otherwise));
        for branch in branches {
            if let Some(location) = location {
                branch.set_debug_location(location);
            }
        }
        true
    }
}

/// Collects what is computed between two checks for the second one, in order; whether all of it may be computed before the first.
fn moves<'c>(value: Value<'c>, between: &[Value<'c>], moved: &mut Vec<Value<'c>>) -> bool {
    if !between.contains(&value) || moved.contains(&value) {
        return true;
    }
    let all = |moved: &mut Vec<_>| {
        (0..value.operand_count())
            .filter_map(|n| value.operand(n))
            .all(|operand| moves(operand, between, moved))
    };
    if !(effects::is_plain(value) && all(moved)) {
        return false;
    }
    moved.push(value);
    moved.len() <= MOST_MOVED
}

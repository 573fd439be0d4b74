//! What the order of two numbers decides is decided by comparisons of them.
//!
//! ```text
//! order = ucmp a, b                                        branch a < b, less, next
//! switch order [-1: less, 0: equal, 1: greater]            next: branch a == b, equal, greater
//! ```
//!
//! `match a.cmp(&b)` is such a switch. LLVM knows a comparison of `order` with a number as one of `a` and `b`, but not a switch, so that the order is
//! computed (two comparisons and what makes a number of them) and tested. Arms that only choose values, as in a walk over two sorted lists, become
//! selects here, as LLVM makes selects of two arms at most.

use rustc_hash::FxHashMap as HashMap;

use super::joined_conditions::leading;
use crate::llvm::{Block, Module, Place, Value, opcode, predicate};

/// How many operations of all three arms may be executed where one of them is needed.
const MOST: usize = 6;
/// How many values they may choose.
const MOST_CHOSEN: usize = 4;
/// Operations that may be executed in vain, besides plain arithmetic.
const CHEAP: [i32; 3] = [opcode::ICMP, opcode::SELECT, opcode::GET_ELEMENT_POINTER];

/// The intrinsics that give the order of two numbers, by the beginnings of their names.
const UNSIGNED: &str = "llvm.ucmp.";
const SIGNED: &str = "llvm.scmp.";

/// Replaces all such switches.
pub(super) fn decide(module: &Module<'_>) {
    for function in module.functions() {
        let mut blocks = function.blocks();
        blocks.retain(|block| Ways::of(*block).is_some());
        if blocks.is_empty() {
            continue;
        }
        let leading = leading(function);
        // One after the other: phis that one of them compares are replaced by another.
        for block in blocks {
            if let Some(ways) = Ways::of(block).filter(|ways| !ways.choose(&leading)) {
                ways.decide(function);
            }
        }
    }
}

/// A switch on the order of two numbers.
struct Ways<'c> {
    switch: Value<'c>,
    left: Value<'c>,
    right: Value<'c>,
    is_signed: bool,
    less: Block<'c>,
    equal: Block<'c>,
    greater: Block<'c>,
}

impl<'c> Ways<'c> {
    /// The one at the end of a block.
    fn of(block: Block<'c>) -> Option<Ways<'c>> {
        let switch = block.terminator()?;
        if switch.opcode() != opcode::SWITCH {
            return None;
        }
        let order = switch.operand(0)?;
        if !order.is_call_of(&[UNSIGNED, SIGNED]) {
            return None;
        }
        // At least two bits, and -1 has all of them set.
        let least = u64::MAX.checked_shr(64 - order.integer_bits()?)?;
        let cases = switch.cases();
        let default = *switch.successors().first()?;
        let way = |number| {
            let case = cases.iter().find(|(n, _)| n.as_integer() == Some(number));
            case.map_or(default, |(_, to)| *to)
        };
        Some(Ways {
            switch,
            left: order.operand(0)?,
            right: order.operand(1)?,
            is_signed: order.is_call_of(&[SIGNED]),
            less: way(least),
            equal: way(0),
            greater: way(1),
        })
    }

    /// Makes a choice of it, if values are all that its ways differ in. `leading` says how many edges lead to each block.
    fn choose(&self, leading: &HashMap<Block<'c>, usize>) -> bool {
        let (switch, block) = (self.switch, self.switch.block());
        let ways = [self.less, self.equal, self.greater];
        let [less, equal, greater] = ways.map(|way| Arm::of(way, block, leading));
        let (arms, end) = ([&less, &equal, &greater], less.end);
        let phis = end.phis();
        let cost: usize = arms.iter().map(|arm| arm.cost()).sum();
        let are_distinct =
            less.from != equal.from && equal.from != greater.from && greater.from != less.from;
        let is_choice = are_distinct && arms.iter().all(|arm| arm.end == end);
        if !is_choice || cost > MOST || phis.len() > MOST_CHOSEN {
            return false;
        }
        let [below, _] = self.predicates();
        let place = Place::before(switch);
        let is_less = place.comparison(below, self.left, self.right);
        let is_equal = place.comparison(predicate::EQUAL, self.left, self.right);
        for instruction in arms.iter().flat_map(|arm| &arm.instructions) {
            instruction.move_before(switch);
        }
        for phi in phis {
            let [Some(below), Some(same), Some(above)] =
                arms.map(|arm| phi.incoming_from(arm.from))
            else {
                continue;
            };
            let others = place.select(is_equal, same, above);
            let chosen = place.select(is_less, below, others);
            let changed = phi.build_phi_before(phi);
            let is_of_arm = |from| arms.iter().any(|arm| arm.from == from);
            let incoming = phi.incoming().into_iter();
            for (value, from) in incoming.filter(|(_, from)| !is_of_arm(*from)) {
                changed.add_incoming(value, from);
            }
            changed.add_incoming(chosen, block);
            phi.replace_by(changed);
        }
        let mut before = switch.successors();
        // Its phis have been made anew.
        before.retain(|to| *to != end);
        block.replace_edges(before, &[]);
        // No thread comes to the arms any more.
        for arm in arms.iter().filter(|arm| arm.from != block) {
            if let Some(jump) = arm.from.terminator() {
                jump.erase();
            }
            arm.from.push_unreachable();
        }
        let location = switch.debug_location();
        switch.erase();
        let jump = block.push_jump(end);
        if let Some(location) = location {
            jump.set_debug_location(location);
        }
        true
    }

    /// Those of less and of greater.
    fn predicates(&self) -> [i32; 2] {
        match self.is_signed {
            true => [predicate::SIGNED_LESS, predicate::SIGNED_GREATER],
            false => [predicate::LESS, predicate::GREATER],
        }
    }

    /// Makes branches of it.
    fn decide(self, function: Value<'c>) {
        let (switch, left, right) = (self.switch, self.left, self.right);
        let (less, equal, greater) = (self.less, self.equal, self.greater);
        let [below, above] = self.predicates();
        let block = switch.block();
        let before = switch.successors();
        let location = switch.debug_location();
        let compare = |predicate| Place::before(switch).comparison(predicate, left, right);
        // Which block leads where from now on, and what is new.
        let mut edges = Vec::new();
        let mut made = Vec::new();
        let mut branch = |from: Block<'c>, condition, yes, no| {
            edges.extend([(from, yes), (from, no)]);
            made.push(from.push_branch(condition, yes, no));
        };
        if less == equal && equal == greater {
            switch.erase();
            edges.push((block, less));
            made.push(block.push_jump(less));
        } else {
            let (condition, yes, no) = if equal == greater {
                (compare(below), less, equal)
            } else if less == equal {
                (compare(above), greater, less)
            } else if less == greater {
                (compare(predicate::EQUAL), equal, less)
            } else {
                let next = function.append_block();
                let is_equal = next.push_comparison(predicate::EQUAL, left, right);
                branch(next, is_equal, equal, greater);
                (compare(below), less, next)
            };
            switch.erase();
            branch(block, condition, yes, no);
        }
        if let Some(location) = location {
            made.iter().for_each(|new| new.set_debug_location(location));
        }
        block.replace_edges(before, &edges);
    }
}

/// What a thread does on one of the ways, before it comes to where all of them meet.
struct Arm<'c> {
    /// The block that leads there: the switch's own, if there is nothing to do.
    from: Block<'c>,
    instructions: Vec<Value<'c>>,
    end: Block<'c>,
}

impl<'c> Arm<'c> {
    fn of(way: Block<'c>, switch: Block<'c>, leading: &HashMap<Block<'c>, usize>) -> Arm<'c> {
        let mut instructions = way.instructions();
        let jump = instructions.pop();
        let ends = jump.map(Value::successors).unwrap_or_default();
        let is_cheap = |i: &Value<'c>| {
            i.is_plain_arithmetic() || i.is_resizing() || CHEAP.contains(&i.opcode())
        };
        match ends[..] {
            [end]
                if jump.is_some_and(|jump| jump.opcode() == opcode::BRANCH)
                    && leading.get(&way) == Some(&1)
                    && instructions.iter().all(is_cheap) =>
            {
                Arm {
                    from: way,
                    instructions,
                    end,
                }
            }
            _ => Arm {
                from: switch,
                instructions: Vec::new(),
                end: way,
            },
        }
    }

    fn cost(&self) -> usize {
        let cost = self.instructions.iter().filter(|i| !i.is_resizing());
        cost.count()
    }
}

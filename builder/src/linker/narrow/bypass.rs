//! Divisions of 64-bit numbers that are small when the kernel runs.
//!
//! A GPU divides numbers of 32 bits in a third of the instructions. LLVM's code generator tests both operands of each division by itself, in a
//! branch of its own; here one test decides about all divisions of a block that do not wait for anything else. Where bounds prove that
//! the operands are small there is no test. A number that is proven small by one that turns out not to be is 0, and the remainder is the number.
//! The divisions of 64 bits that are left are inline assembly: LLVM would test their operands again.

use super::bounds::{self, MOST_OF_32};
use super::dominators::Dominators;
use crate::llvm::{Block, Place, Value, ValueKind, opcode, predicate};

/// How many operations may be moved before a division for one of its operands.
const DEPTH: u32 = 4;

/// Whether a division or remainder is one that the code generator would make a test for.
pub(super) fn is_slow(instruction: Value<'_>) -> bool {
    kind(instruction).is_some()
        && instruction.integer_bits() == Some(64)
        && (0..2).all(|n| {
            let number = instruction.operand(n).and_then(Value::as_integer);
            number.is_none_or(|number| n == 0 && number <= MOST_OF_32)
        })
}

/// What a division is of small numbers, and its name in PTX.
fn kind(instruction: Value<'_>) -> Option<(i32, &'static str)> {
    match instruction.opcode() {
        opcode::UDIV => Some((opcode::UDIV, "div.u64")),
        opcode::SDIV => Some((opcode::UDIV, "div.s64")),
        opcode::UREM => Some((opcode::UREM, "rem.u64")),
        opcode::SREM => Some((opcode::UREM, "rem.s64")),
        _ => None,
    }
}

/// Narrows all of a function.
pub(super) fn run(function: Value<'_>) {
    narrow(function);
    while let Some(group) = Group::next(function) {
        group.bypass(function);
    }
}

/// Narrows the divisions whose operands are small for certain.
fn narrow(function: Value<'_>) {
    let dominators = Dominators::of(function);
    let mut slow = dominators.instructions();
    slow.retain(|i| is_slow(*i));
    for division in slow {
        let operands = [division.operand(0), division.operand(1)];
        let ([Some(left), Some(right)], Some((operation, _))) = (operands, kind(division)) else {
            continue;
        };
        let is_small = |value| is_small(value, division.block(), &dominators);
        if is_small(left) && is_small(right) {
            let place = Place::before(division);
            let (left, right) = (place.resized(left, 32), place.resized(right, 32));
            let result = place.binary(operation, left, right);
            division.replace_by(place.resized(result, 64));
        }
    }
}

fn is_small<'c>(value: Value<'c>, block: Block<'c>, dominators: &Dominators<'c>) -> bool {
    bounds::most_at(value, block, dominators).is_some_and(|most| most <= MOST_OF_32)
}

/// Divisions of one block that are made together, before everything else from the first one on.
struct Group<'c> {
    block: Block<'c>,
    divisions: Vec<Value<'c>>,
    /// What their operands take that stands behind the first one, in order.
    moved: Vec<Value<'c>>,
    /// What has to be small.
    tested: Vec<Value<'c>>,
}

impl<'c> Group<'c> {
    fn next(function: Value<'c>) -> Option<Group<'c>> {
        let dominators = Dominators::of(function);
        let blocks = function.blocks().into_iter();
        let mut reachable = blocks.filter(|block| dominators.is_reachable(*block));
        reachable.find_map(|block| Group::of(block, &dominators))
    }

    fn of(block: Block<'c>, dominators: &Dominators<'c>) -> Option<Group<'c>> {
        let instructions = block.instructions();
        let start = instructions.iter().position(|i| is_slow(*i))?;
        let rest = &instructions[start..];
        let mut group = Group {
            block,
            divisions: Vec::new(),
            moved: Vec::new(),
            tested: Vec::new(),
        };
        for &instruction in rest {
            if !goes_on(instruction) {
                break;
            }
            if is_slow(instruction) {
                group.join(instruction, rest);
            }
        }
        for division in &group.divisions {
            for operand in (0..2).filter_map(|n| division.operand(n)) {
                let is_known = group.divisions.contains(&operand)
                    || group.tested.contains(&operand)
                    || is_small(operand, block, dominators);
                if !is_known {
                    group.tested.push(operand);
                }
            }
        }
        // Never without the first one, so there is always one less.
        (!group.divisions.is_empty()).then_some(group)
    }

    /// Takes a division in, if what its operands take can be moved before the first one.
    fn join(&mut self, division: Value<'c>, rest: &[Value<'c>]) {
        let mut moved = self.moved.clone();
        let can_join = (0..2).all(|n| {
            let operand = division.operand(n);
            operand.is_some_and(|operand| self.can_move(operand, rest, &mut moved, DEPTH))
        });
        if can_join {
            self.divisions.push(division);
            self.moved = moved;
        }
    }

    fn can_move(
        &self,
        value: Value<'c>,
        rest: &[Value<'c>],
        moved: &mut Vec<Value<'c>>,
        depth: u32,
    ) -> bool {
        if !rest.contains(&value) || moved.contains(&value) {
            return true;
        }
        // Of a quotient itself it is known that it is small, but not of what is made of it.
        if self.divisions.contains(&value) {
            return depth == DEPTH;
        }
        let Some(depth) = depth.checked_sub(1).filter(|_| is_plain(value)) else {
            return false;
        };
        let operands = (0..value.operand_count()).map(|n| value.operand(n));
        let can_move = operands
            .flatten()
            .all(|operand| self.can_move(operand, rest, moved, depth));
        if can_move {
            moved.push(value);
        }
        can_move
    }

    fn bypass(self, function: Value<'c>) {
        let Some(&first) = self.divisions.first() else {
            return;
        };
        let location = first.debug_location();
        let head = self.block.split_before(first, function);
        for value in &self.moved {
            head.push_moved(*value);
        }
        let arms = [true, false].map(|is_small| {
            let arm = function.append_block();
            let jump = arm.push_jump(self.block);
            if let Some(location) = location {
                jump.set_debug_location(location);
            }
            (arm, self.results(Place::before(jump), is_small))
        });
        let [(fast, small), (slow, wide)] = arms;
        let tested = self.tested.iter().copied();
        let all = tested.reduce(|all, one| head.push_binary(opcode::OR, all, one));
        match all {
            Some(all) => {
                // Not compared with a limit: this looks at the upper word alone.
                let upper = Value::integer_like(!MOST_OF_32, all);
                let upper = head.push_binary(opcode::AND, all, upper);
                let zero = Value::integer_like(0, all);
                let fits = head.push_comparison(predicate::EQUAL, upper, zero);
                // Of poison, a quotient is poison in both arms.
                head.push_branch(head.push_freeze(fits), fast, slow);
            }
            None => {
                head.push_jump(fast);
            }
        }
        for ((division, small), wide) in self.divisions.iter().zip(small).zip(wide) {
            let phi = first.build_phi_before(*division);
            phi.add_incoming(small, fast);
            phi.add_incoming(wide, slow);
            division.replace_uses_with(phi);
        }
        for division in self.divisions {
            division.erase();
        }
    }

    /// Whether a division has a divisor that is not small where anything is not, of a number that is small.
    fn is_by_great(&self, division: Value<'c>) -> bool {
        let operands = division.operand(0).zip(division.operand(1));
        operands.is_some_and(|(left, right)| {
            let is_small = left != right && !self.divisions.contains(&left);
            division.is_unsigned_division() && is_small && self.tested == [right]
        })
    }

    /// The quotients and remainders, of 32 bits or of 64.
    fn results(&self, place: Place<'c>, is_small: bool) -> Vec<Value<'c>> {
        let mut results: Vec<Value<'c>> = Vec::new();
        for division in &self.divisions {
            let Some((operation, name)) = kind(*division) else {
                continue;
            };
            let operands = (0..2).filter_map(|n| division.operand(n));
            let operands: Vec<_> = operands
                .map(|operand| {
                    let known = self.divisions.iter().position(|other| *other == operand);
                    known.map_or(operand, |n| results[n])
                })
                .collect();
            let [left, right] = operands[..] else {
                continue;
            };
            results.push(match is_small {
                true => {
                    let (left, right) = (place.resized(left, 32), place.resized(right, 32));
                    place.resized(place.binary(operation, left, right), 64)
                }
                false if self.is_by_great(*division) => match operation {
                    opcode::UREM => left,
                    _ => place.constant(64, 0),
                },
                false => {
                    let text = format!("{name} $0, $1, $2;");
                    place.pure_assembly(&text, "=l,l,l", left.ty(), &[left, right])
                }
            });
        }
        results
    }
}

/// Whether what follows an instruction is executed whenever it is.
fn goes_on(instruction: Value<'_>) -> bool {
    const PLAIN: [&str; 7] = [
        "llvm.assume",
        "llvm.sideeffect",
        "llvm.experimental.noalias.scope.decl",
        "llvm.umin.",
        "llvm.umax.",
        "llvm.smin.",
        "llvm.nvvm.read.ptx.sreg.",
    ];
    !instruction.is_call() || instruction.is_call_of(&PLAIN)
}

/// Whether an instruction only computes a number, and may be computed earlier.
fn is_plain(value: Value<'_>) -> bool {
    const PLAIN: [i32; 11] = [
        opcode::ADD,
        opcode::SUB,
        opcode::MUL,
        opcode::SHL,
        opcode::LSHR,
        opcode::AND,
        opcode::OR,
        opcode::ZEXT,
        opcode::TRUNC,
        opcode::ICMP,
        opcode::SELECT,
    ];
    value.kind() == ValueKind::Instruction && PLAIN.contains(&value.opcode())
}

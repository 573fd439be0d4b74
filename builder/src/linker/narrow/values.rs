//! What numbers the values of a function can be, by their own arithmetic and by the comparisons on the way to a block.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cell::{Cell, RefCell};

use super::dominators::Dominators;
use super::ranges::Range;
use super::rounds::Counter;
use crate::linker::branch_values::LENGTH;
use crate::llvm::{Attribute, Block, Value, ValueKind, opcode, predicate};

/// How many operations are looked through.
const DEPTH: u32 = 12;

/// How many dominators are asked what is known on the way from them.
const BLOCKS: u32 = 32;

/// How many values are looked at for one.
const MOST: u32 = 500;

/// How deep a condition is taken apart.
const PARTS: u32 = 8;

/// The operations of two numbers of which something is known.
const OPERATIONS: [i32; 10] = [
    opcode::ADD,
    opcode::SUB,
    opcode::MUL,
    opcode::SHL,
    opcode::LSHR,
    opcode::UDIV,
    opcode::UREM,
    opcode::AND,
    opcode::OR,
    opcode::XOR,
];

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

    fn of_parameter(&self, value: Value<'c>) -> Option<Range> {
        let (function, number) = value.as_parameter()?;
        let length = function.text_attribute(Attribute::Parameter(number), LENGTH)?;
        Some(Range::new(0, length.parse().ok()?))
    }

    /// What the operation says; a result that is no number of the type may wrap around.
    fn of_instruction(
        &self,
        value: Value<'c>,
        bits: u32,
        block: Block<'c>,
        depth: u32,
    ) -> Option<Range> {
        let operand = |n| self.operand(value, n, block, depth);
        match value.opcode() {
            opcode::ZEXT => {
                let narrow = operand(0)?;
                let from = bits_of(value.operand(0)?)?;
                // What is negative all the same is poison.
                Some(match value.is_of_non_negative() && from > 1 {
                    true => narrow.and(Range::new(0, (1 << (from - 1)) - 1)),
                    false => narrow,
                })
            }
            opcode::SEXT => {
                let narrow = operand(0)?;
                let half = 1_i128 << (bits_of(value.operand(0)?)? - 1);
                match narrow.high < half {
                    true => Some(narrow),
                    false => (bits == 64).then_some(Range::new(-half, half - 1)),
                }
            }
            opcode::TRUNC => operand(0),
            opcode::SELECT => {
                let condition = value.operand(0)?;
                let side = |n: u32| {
                    let side = value.operand(n)?;
                    let range = self.operand(value, n, block, depth)?;
                    Some(self.if_so(condition, n == 1, range, side, block, PARTS, depth))
                };
                Some(side(1)?.union(side(2)?))
            }
            opcode::PHI => {
                let here = value.block();
                // First: what a round makes of a counter would know nothing of it yet.
                let counted = self.counted(value, bits, depth);
                if let Some(counted) = counted.filter(|range| range.is_in(Range::of_type(bits))) {
                    return Some(counted);
                }
                let ranges = value.incoming().into_iter().map(|(incoming, from)| {
                    self.dominators.is_reachable(from).then(|| {
                        let range = self.range(incoming, bits, from, depth);
                        self.on_edge(range, incoming, from, here, depth)
                    })
                });
                ranges.flatten().reduce(Range::union)
            }
            opcode::CALL => {
                let name = value.callee()?.name();
                let is = |intrinsic: &str| name.starts_with(intrinsic);
                if is("llvm.nvvm.read.ptx.sreg.") {
                    return special_register(&name);
                }
                let least = |a: Range, b: Range| Range::new(a.low.min(b.low), a.high.min(b.high));
                let most = |a: Range, b: Range| Range::new(a.low.max(b.low), a.high.max(b.high));
                let half = Range::new(-1 << (bits - 1), (1 << (bits - 1)) - 1);
                let is_unsigned = |range: Range| range.is_non_negative();
                let is_signed = |range: Range| range.is_in(half);
                if is("llvm.umin.") {
                    let ends = [operand(0)?, operand(1)?].into_iter();
                    let high = ends.clone().filter(|range| is_unsigned(*range));
                    let both = ends.reduce(least).filter(|both| is_unsigned(*both));
                    let one = high.map(|range| Range::new(0, range.high)).next();
                    both.or(one)
                } else if is("llvm.usub.sat.") {
                    let (a, b) = (operand(0)?, operand(1)?);
                    let low = if is_unsigned(b) { a.low - b.high } else { 0 };
                    is_unsigned(a).then(|| Range::new(low.max(0), a.high))
                } else {
                    let (a, b) = (operand(0)?, operand(1)?);
                    if is("llvm.umax.") && is_unsigned(a) && is_unsigned(b) {
                        Some(most(a, b))
                    } else if is("llvm.smin.") && is_signed(a) && is_signed(b) {
                        Some(least(a, b))
                    } else if is("llvm.smax.") && is_signed(a) && is_signed(b) {
                        Some(most(a, b))
                    } else {
                        None
                    }
                }
            }
            // Not of `freeze`: it is any number where its operand is poison, and a range may say nothing of that.
            operation if OPERATIONS.contains(&operation) => {
                let (a, b) = (operand(0)?, operand(1)?);
                if let Some(divided) = Divided::of(value) {
                    let operand = |value| self.range(value, bits, block, depth);
                    return divided.range(operand(divided.dividend), operand(divided.divisor));
                }
                if operation == opcode::SUB && value.never_wraps() && a.is_non_negative() {
                    return Some(Range::new(0.max(a.low - b.high), a.high));
                }
                a.combined(operation, b)
            }
            _ => None,
        }
    }

    /// What a counter is in the rounds of a loop that some counter ends.
    fn counted(&self, phi: Value<'c>, bits: u32, depth: u32) -> Option<Range> {
        let counter = Counter::of(phi, self.dominators)?;
        let mut ends = counter.beside(self.dominators).into_iter();
        let (rounds, last) = ends.find_map(|other| {
            let end = other.end(self.dominators)?;
            let bits = bits_of(end.number)?;
            let start = self.start(&other, bits, depth);
            let limit = self.range(end.number, bits, other.before, depth);
            let limit = self.on_edge(limit, end.number, other.before, phi.block(), depth);
            let order = other.order(&end);
            let is_ordered = order.is_decided(other.before, phi.block(), self.dominators);
            let rounds = other.most_rounds(&end, (start, limit, is_ordered))?;
            let last = other.is(&counter).then(|| other.last(&end, start, limit));
            Some((rounds, last))
        })?;
        let range = counter.range(self.start(&counter, bits, depth), rounds);
        Some(Range::new(
            range.low,
            range.high.min(last.unwrap_or(range.high)),
        ))
    }

    fn start(&self, counter: &Counter<'c>, bits: u32, depth: u32) -> Range {
        let range = self.range(counter.start, bits, counter.before, depth);
        self.on_edge(
            range,
            counter.start,
            counter.before,
            counter.header(),
            depth,
        )
    }

    /// With what is known on the way to a block.
    fn refined(&self, mut range: Range, value: Value<'c>, block: Block<'c>, depth: u32) -> Range {
        let mut edges = Vec::new();
        let mut at = block;
        for _ in 0..BLOCKS {
            let Some(above) = self.dominators.above(at) else {
                break;
            };
            // Nothing else leads here, so the branch was taken this way. The nearest dominator is then the block before.
            if self.dominators.entered_from(at) == Some(above) {
                edges.push((above, at));
            }
            at = above;
        }
        // Twice: that a number is not zero says more of one that is known not to be negative.
        for (from, to) in edges.repeat(2) {
            range = self.on_edge(range, value, from, to, depth);
        }
        range
    }

    /// With what the branch at the end of `from` decides on the way to `to`.
    fn on_edge(
        &self,
        range: Range,
        value: Value<'c>,
        from: Block<'c>,
        to: Block<'c>,
        depth: u32,
    ) -> Range {
        let branch = from.terminator();
        let branch = branch.filter(|i| i.opcode() == opcode::BRANCH);
        let Some((branch, [yes, no])) = branch.and_then(|branch| {
            let ways: [Block<'c>; 2] = branch.successors().try_into().ok()?;
            Some((branch, ways))
        }) else {
            return range;
        };
        match branch.operand(0) {
            Some(condition) if yes != no => {
                self.if_so(condition, yes == to, range, value, from, PARTS, depth)
            }
            _ => range,
        }
    }

    /// With what is known where `condition` is `holds`.
    #[allow(clippy::too_many_arguments)]
    fn if_so(
        &self,
        condition: Value<'c>,
        holds: bool,
        range: Range,
        value: Value<'c>,
        block: Block<'c>,
        parts: u32,
        depth: u32,
    ) -> Range {
        let Some(parts) = parts.checked_sub(1) else {
            return range;
        };
        if condition.kind() != ValueKind::Instruction {
            return range;
        }
        let operand = |n| condition.operand(n);
        let both = |range, a: Option<Value<'c>>, b: Option<Value<'c>>| {
            [a, b].into_iter().flatten().fold(range, |range, part| {
                self.if_so(part, holds, range, value, block, parts, depth)
            })
        };
        let constant = |n| operand(n).and_then(Value::as_integer);
        match condition.opcode() {
            opcode::AND if holds => both(range, operand(0), operand(1)),
            opcode::OR if !holds => both(range, operand(0), operand(1)),
            // `a && b` and `a || b` without the computation of `b`.
            opcode::SELECT if holds && constant(2) == Some(0) => {
                both(range, operand(0), operand(1))
            }
            opcode::SELECT if !holds && constant(1) == Some(1) => {
                both(range, operand(0), operand(2))
            }
            opcode::ICMP => self.compared(condition, holds, range, value, block, depth),
            _ => range,
        }
    }

    fn compared(
        &self,
        comparison: Value<'c>,
        holds: bool,
        range: Range,
        value: Value<'c>,
        block: Block<'c>,
        depth: u32,
    ) -> Range {
        let side = |n| comparison.operand(n);
        let (Some(left), Some(right)) = (side(0), side(1)) else {
            return range;
        };
        let Some(bits) = bits_of(left) else {
            return range;
        };
        let mut range = range;
        let sides = [
            (left, right, comparison.predicate()),
            (right, left, swapped(comparison.predicate())),
        ];
        for (one, other, predicate) in sides {
            let predicate = if holds {
                predicate
            } else {
                inverted(predicate)
            };
            let Some(relation) = Relation::between(one, value) else {
                continue;
            };
            let limit = self.range(other, bits, block, depth);
            range = match relation {
                Relation::Same => range.compared(predicate, limit, bits),
                // Each operand has some of the bits.
                Relation::Part => match Range::of_type(bits).compared(predicate, limit, bits) {
                    whole if whole.is_non_negative() && predicate != predicate::NOT_EQUAL => {
                        range.and(Range::new(0, whole.high))
                    }
                    _ => range,
                },
                Relation::Before(constant) => {
                    match Range::of_type(bits).compared(predicate, limit, bits) {
                        number if number.is_signed_32() || number.is_unsigned_32() => {
                            range.and(Range::new(number.low + constant, number.high + constant))
                        }
                        _ => range,
                    }
                }
                Relation::Sum(constant) => {
                    match Range::of_type(bits).compared(predicate, limit, bits) {
                        // The sum may wrap around, but what it was made of is a number of the type, too.
                        sum if sum.is_signed_32() || sum.is_unsigned_32() => {
                            range.and(Range::new(sum.low - constant, sum.high - constant))
                        }
                        _ => range,
                    }
                }
            };
        }
        range
    }
}

/// `x / y * y` or `x - x / y * y`.
struct Divided<'c> {
    dividend: Value<'c>,
    divisor: Value<'c>,
    is_remainder: bool,
}

impl<'c> Divided<'c> {
    fn of(value: Value<'c>) -> Option<Divided<'c>> {
        let product = match value.opcode() {
            opcode::SUB => value.operand(1)?,
            _ => value,
        };
        if product.kind() != ValueKind::Instruction || product.opcode() != opcode::MUL {
            return None;
        }
        let (one, other) = (product.operand(0)?, product.operand(1)?);
        let quotient_by = |quotient: Value<'c>, divisor| {
            let is_quotient = quotient.kind() == ValueKind::Instruction
                && quotient.opcode() == opcode::UDIV
                && quotient.operand(1) == Some(divisor);
            let dividend = is_quotient.then(|| quotient.operand(0)).flatten()?;
            Some((dividend, divisor))
        };
        let (dividend, divisor) = quotient_by(one, other).or_else(|| quotient_by(other, one))?;
        let is_remainder = product != value;
        (!is_remainder || value.operand(0) == Some(dividend)).then_some(Divided {
            dividend,
            divisor,
            is_remainder,
        })
    }

    /// Where the divisor is not zero.
    fn range(&self, dividend: Range, divisor: Range) -> Option<Range> {
        match self.is_remainder {
            true => dividend.combined(opcode::UREM, divisor),
            false => dividend
                .is_non_negative()
                .then(|| Range::new(0, dividend.high)),
        }
    }
}

/// What an operand of a comparison has to do with a value.
enum Relation {
    Same,
    /// An `or` of the value and others, or the maximum of them.
    Part,
    /// The value of 64 bits and a small constant.
    Sum(i128),
    /// A number of 64 bits of which the value is the sum with a small constant.
    Before(i128),
}

impl Relation {
    fn between<'c>(operand: Value<'c>, value: Value<'c>) -> Option<Relation> {
        if operand == value {
            return Some(Relation::Same);
        }
        let added = |sum: Value<'c>| {
            let is_sum = sum.kind() == ValueKind::Instruction
                && sum.opcode() == opcode::ADD
                && bits_of(sum) == Some(64);
            let constant = is_sum.then(|| sum.operand(1)).flatten()?.as_integer()? as i64;
            let is_small = constant.unsigned_abs() < SHORT;
            is_small.then_some((sum.operand(0)?, i128::from(constant)))
        };
        if let Some((_, constant)) = added(value).filter(|(number, _)| *number == operand) {
            return Some(Relation::Before(constant));
        }
        if let Some((_, constant)) = added(operand).filter(|(number, _)| *number == value) {
            return Some(Relation::Sum(constant));
        }
        is_part(operand, value, PARTS).then_some(Relation::Part)
    }
}

/// Whether a number is not less than a value, as an `or` or a maximum of it.
fn is_part<'c>(whole: Value<'c>, value: Value<'c>, depth: u32) -> bool {
    let is_whole = |whole: Value<'c>| match whole.opcode() {
        opcode::OR => true,
        opcode::CALL => {
            let callee = whole.callee().map(Value::name).unwrap_or_default();
            callee.starts_with("llvm.umax.")
        }
        _ => false,
    };
    whole == value
        || depth.checked_sub(1).is_some_and(|depth| {
            whole.kind() == ValueKind::Instruction
                && is_whole(whole)
                && (0..2).any(|n| {
                    let operand = whole.operand(n);
                    operand.is_some_and(|operand| is_part(operand, value, depth))
                })
        })
}

/// The range of what a special register says.
fn special_register(intrinsic: &str) -> Option<Range> {
    let register = intrinsic.strip_prefix("llvm.nvvm.read.ptx.sreg.")?;
    let most = match register.split('.').next()? {
        "tid" => 1023,
        "ntid" => 1024,
        "laneid" => 31,
        "ctaid" | "nctaid" => i32::MAX.into(),
        _ => return None,
    };
    Some(Range::new(0, most))
}

/// The predicate of the operands the other way round.
fn swapped(predicate: i32) -> i32 {
    use predicate::*;
    match predicate {
        LESS => GREATER,
        LESS_OR_EQUAL => GREATER_OR_EQUAL,
        GREATER => LESS,
        GREATER_OR_EQUAL => LESS_OR_EQUAL,
        SIGNED_LESS => SIGNED_GREATER,
        SIGNED_LESS_OR_EQUAL => SIGNED_GREATER_OR_EQUAL,
        SIGNED_GREATER => SIGNED_LESS,
        SIGNED_GREATER_OR_EQUAL => SIGNED_LESS_OR_EQUAL,
        same => same,
    }
}

/// The predicate that holds where this one does not.
fn inverted(predicate: i32) -> i32 {
    use predicate::*;
    match predicate {
        EQUAL => NOT_EQUAL,
        NOT_EQUAL => EQUAL,
        LESS => GREATER_OR_EQUAL,
        LESS_OR_EQUAL => GREATER,
        GREATER => LESS_OR_EQUAL,
        GREATER_OR_EQUAL => LESS,
        SIGNED_LESS => SIGNED_GREATER_OR_EQUAL,
        SIGNED_LESS_OR_EQUAL => SIGNED_GREATER,
        SIGNED_GREATER => SIGNED_LESS_OR_EQUAL,
        _ => SIGNED_LESS,
    }
}

/// The width of an integer of at most 64 bits.
fn bits_of(value: Value<'_>) -> Option<u32> {
    let bits = value.integer_bits().filter(|bits| (1..=64).contains(bits));
    bits.filter(|_| !value.is_pointer())
}

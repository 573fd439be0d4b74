//! What numbers an operation, a parameter or a counter gives, by the ranges of what it is made of.

use super::divided::Divided;
use super::{Values, bits_of};
use crate::linker::branch_values::most_length;
use crate::linker::narrow::ranges::Range;
use crate::linker::narrow::rounds::Counter;
use crate::llvm::{Block, Value, ValueKind, opcode};

impl<'c> Values<'_, 'c> {
    pub(super) fn of_parameter(&self, value: Value<'c>) -> Option<Range> {
        let (function, number) = value.as_parameter()?;
        Some(Range::new(0, most_length(function, number)?.into()))
    }

    /// What the operation says; a result that is no number of the type may wrap around.
    pub(super) fn of_instruction(
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
                    Some(self.if_so(condition, n == 1, range, side, block, depth))
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
                if let Some(fallen) = self.fallen(value, bits, depth) {
                    return Some(fallen);
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
            operation if opcode::UNSIGNED_ARITHMETIC.contains(&operation) => {
                let (a, b) = (operand(0)?, operand(1)?);
                if let Some(divided) = Divided::of(value) {
                    let operand = |value| Some(self.range(value, bits_of(value)?, block, depth));
                    return divided.range(operand(divided.dividend)?, operand(divided.divisor)?);
                }
                if operation == opcode::SUB && value.never_wraps() && a.is_non_negative() {
                    return Some(Range::new(0.max(a.low - b.high), a.high));
                }
                let is_sum = operation == opcode::OR && value.is_disjoint();
                let sum = || is_sum.then(|| a.combined(opcode::ADD, b)).flatten();
                a.combined(operation, b).or_else(sum)
            }
            _ => None,
        }
    }

    /// What a counter is in the rounds of a loop that some counter ends.
    fn counted(&self, phi: Value<'c>, bits: u32, depth: u32) -> Option<Range> {
        let counter = Counter::of(phi, self.dominators)?;
        let mut ends = counter.beside(self.dominators).into_iter();
        let (rounds, last, least) = ends.find_map(|other| {
            let end = other.end(self.dominators)?;
            let bits = bits_of(end.number)?;
            let start = self.start(&other, bits, depth);
            let limit = self.range(end.number, bits, other.before, depth);
            let limit = self.on_edge(limit, end.number, other.before, phi.block(), depth);
            let order = other.order(&end);
            let is_ordered = order.is_decided(other.before, phi.block(), self.dominators);
            let rounds = other.most_rounds(&end, (start, limit, is_ordered))?;
            let last = other.is(&counter).then(|| other.last(&end, start, limit));
            let least = other
                .is(&counter)
                .then(|| other.least(&end, limit))
                .flatten();
            Some((rounds, last, least))
        })?;
        let range = counter.range(self.start(&counter, bits, depth), rounds);
        Some(Range::new(
            range.low.max(least.unwrap_or(range.low)),
            range.high.min(last.unwrap_or(range.high)),
        ))
    }

    /// Whether a number is what a loop counts, until it is another one, and begins with none above that.
    pub(super) fn is_below_end(
        &self,
        phi: Value<'c>,
        end: Value<'c>,
        bits: u32,
        depth: u32,
    ) -> bool {
        let is_phi = phi.kind() == ValueKind::Instruction && phi.opcode() == opcode::PHI;
        let Some(counter) = is_phi.then(|| Counter::of(phi, self.dominators)).flatten() else {
            return false;
        };
        let found = counter.end(self.dominators);
        let Some(found) = found.filter(|found| counter.counts_to(found, end)) else {
            return false;
        };
        let start = self.start(&counter, bits, depth);
        let limit = self.range(end, bits, counter.before, depth);
        let order = counter.order(&found);
        start.is_non_negative()
            && limit.is_non_negative()
            && (start.high <= limit.low
                || order.is_decided(counter.before, phi.block(), self.dominators))
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

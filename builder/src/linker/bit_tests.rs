//! Which of two ways a number leads, by a bit of a word.
//!
//! ```text
//! switch byte, other [9: blank, 10: blank,          bits = shr.u32 0x80001b, byte - 9
//!                     12: blank, 13: blank,         branch bits & 1, blank, other
//!                     32: blank]
//! ```
//!
//! `byte.is_ascii_whitespace()`. LLVM's code generator makes a bit of it as well, but of numbers that are counted from zero on, if they are below 64: then it
//! takes words of 64 bits, which a GPU shifts in two instructions, and first compares the number, as its shift has no result of 64 places or more. PTX's gives
//! zero for any number of places that a word does not have.

use crate::llvm::{Block, Module, Place, Value, opcode, predicate};

/// The bits of a word.
const BITS: u64 = 32;

/// How many instructions the comparisons take that a bit is worth. The bit takes three: a difference, the shift, and the test.
const LEAST_COMPARISONS: usize = 3;

/// Replaces all such switches.
pub(super) fn make(module: &Module<'_>) {
    for function in module.functions() {
        for block in function.blocks() {
            if let Some(test) = BitTest::of(block) {
                test.replace();
            }
        }
    }
}

/// A switch between two ways.
struct BitTest<'c> {
    switch: Value<'c>,
    number: Value<'c>,
    default: Block<'c>,
    other: Block<'c>,
    /// The least number that leads to the other way.
    least: u64,
    /// Which numbers lead there: bit `n` stands for `least + n`.
    word: u64,
}

impl<'c> BitTest<'c> {
    fn of(block: Block<'c>) -> Option<BitTest<'c>> {
        let switch = block.terminator()?;
        if switch.opcode() != opcode::SWITCH {
            return None;
        }
        let number = switch.operand(0)?;
        let default = *switch.successors().first()?;
        if number.integer_bits()? > BITS as u32 || default.is_unreachable() {
            return None;
        }
        let mut cases = switch.cases();
        cases.retain(|(_, to)| *to != default);
        let (_, other) = *cases.first()?;
        if cases.iter().any(|(_, to)| *to != other) {
            return None;
        }
        let numbers = cases.iter().map(|(number, _)| number.as_integer());
        let mut numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
        numbers.sort_unstable();
        let least = *numbers.first()?;
        let is_short = numbers.iter().all(|number| number - least < BITS);
        (is_short && is_worth_it(&numbers)).then(|| BitTest {
            switch,
            number,
            default,
            other,
            least,
            word: numbers.iter().fold(0, |word, n| word | 1 << (n - least)),
        })
    }

    fn replace(self) {
        let block = self.switch.block();
        let place = Place::before(self.switch);
        let number = place.resized(self.number, BITS as u32);
        let places = match self.least {
            0 => number,
            least => place.binary(opcode::SUB, number, Value::integer_like(least, number)),
        };
        let word = Value::integer_like(self.word, number);
        let shift = "shr.u32 $0, $1, $2;";
        let bits = place.pure_assembly(shift, "=r,n,r", number.ty(), &[word, places]);
        let bit = place.binary(opcode::AND, bits, Value::integer_like(1, number));
        let is_other = place.comparison(predicate::NOT_EQUAL, bit, Value::integer_like(0, number));
        let before = self.switch.successors();
        let location = self.switch.debug_location();
        self.switch.erase();
        let branch = block.push_branch(is_other, self.other, self.default);
        if let Some(location) = location {
            branch.set_debug_location(location);
        }
        block.replace_edges(before, &[(block, self.other), (block, self.default)]);
    }
}

/// Whether the comparisons of sorted numbers take as many instructions as a bit: two for numbers that follow each other, one for one that stands alone. Those
/// of numbers that all follow each other are one comparison of a difference.
fn is_worth_it(numbers: &[u64]) -> bool {
    let ranges: Vec<_> = numbers.chunk_by(|one, next| one + 1 == *next).collect();
    let comparisons = ranges.iter().map(|range| range.len().min(2));
    ranges.len() > 1 && comparisons.sum::<usize>() >= LEAST_COMPARISONS
}

//! Brings forward what stands between two conditions of the same way, so that LLVM makes one branch of both.
//!
//! ```text
//! if d >= t && d - t < n { .. x[d - t] .. }
//! ```
//!
//! LLVM makes `d >= t & d - t < n` of that if what the second condition needs is used for it alone. Here it is used for the element, too. ptxas gives
//! the instructions behind one branch a predicate, and then brings the loads of all rounds to the front; of two branches only at times.

use crate::linker::loops::Loop;
use crate::llvm::{Block, Place, Value, opcode};

/// How many instructions are brought forward at most.
const MOST: usize = 2;

/// What is executed earlier in a loop's blocks.
pub(super) fn bring_forward(found: &Loop<'_>) {
    for &block in &found.blocks {
        let ways = block.successors();
        for &second in ways.iter().filter(|_| ways.len() == 2) {
            let is_second = found.blocks.contains(&second)
                && second != found.header
                && leading_to(found, second) == 1
                && second.successors().len() == 2
                && second.successors().iter().any(|to| ways.contains(to));
            if is_second {
                bring_to(block, second);
            }
        }
    }
}

/// Computes what is used behind the block `second`, too, at the end of the one before.
fn bring_to<'c>(before: Block<'c>, second: Block<'c>) {
    let mut all = second.instructions();
    let (Some(branch), Some(end)) = (all.pop(), before.terminator()) else {
        return;
    };
    let is_cheap = |i: &Value<'c>| matches!(i.opcode(), opcode::ADD | opcode::SUB);
    let condition = branch.operand(0);
    let (cheap, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(is_cheap);
    let is_alone = rest.iter().all(|i| Some(*i) == condition) && cheap.len() <= MOST;
    if branch.opcode() != opcode::BRANCH || !is_alone {
        return;
    }
    // Where the first condition does not hold it may wrap around, which the new ones are not said not to do.
    let place = Place::before(end);
    for old in cheap {
        if let (Some(left), Some(right)) = (old.operand(0), old.operand(1)) {
            old.replace_by(place.binary(old.opcode(), left, right));
        }
    }
}

fn leading_to<'c>(found: &Loop<'c>, block: Block<'c>) -> usize {
    let all = found.blocks.iter().flat_map(|block| block.successors());
    all.filter(|to| *to == block).count()
}

//! Two conditions that lead the same way decide one branch.
//!
//! ```text
//! if a {                              next = x + 1
//!     next = x + 1                    if a & next < n {
//!     if next < n { .. y[next] .. }       .. y[next] ..
//! }                                   }
//! ```
//!
//! LLVM's `simplifycfg` does it where nothing that stands between them is used elsewhere. A loop `while i < n && x * x + y * y < 4.0` then has one end,
//! not two, which all threads of a warp come to together; what is stored on both ways of several conditions is stored once; and ptxas gives the
//! instructions behind one branch a predicate. Branches to panics are left alone: `joined_checks` knows more of them.
//!
//! It runs before LLVM's pipeline, which turns loops round so that they test at their ends, and again behind passes of the linker's own that take away what
//! stood between two conditions.

use rustc_hash::FxHashMap as HashMap;

use crate::llvm::{Block, Module, Place, Value, opcode};

/// How many operations may be executed in vain where the first condition does not hold, besides the second condition itself.
const MOST: usize = 3;

/// Operations that may be executed in vain, and cost little, besides plain arithmetic.
const CHEAP: [i32; 7] = [
    opcode::ICMP,
    opcode::FCMP,
    opcode::FADD,
    opcode::FSUB,
    opcode::FMUL,
    opcode::SELECT,
    opcode::ASHR,
];

/// Joins all that it can.
pub(super) fn join(module: &Module<'_>) {
    for function in module.functions() {
        let leading = leading(function);
        for block in function.blocks() {
            join_at(block, &leading, MOST);
        }
    }
}

/// Joins the branches at the ends of blocks with the ones behind them, for each of which `most` operations are executed in vain.
pub(super) fn join_behind<'c>(function: Value<'c>, blocks: &[Block<'c>], most: usize) {
    let leading = leading(function);
    for block in blocks {
        join_at(*block, &leading, most);
    }
}

fn join_at<'c>(block: Block<'c>, leading: &HashMap<Block<'c>, usize>, most: usize) {
    while let Some(pair) = Pair::at(block, leading, most) {
        pair.join();
    }
}

/// How many edges lead to each block.
pub(super) fn leading(function: Value<'_>) -> HashMap<Block<'_>, usize> {
    let mut leading = HashMap::default();
    for to in function.blocks().into_iter().flat_map(Block::successors) {
        *leading.entry(to).or_default() += 1;
    }
    leading
}

/// Two blocks that end in a branch: the second one is reached from the first one alone, and both lead to `other`.
struct Pair<'c> {
    first: Block<'c>,
    second: Block<'c>,
    /// Where the second one leads if `other` is not taken.
    next: Block<'c>,
    other: Block<'c>,
}

impl<'c> Pair<'c> {
    /// The pair whose first block this is, if its branches may be joined.
    fn at(first: Block<'c>, leading: &HashMap<Block<'c>, usize>, most: usize) -> Option<Pair<'c>> {
        let [yes, no] = ways(first)?;
        [(yes, no), (no, yes)]
            .into_iter()
            .find_map(|(second, other)| {
                let next = match ways(second)? {
                    [one, next] | [next, one] if one == other => next,
                    _ => return None,
                };
                let pair = Pair {
                    first,
                    second,
                    next,
                    other,
                };
                let may_be_joined = second != first
                    && leading.get(&second) == Some(&1)
                    && ![next, other].contains(&second)
                    && other != first
                    && ![next, other].into_iter().any(Block::is_dead_end)
                    && pair.is_cheap(most)
                    && pair.is_same();
                may_be_joined.then_some(pair)
            })
    }

    /// Whether what the second block computes may be computed where it is not needed.
    fn is_cheap(&self, most: usize) -> bool {
        let mut all = self.second.instructions();
        all.pop();
        // These cost nothing.
        all.retain(|i| !i.is_resizing());
        let is_cheap = |i: &Value<'c>| i.is_plain_arithmetic() || CHEAP.contains(&i.opcode());
        // One is the second condition.
        all.len() <= most + 1 && all.iter().all(is_cheap)
    }

    /// Whether it makes no difference from which of the two blocks `other` is reached.
    fn is_same(&self) -> bool {
        let mut phis = self.other.phis().into_iter();
        phis.all(|phi| phi.incoming_from(self.first) == phi.incoming_from(self.second))
    }

    fn join(self) {
        let (Some(branch), Some(second)) = (self.first.terminator(), self.second.terminator())
        else {
            return;
        };
        let (Some(a), Some(b)) = (branch.operand(0), second.operand(0)) else {
            return;
        };
        let is_first = |branch: Value<'c>, way| branch.successors().first() == Some(&way);
        let (a_is_needed, b_is_needed) =
            (is_first(branch, self.second), is_first(second, self.next));
        // The second branch goes one way from now on; `simplifycfg` takes it away, and the entries of phis with it.
        let decided = Value::integer_like(b_is_needed.into(), b);
        second.set_operand(0, decided);
        branch.erase();
        let mut moved = self.second.instructions();
        moved.pop();
        moved.into_iter().for_each(|i| self.first.push_moved(i));
        let end = self.first.push_jump(self.second);
        let place = Place::before(end);
        let no = place.constant(1, 0);
        let holds = |condition, is_needed| match is_needed {
            true => condition,
            false => place.binary(opcode::XOR, condition, place.constant(1, 1)),
        };
        // Where the first one does not hold, the second one may be poison.
        let both = place.select(holds(a, a_is_needed), holds(b, b_is_needed), no);
        end.erase();
        self.first.push_branch(both, self.second, self.other);
    }
}

/// The two blocks to which a branch leads.
fn ways(block: Block<'_>) -> Option<[Block<'_>; 2]> {
    let branch = block.terminator()?;
    let ways: [Block<'_>; 2] = branch.successors().try_into().ok()?;
    let is_constant = || branch.operand(0).and_then(Value::as_integer).is_some();
    (branch.opcode() == opcode::BRANCH && ways[0] != ways[1] && !is_constant()).then_some(ways)
}

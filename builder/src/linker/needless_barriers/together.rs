//! Whether all threads of a block that are still there pass the same barriers in the same order, for certain.
//!
//! By induction over the barriers that a thread passes: threads that come to one together part only at branches on what they do not have in common.
//! From such a branch, whichever way they take, they must come to one barrier, or leave the kernel without passing any. They must also
//! have gone through as many rounds as each other then of each loop around both, as `uniform` asks of them: the ways from the branch go round either
//! never or once.

use std::collections::HashSet;

use super::segments::Segments;
use crate::linker::loops;
use crate::linker::uniform::Uniform;
use crate::llvm::{Block, Value, opcode};

/// Whether they do. The function has the form that LLVM's `lcssa` gives it.
pub(super) fn is_known<'c>(function: Value<'c>, segments: &Segments<'c>) -> bool {
    let uniform = Uniform::of(function);
    let loops = loops::all(function);
    let mut branches = (0..segments.all.len()).filter(|n| {
        let mut ways = segments.all[*n].next.iter();
        let first = ways.next();
        ways.any(|way| Some(way) != first)
    });
    branches.all(|branch| {
        if decides_alike(segments.all[branch].block, &uniform) {
            return true;
        }
        let ways = &segments.all[branch].next;
        let reached = segments.until_barriers(ways.iter().copied());
        let has_barrier = |n: &usize| segments.all[*n].barrier.is_some();
        let barrier = match *reached
            .iter()
            .copied()
            .filter(has_barrier)
            .collect::<Vec<_>>()
        {
            [] => return true,
            [barrier] => barrier,
            _ => return false,
        };
        loops.iter().all(|one| {
            let [at, to] = [branch, barrier].map(|n| segments.all[n].block);
            let header = segments.of_block(one.header);
            let is_around = one.blocks.contains(&at) && one.blocks.contains(&to);
            if !is_around || !reached.contains(&header) {
                return true;
            }
            let again = segments.until_barriers(segments.all[header].next.iter().copied());
            !again.contains(&header) && !reaches(segments, ways, barrier, header)
        })
    })
}

/// Whether all threads that come to the end of a block together take the same way there.
fn decides_alike<'c>(block: Block<'c>, uniform: &Uniform<'c>) -> bool {
    let end = block.terminator();
    let condition = end.filter(|end| end.opcode() == opcode::BRANCH);
    let condition = condition.and_then(|branch| branch.operand(0));
    condition.is_some_and(|condition| uniform.contains(condition))
}

/// Whether some way leads to a segment, without a barrier and not through another segment.
fn reaches(segments: &Segments<'_>, from: &[usize], to: usize, without: usize) -> bool {
    let mut seen = HashSet::from([without]);
    let mut open = from.to_vec();
    while let Some(n) = open.pop() {
        if seen.insert(n) {
            if n == to {
                return true;
            }
            open.extend(&segments.all[n].next);
        }
    }
    false
}

//! Where one of several cases is certain, the last one is not tested.
//!
//! ```text
//! switch x, nowhere [0: a, 1: b, 2: c]            switch x, c [0: a, 1: b]
//! nowhere: unreachable
//! ```
//!
//! A `match` of an enum is such a switch. LLVM's code generator knows that its default is not reached by the `unreachable` in it. Its PTX target puts an
//! `exit` there before it looks, without which ptxas would let the block fall through into the one behind it; so every case is tested, and
//! a thread for which all tests fail exits. It runs after all else, as LLVM's own passes use the certainty.

use rustc_hash::FxHashMap as HashMap;

use crate::llvm::{Block, Module, Value, opcode};

/// Gives all such switches a default.
pub(super) fn release(module: &Module<'_>) {
    for function in module.functions() {
        for block in function.blocks() {
            release_at(block);
        }
    }
}

fn release_at(block: Block<'_>) {
    let Some(switch) = block.terminator() else {
        return;
    };
    if switch.opcode() != opcode::SWITCH {
        return;
    }
    let (Some(value), Some(nowhere)) = (switch.operand(0), switch.successors().first().copied())
    else {
        return;
    };
    let mut cases = switch.cases();
    let Some(default) = nowhere
        .is_unreachable()
        .then(|| saves_most(&cases))
        .flatten()
    else {
        return;
    };
    let before = switch.successors();
    let location = switch.debug_location();
    switch.erase();
    cases.retain(|(_, to)| *to != default);
    let new = match cases.is_empty() {
        true => block.push_jump(default),
        false => block.push_switch(value, default, &cases),
    };
    if let Some(location) = location {
        new.set_debug_location(location);
    }
    // No longer to the default of before, and to the new one once.
    let now: Vec<_> = new.successors().into_iter().map(|to| (block, to)).collect();
    block.replace_edges(before, &now);
}

/// The block whose cases take most tests: ranges of numbers that follow each other are one. Of several, the one with the last case.
fn saves_most<'c>(cases: &[(Value<'c>, Block<'c>)]) -> Option<Block<'c>> {
    let mut numbers: Vec<(u64, Block<'c>)> = cases
        .iter()
        .map(|(number, to)| Some((number.as_integer()?, *to)))
        .collect::<Option<_>>()?;
    numbers.sort_by_key(|(number, _)| *number);
    let mut ranges: HashMap<Block<'c>, usize> = HashMap::default();
    let mut last: Option<(u64, Block<'c>)> = None;
    for &(number, to) in &numbers {
        let goes_on =
            last.is_some_and(|(n, block)| block == to && n.checked_add(1) == Some(number));
        *ranges.entry(to).or_default() += usize::from(!goes_on);
        last = Some((number, to));
    }
    let blocks = numbers.into_iter().map(|(_, to)| to);
    blocks.max_by_key(|to| ranges[to])
}

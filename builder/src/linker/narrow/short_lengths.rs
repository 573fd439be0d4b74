//! Kernels whose lengths are short whenever they are launched: one copy of the code for lengths below 2^30, one for all.
//!
//! ```text
//! if (length | width | height) < 2^30    // parameters of the kernel, so all threads go the same way
//!     the kernel, whose indices are numbers of 32 bits
//! else
//!     the kernel as it is
//! ```
//!
//! An author of CUDA C++ says `int` where one of Rust says `usize`, though no launch has more elements than fit. Only the author knows; the
//! kernel finds out. It is worth it where several operations, or those of a loop, take fewer bits then.

use std::collections::HashMap;

use super::dominators::Dominators;
use super::values::{SHORT, Values};
use super::{counters, webs, widths};
use crate::linker::{is_kernel, second_copy, unroll};
use crate::llvm::{Attribute, Block, Module, Place, Value, opcode, predicate};

/// What has to be saved at least, in instructions for each thread, if divisions are among them.
const LEAST_GAIN: u32 = 20;

/// The same if none is. Kernels that won less took as long, and some more registers.
const LEAST_GAIN_WITHOUT_DIVISIONS: u32 = 40;

/// How often a loop's round is counted.
const ROUNDS: u32 = 4;

/// A kernel of more instructions is not copied.
const MOST_INSTRUCTIONS: usize = 200;

/// Makes two copies of the kernels of which it is worth it.
pub(in crate::linker) fn run(module: &Module<'_>) {
    let functions = module.functions().into_iter();
    functions
        .filter(|function| is_kernel(*function))
        .for_each(fork);
}

fn fork(function: Value<'_>) {
    let dominators = Dominators::of(function);
    let lengths = lengths(function, &dominators);
    if lengths.is_empty() || gain(function, &lengths, &dominators) == 0 {
        return;
    }
    let entry = function.blocks().into_iter().next();
    let mut instructions = entry.into_iter().flat_map(Block::instructions);
    let Some(first) = instructions.find(|i| i.opcode() != opcode::ALLOCA) else {
        return;
    };
    if !second_copy::is_possible(function) {
        return;
    }
    let all = hoist(lengths, first);
    let fork = second_copy::make(function, first);
    let all = all.into_iter();
    let Some(all) = all.reduce(|all, one| fork.before.push_binary(opcode::OR, all, one)) else {
        return;
    };
    let limit = Value::integer_like(SHORT, all);
    let is_short = fork.before.push_comparison(predicate::LESS, all, limit);
    fork.before.push_branch(is_short, fork.copy, fork.original);
    // What hardly ever runs need not be fast, but takes the registers of both.
    let latches = loops(&dominators)
        .into_iter()
        .flat_map(|(_, latches)| latches);
    for latch in latches.filter_map(Block::terminator) {
        latch.set_loop_property(unroll::NOT_TO_UNROLL);
    }
}

/// Computes the products before an instruction, where all copies of the code have them.
fn hoist<'c>(lengths: Vec<Value<'c>>, first: Value<'c>) -> Vec<Value<'c>> {
    let mut hoisted = HashMap::new();
    for length in &lengths {
        let is_product = length.is_instruction();
        let factors = is_product.then(|| Some((length.operand(0)?, length.operand(1)?)));
        let Some((left, right)) = factors.flatten() else {
            continue;
        };
        // Not one that may not wrap around: here nothing has decided yet that it is computed.
        let product = Place::before(first).binary(opcode::MUL, left, right);
        length.replace_uses_with(product);
        hoisted.insert(*length, product);
    }
    lengths
        .into_iter()
        .map(|length| hoisted.get(&length).copied().unwrap_or(length))
        .collect()
}

/// The parameters, and products of them, that decide how many bits something takes. A product stands behind its factors.
fn lengths<'c>(function: Value<'c>, dominators: &Dominators<'c>) -> Vec<Value<'c>> {
    let mut wide: Vec<_> = (0..function.parameter_count())
        // A comparison with one that may be undefined says nothing of its other uses.
        .filter(|n| function.has_flag(Attribute::Parameter(*n), "noundef"))
        .filter_map(|n| function.parameter(n))
        .filter(|p| p.integer_bits() == Some(64) && !p.is_pointer() && !p.is_unused())
        .collect();
    for &block in dominators.order() {
        for product in block
            .instructions()
            .into_iter()
            .filter(|i| i.opcode() == opcode::MUL)
        {
            let is_known = |n| {
                product
                    .operand(n)
                    .is_some_and(|factor| wide.contains(&factor))
            };
            // Its factors are hoisted with it.
            if is_known(0) && is_known(1) {
                wide.push(product);
            }
        }
    }
    let gain = |lengths: &[Value<'c>]| gain(function, lengths, dominators);
    let all = gain(&wide);
    // Not those without which nothing is lost: a number that is no length may be great at each launch.
    let mut needed = wide.clone();
    for one in wide.into_iter().rev() {
        let rest: Vec<_> = needed
            .iter()
            .copied()
            .filter(|other| *other != one)
            .collect();
        if gain(&rest) == all {
            needed = rest;
        }
    }
    needed
}

/// How many instructions of a thread are saved if these parameters are short; 0 if it is not worth a copy.
fn gain<'c>(function: Value<'c>, lengths: &[Value<'c>], dominators: &Dominators<'c>) -> u32 {
    let instructions = function.instructions();
    if instructions.len() > MOST_INSTRUCTIONS {
        return 0;
    }
    let any = Values::of(dominators);
    let short = Values::with_short(dominators, lengths.iter().copied().collect());
    let is_saved = |i: Value<'c>| {
        webs::is_short(&short, i) && !webs::is_short(&any, i)
            || widths::is_short(&short, i) && !widths::is_short(&any, i)
    };
    let saved: Vec<_> = instructions
        .into_iter()
        .filter(|i| dominators.is_reachable(i.block()) && !i.block().is_dead_end() && is_saved(*i))
        .collect();
    let least = match saved.iter().any(|i| is_division(*i)) {
        true => LEAST_GAIN,
        false => LEAST_GAIN_WITHOUT_DIVISIONS,
    };
    let depths = depths(dominators);
    let saved = saved.into_iter().map(|i| {
        let depth = depths.get(&i.block()).copied().unwrap_or(0);
        cost(i) * ROUNDS.pow(depth.min(2))
    });
    let gain = saved.sum();
    if gain < least { 0 } else { gain }
}

/// In how many loops a block is, where it is in some.
fn depths<'c>(dominators: &Dominators<'c>) -> HashMap<Block<'c>, u32> {
    let mut depths = HashMap::new();
    for (header, latches) in loops(dominators) {
        for block in counters::blocks_of_loop(header, &latches, dominators) {
            *depths.entry(block).or_default() += 1;
        }
    }
    depths
}

/// The first block of each loop, and those that lead back to it.
fn loops<'c>(dominators: &Dominators<'c>) -> Vec<(Block<'c>, Vec<Block<'c>>)> {
    let headers = dominators.order().iter().map(|&header| {
        let before = dominators.before(header).into_iter();
        let latches = before.filter(|from| dominators.dominates(header, *from));
        (header, latches.collect())
    });
    headers
        .filter(|(_, latches): &(_, Vec<_>)| !latches.is_empty())
        .collect()
}

/// Whether an operation divides by a number of run time.
fn is_division(operation: Value<'_>) -> bool {
    let is_constant = || operation.operand(1).and_then(Value::as_integer).is_some();
    operation.is_unsigned_division() && !is_constant()
}

/// How many instructions more an operation takes of 64 bits than of 32.
fn cost(operation: Value<'_>) -> u32 {
    match operation.opcode() {
        _ if is_division(operation) => 6,
        opcode::UDIV | opcode::UREM => 8,
        opcode::MUL => 2,
        _ => 1,
    }
}

//! Integer arithmetic in as few bits and instructions as what is known of its operands allows.
//!
//! It runs after LLVM's pipeline, which narrows what ranges alone decide.

mod bounds;
mod counters;
mod dominators;

use crate::llvm::{Module, TargetMachine, ValueKind, opcode};
use dominators::Dominators;

/// What follows: the divisions that are left, narrowed by their ranges.
const CLEAN_UP: &str = "function(correlated-propagation,instcombine<no-verify-fixpoint>,\
    early-cse<memssa>,simplifycfg)";

/// Narrows what is left.
pub(super) fn run(module: &Module<'_>, machine: &TargetMachine<'_>) -> Result<(), String> {
    let mut is_changed = false;
    for function in module.functions() {
        let instructions = function.instructions();
        let has_remainder = instructions.iter().any(|i| i.opcode() == opcode::UREM);
        if function.kind() != ValueKind::Function || !has_remainder {
            continue;
        }
        let dominators = Dominators::of(function);
        is_changed |= counters::run(function, &dominators);
    }
    match is_changed {
        true => module.run_passes(CLEAN_UP, Some(machine)),
        false => Ok(()),
    }
}

//! What to say where LLVM cannot translate a module to PTX: which kernel, which function, which line, and why.
//!
//! Some of LLVM's fatal errors name the source location, others nothing at all. Then each sort of instruction in the module is
//! translated by itself, until one fails.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::LinkJob;
use super::call_chains::{CallChain, CallChains};
use super::lines::NUMBERS_FILE;
use super::reachable::kernels_of;
use crate::error::{BuildError, Untranslatable};
use crate::llvm::{self, Context, Module, TargetMachine, Value, guarded};
use crate::names::demangle;
use crate::source_location::SourceLocation;

/// A module that is ready to be translated.
pub(super) struct Optimised {
    pub bitcode: Vec<u8>,
    /// The code generator's features: the PTX version.
    pub features: String,
    /// What its lines mean, if they are numbers of chains.
    pub chains: Option<CallChains>,
}

/// An instruction that cannot be translated.
#[derive(Clone, Default)]
struct Culprit {
    /// The function that it is in.
    symbol: String,
    /// The kernels that call the function.
    kernels: Vec<String>,
    location: Option<SourceLocation>,
    text: Option<String>,
}

/// The error for LLVM's `reason` not to translate a unit. `lines`: what the unit's lines are in the source, if they are numbers; `users`: the
/// kernels that reach the functions which are in no kernel's unit.
pub(super) fn explain(
    job: &Arc<LinkJob>,
    optimised: Option<Box<Optimised>>,
    reason: &str,
    lines: Option<&[u32]>,
    users: &HashMap<String, Vec<String>>,
) -> BuildError {
    let found = optimised.and_then(|optimised| {
        let optimised = Arc::<Optimised>::from(optimised);
        let mut culprit = named(job, &optimised, reason).or_else(|| search(job, &optimised))?;
        if let Some(users) = users.get(&culprit.symbol) {
            culprit.kernels.clone_from(users);
        }
        let mut error = describe(culprit, optimised.chains.as_ref());
        if let (Some(location), Some(lines)) = (&mut error.location, lines)
            && let Some(index) = location.line.checked_sub(1)
        {
            location.line = lines.get(index as usize).copied().unwrap_or_default();
        }
        Some(error)
    });
    let mut error = found.unwrap_or_default();
    error.reason = format!("LLVM says: {}", first_line(reason));
    BuildError::Untranslatable(Box::new(error))
}

/// The error for an instruction of a module that is not optimised yet.
pub(super) fn of(module: &Module<'_>, instruction: Value<'_>, reason: &str) -> BuildError {
    let symbol = instruction.function().map(Value::name).unwrap_or_default();
    let culprit = Culprit {
        kernels: kernels_of(module, &symbol),
        location: instruction.location(),
        text: None,
        symbol,
    };
    let mut error = describe(culprit, None);
    error.reason = reason.to_owned();
    BuildError::Untranslatable(Box::new(error))
}

/// What LLVM's message says, without addresses of nodes in its memory, its operands below, and lines that are numbers.
fn first_line(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or_default();
    let line = line
        .split(&format!(", {NUMBERS_FILE}"))
        .next()
        .unwrap_or(line);
    let words = line.split(' ').filter(|word| !word.starts_with("0x"));
    words
        .collect::<Vec<_>>()
        .join(" ")
        .trim_end_matches(',')
        .to_owned()
}

/// The function and the location, if LLVM names them in its message.
fn named(job: &Arc<LinkJob>, optimised: &Arc<Optimised>, reason: &str) -> Option<Culprit> {
    let symbol = reason.split("In function: ").nth(1)?.trim().to_owned();
    // The failed node is in the first line, and its operands follow.
    let line = reason
        .lines()
        .find_map(|line| line.split(&format!("{NUMBERS_FILE}:")).nth(1))
        .and_then(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        });
    let (job, optimised) = (job.clone(), optimised.clone());
    guarded::run(move || {
        let api = llvm::load(&job.llvm).ok()?;
        let context = Context::new(api);
        let module = Module::parse_bitcode(&context, &optimised.bitcode, "kernels").ok()?;
        let kernels = kernels_of(&module, &symbol);
        Some(Culprit {
            symbol,
            kernels,
            location: line.map(|line| SourceLocation {
                file: NUMBERS_FILE.into(),
                line,
                column: 0,
            }),
            text: None,
        })
    })
    .ok()?
}

/// Translates the instructions one by one, each sort once. What fails is left in `tried`.
fn search(job: &Arc<LinkJob>, optimised: &Arc<Optimised>) -> Option<Culprit> {
    let tried = Arc::new(Mutex::new(None));
    let searched = guarded::run({
        let (job, optimised, tried) = (job.clone(), optimised.clone(), tried.clone());
        move || {
            let api = llvm::load(&job.llvm).ok()?;
            let context = Context::new(api);
            let module = Module::parse_bitcode(&context, &optimised.bitcode, "kernels").ok()?;
            let machine =
                TargetMachine::new(&context, job.arch.name(), &optimised.features).ok()?;
            let mut seen = HashSet::new();
            for function in module.functions() {
                for instruction in function.instructions() {
                    if !seen.insert(sort_of(instruction)) {
                        continue;
                    }
                    let Some(probe) = Module::with_copy_of(instruction) else {
                        continue;
                    };
                    probe.set_target(&machine);
                    *tried.lock().unwrap_or_else(PoisonError::into_inner) = Some(Culprit {
                        symbol: function.name(),
                        kernels: kernels_of(&module, &function.name()),
                        location: instruction.location(),
                        text: Some(instruction.text()),
                    });
                    if probe.emit(&machine).is_err() {
                        return None;
                    }
                }
            }
            *tried.lock().unwrap_or_else(PoisonError::into_inner) = None;
            Some(())
        }
    });
    // It ended by itself: no instruction fails alone.
    if let Ok(Some(())) = searched {
        return None;
    }
    tried.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// What decides how an instruction is translated, nearly.
fn sort_of(instruction: Value<'_>) -> (i32, usize, Vec<usize>, Option<String>) {
    let types = (0..instruction.operand_count())
        .filter_map(|n| instruction.operand(n))
        .map(|operand| operand.ty() as usize)
        .collect();
    let callee = instruction
        .is_call()
        .then(|| instruction.callee())
        .flatten()
        .map(|callee| callee.name());
    (
        instruction.opcode(),
        instruction.ty() as usize,
        types,
        callee,
    )
}

/// The user's function and line.
fn describe(culprit: Culprit, chains: Option<&CallChains>) -> Untranslatable {
    let mut function = demangle(&culprit.symbol);
    let mut location = culprit.location;
    if let Some(chains) = chains
        && let Some(number) = location.take_if(|l| l.file == NUMBERS_FILE).map(|l| l.line)
        && let Some(CallChain { point, inlined }) = chains.chain(number)
    {
        location = chains.file(point.file).map(|file| SourceLocation {
            file: file.to_owned(),
            line: point.line,
            column: point.column,
        });
        if let Some(name) = inlined.and_then(|inlined| chains.function(inlined.function)) {
            function = name.to_owned();
        }
    }
    Untranslatable {
        kernels: culprit.kernels,
        function: Some(function),
        location,
        instruction: culprit.text,
        reason: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_what_only_llvm_understands() {
        let message = "Cannot select: 0x7f47800b5ab0: f32 = fsin 0x7f47800b5a40, /warpsmith-call-chains:2\n  0x7f: f32,ch\nIn function: k";
        assert_eq!(first_line(message), "Cannot select: f32 = fsin");
        assert_eq!(
            first_line("unsupported library call operation"),
            "unsupported library call operation"
        );
    }
}

//! From an instruction in a library to the user's own code that leads there: what an error names.
//!
//! Runs on the module as it was linked, before LLVM inlines: the way up is over inlined calls that rustc made, and over
//! callers.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;

use super::reachable::kernels_of;
use super::short_names::{self, KERNEL_BODY};
use crate::llvm::{Location, Module, Scope, Value, ValueKind};
use crate::source_location::SourceLocation;

/// A place in the user's code.
#[derive(Default)]
pub(super) struct UserCode {
    /// The user's function.
    pub function: Option<String>,
    /// Where in it.
    pub location: Option<SourceLocation>,
    /// The library's function that it calls there; none if the instruction is the user's own.
    pub calls: Option<String>,
    /// Whether there is such code; else function and location are a library's.
    pub is_users_own: bool,
}

/// The nearest code of the user's that leads to `instruction`; of the instruction's own function if there is none.
/// `libraries`: folders whose code is not the user's.
pub(super) fn leading_to<'c>(
    module: &Module<'c>,
    instruction: Value<'c>,
    libraries: &[PathBuf],
) -> UserCode {
    let mut seen = HashSet::new();
    let mut queue = VecDeque::from([(instruction, None)]);
    while let Some((instruction, callee)) = queue.pop_front() {
        let function = instruction.function();
        let inlined = instruction
            .debug_location()
            .and_then(|location| own(location, libraries));
        if let Some((location, inner)) = inlined {
            return UserCode {
                function: function.map(|function| name(module, function, location)),
                location: Some(point(location)),
                calls: inner
                    .map(|scope| short_names::of_symbol(&scope.linkage_name()))
                    .or(callee),
                is_users_own: true,
            };
        }
        let Some(function) = function.filter(|function| seen.insert(*function)) else {
            continue;
        };
        let symbol = short_names::of_symbol(&function.name());
        for call in instructions_that_use(function) {
            queue.push_back((call, Some(symbol.clone())));
        }
    }
    UserCode {
        function: instruction
            .function()
            .map(|function| short_names::of_symbol(&function.name())),
        location: instruction.location(),
        calls: None,
        is_users_own: false,
    }
}

/// The innermost location of the user's on a way of inlining, and the library's function that is inlined there.
fn own<'c>(
    location: Location<'c>,
    libraries: &[PathBuf],
) -> Option<(Location<'c>, Option<Scope<'c>>)> {
    let mut inner = None;
    for at in std::iter::successors(Some(location), |at| at.inlined_at()) {
        let scope = at.scope()?;
        let file = scope.file().unwrap_or_default();
        let is_library =
            file.as_os_str().is_empty() || libraries.iter().any(|folder| file.starts_with(folder));
        if !is_library && at.line() != 0 {
            return Some((at, inner));
        }
        inner = scope.subprogram();
    }
    None
}

fn point(location: Location<'_>) -> SourceLocation {
    let file = location.scope().and_then(Scope::file).unwrap_or_default();
    SourceLocation {
        file: file.to_string_lossy().into_owned(),
        line: location.line(),
        column: location.column(),
    }
}

/// The name of the user's function around `location`, which is in `function`: a kernel's, if it is a kernel's body.
fn name(module: &Module<'_>, function: Value<'_>, location: Location<'_>) -> String {
    let symbol = location
        .scope()
        .and_then(Scope::subprogram)
        .map(Scope::linkage_name)
        .filter(|symbol| !symbol.is_empty())
        .unwrap_or_else(|| function.name());
    let name = short_names::of_symbol(&symbol);
    if !name.contains(KERNEL_BODY) {
        return name;
    }
    match kernels_of(module, &function.name()).first() {
        Some(kernel) => name.replace(KERNEL_BODY, kernel),
        None => name,
    }
}

/// The instructions that use `value`, themselves or by a constant.
pub(super) fn instructions_that_use(value: Value<'_>) -> Vec<Value<'_>> {
    let mut seen = HashSet::new();
    let mut queue: Vec<Value<'_>> = value.users();
    let mut instructions = Vec::new();
    while let Some(user) = queue.pop() {
        if !seen.insert(user) {
            continue;
        }
        match user.kind() {
            ValueKind::Instruction => instructions.push(user),
            _ => queue.extend(user.users()), // constants and initialisers on the way
        }
    }
    instructions
}

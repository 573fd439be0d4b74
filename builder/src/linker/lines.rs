//! Gives each instruction the user's own source line, and the chain of inlined calls that led to it.
//!
//! After inlining, most instructions of a kernel come from `core` (`ptr::add`, `Range::next`, ...) or from the
//! device library. A profile or a report of a fault is about the line of the kernel that led there. So each location
//! becomes the innermost one on its way of inlining that is in the user's code; in a function of a library that was
//! not inlined, the one in that function. Chains are of the user's functions alone, too: a closure that an iterator calls was
//! inlined where the user called the iterator.
//!
//! LLVM prints a location without the calls that it was inlined into. [`number`] therefore puts numbers of chains in
//! the place of lines, in a file that does not exist, and `line_directives` replaces them in the text. PTX before 7.2 has no
//! chains: there [`flatten`] leaves the line alone.

use std::collections::HashMap;
use std::path::PathBuf;

use super::call_chains::{CallChain, CallChains, InlinedCall, SourcePoint};
use super::short_names::{self, KERNEL_BODY};
use crate::arch::PtxVersion;
use crate::llvm::{DebugBuilder, Location, Module, Scope};

/// The first PTX version whose `.loc` has `inlined_at`.
pub(super) const CHAINS_SINCE: PtxVersion = PtxVersion::new(7, 2);

/// The file whose lines are numbers of chains.
pub(super) const NUMBERS_FILE: &str = "/warpsmith-call-chains";

/// The PTX entry that `#[kernel]` makes of a kernel.
const KERNEL_ENTRY: &str = "__kernel_entry";

/// Leaves each instruction one location, without calls. `libraries`: folders whose code is not the user's.
pub(super) fn flatten(module: &Module<'_>, libraries: &[PathBuf]) {
    let mut sources = Sources::new(libraries);
    let mut known = HashMap::new();
    for function in module.functions() {
        for instruction in function.instructions() {
            let Some(location) = instruction.debug_location() else {
                continue;
            };
            let own = *known
                .entry(location)
                .or_insert_with(|| sources.own(location));
            if own != location {
                instruction.set_debug_location(own);
            }
        }
    }
}

/// Replaces each location by the number of its chain. `libraries`: folders whose code is not the user's.
pub(super) fn number(module: &Module<'_>, libraries: &[PathBuf]) -> CallChains {
    let builder = DebugBuilder::new(module);
    let file = builder.file(NUMBERS_FILE);
    let mut sources = Sources::new(libraries);
    let mut known = HashMap::new();
    for function in module.functions() {
        let Some(part) = function
            .subprogram()
            .and_then(|subprogram| builder.part_in_file(subprogram, file))
        else {
            continue;
        };
        for instruction in function.instructions() {
            let Some(location) = instruction.debug_location() else {
                continue;
            };
            let numbered = *known.entry(location).or_insert_with(|| {
                let own = sources.own(location);
                Location::in_scope(part, sources.chain(own))
            });
            if let Some(numbered) = numbered {
                instruction.set_debug_location(numbered);
            }
        }
    }
    sources.chains
}

/// What is known of a scope.
#[derive(Clone, Copy)]
struct ScopeFacts<'c> {
    file: u32,
    is_library: bool,
    subprogram: Option<Scope<'c>>,
    is_kernel_entry: bool,
}

/// The scopes and locations that were met.
struct Sources<'a, 'c> {
    libraries: &'a [PathBuf],
    scopes: HashMap<Scope<'c>, ScopeFacts<'c>>,
    numbers: HashMap<Location<'c>, u32>,
    /// The numbers of the names of functions, each with the kernel that it was inlined into.
    functions: HashMap<(Scope<'c>, Option<Scope<'c>>), u32>,
    chains: CallChains,
}

impl<'a, 'c> Sources<'a, 'c> {
    fn new(libraries: &'a [PathBuf]) -> Self {
        Sources {
            libraries,
            scopes: HashMap::new(),
            numbers: HashMap::new(),
            functions: HashMap::new(),
            chains: CallChains::default(),
        }
    }

    /// The innermost location on its way of inlining that is the user's; one with a line, if there is any.
    fn own(&mut self, location: Location<'c>) -> Location<'c> {
        let mut without_line = None;
        let mut last = location;
        for at in std::iter::successors(Some(location), |at| at.inlined_at()) {
            if self.scope(at).is_some_and(|scope| !scope.is_library) {
                if at.line() != 0 {
                    return at;
                }
                without_line.get_or_insert(at);
            }
            last = at;
        }
        without_line.unwrap_or(last)
    }

    /// The number of the chain of one of the user's locations.
    fn chain(&mut self, location: Location<'c>) -> u32 {
        if let Some(&number) = self.numbers.get(&location) {
            return number;
        }
        let scope = self.scope(location);
        let inlined = location
            .inlined_at()
            .map(|call| self.own(call))
            // The kernel's body is inlined into its entry, which is not the user's code: to the user they are one function.
            .filter(|call| !self.scope(*call).is_some_and(|scope| scope.is_kernel_entry))
            .map(|call| InlinedCall {
                function: self.function(scope, call),
                call: self.chain(call),
            });
        let point = SourcePoint {
            file: scope.map_or_else(
                || self.chains.number_file(String::new()),
                |scope| scope.file,
            ),
            line: location.line(),
            column: location.column(),
        };
        let number = self.chains.number(CallChain { point, inlined });
        self.numbers.insert(location, number);
        number
    }

    /// The number of the name of the function around a location that was inlined at `call`.
    fn function(&mut self, scope: Option<ScopeFacts<'c>>, call: Location<'c>) -> u32 {
        let Some(subprogram) = scope.and_then(|scope| scope.subprogram) else {
            return self.chains.number_function(String::new());
        };
        let outermost = std::iter::successors(Some(call), |at| at.inlined_at()).last();
        let kernel = outermost
            .and_then(|outermost| self.scope(outermost))
            .filter(|scope| scope.is_kernel_entry)
            .and_then(|scope| scope.subprogram);
        if let Some(&number) = self.functions.get(&(subprogram, kernel)) {
            return number;
        }
        let number = self.chains.number_function(name(subprogram, kernel));
        self.functions.insert((subprogram, kernel), number);
        number
    }

    /// What is known of the scope of a location.
    fn scope(&mut self, location: Location<'c>) -> Option<ScopeFacts<'c>> {
        let scope = location.scope()?;
        if let Some(facts) = self.scopes.get(&scope) {
            return Some(*facts);
        }
        let path = scope.file().unwrap_or_default();
        let subprogram = scope.subprogram();
        let facts = ScopeFacts {
            is_library: path.as_os_str().is_empty()
                || self.libraries.iter().any(|folder| path.starts_with(folder)),
            file: self.chains.number_file(path.to_string_lossy().into_owned()),
            subprogram,
            is_kernel_entry: subprogram.is_some_and(|s| s.name() == KERNEL_ENTRY),
        };
        self.scopes.insert(scope, facts);
        Some(facts)
    }
}

/// The name of a function that was inlined into a kernel, for people.
fn name(function: Scope<'_>, kernel: Option<Scope<'_>>) -> String {
    let symbol = function.linkage_name();
    let name = if symbol.is_empty() {
        function.name()
    } else {
        short_names::of_symbol(&symbol)
    };
    // A closure in a kernel, say: its path leads through a function that the user did not write.
    if name.contains(KERNEL_BODY) {
        let kernel = kernel.map_or_else(|| "{kernel}".to_owned(), |kernel| kernel.linkage_name());
        return name.replace(KERNEL_BODY, &kernel);
    }
    name
}

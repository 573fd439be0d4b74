//! Which definition goes into which unit.
//!
//! A kernel's unit has the kernel and all that it reaches, so LLVM optimises it as if it stood alone. What several kernels must or should
//! have in common is in no kernel's unit:
//!
//! - *functions* that are not inlined (`cold` or `noinline`) and that several kernels reach, or that come from a library: panics, mostly.
//!   Those of libraries are not counted, so that one more kernel that panics changes no other kernel's unit;
//! - *variables* that the host can name, and those that can change and that several units use: a static is one object.
//!
//! Everything else that several units reach is in each of them: LLVM inlines most of it, and constants and functions that are left and are
//! the same become one when the units are put together.

use std::collections::{HashMap, HashSet};

use super::text::{Kind, ModuleText, Piece, bare};
use crate::linker::launch_parameters;

/// What the text does not say.
pub(in crate::linker) struct Facts {
    /// The functions that are defined in libraries, not in the user's crates.
    pub of_libraries: HashSet<String>,
    /// The functions that others need from some pass on, though nothing calls them yet.
    pub needs: HashMap<String, Vec<String>>,
}

/// A part of the module that is compiled by itself.
pub(super) struct Part {
    /// A kernel's name, or what else is in it.
    pub name: String,
    /// What must be visible outside of it.
    pub roots: Vec<usize>,
}

/// How a module is cut.
pub(super) struct Partition {
    pub parts: Vec<Part>,
    /// What belongs to the part of the common functions or variables or is a kernel, and is only declared in the others.
    pub common: HashSet<usize>,
    /// The common functions that take the parameters of the launch.
    pub takes_launch: HashSet<usize>,
    /// Whether functions that are called through pointers take the parameters of the launch.
    pub pointers_take_launch: bool,
    /// The kernels that reach a common function.
    pub users: HashMap<usize, Vec<usize>>,
}

impl Partition {
    pub fn of(module: &mut ModuleText<'_>, facts: &Facts) -> Partition {
        add_needs(module, facts);
        let module = &*module;
        let of_kind = |kind| {
            let all = 0..module.definitions.len();
            all.filter(move |&n| module.definitions[n].kind == kind)
        };
        let kernels: Vec<usize> = of_kind(Kind::Kernel).collect();
        let mut users: HashMap<usize, Vec<usize>> = HashMap::new();
        let nothing = vec![false; module.definitions.len()];
        for &kernel in &kernels {
            for reached in reach(module, &[kernel], &nothing) {
                users.entry(reached).or_default().push(kernel);
            }
        }
        let functions: Vec<usize> = of_kind(Kind::Function)
            .filter(|&n| {
                let is_of_library = || {
                    facts
                        .of_libraries
                        .contains(bare(module.definitions[n].symbol))
                };
                let is_shared = || users.get(&n).is_some_and(|users| users.len() > 1);
                is_call(module, n) && (is_of_library() || is_shared())
            })
            .collect();
        let mut variables: Vec<usize> = of_kind(Kind::Variable)
            .filter(|&n| Storage::of(module.definitions[n].text) == Storage::Host)
            .collect();
        let mut common: HashSet<usize> = functions
            .iter()
            .chain(&variables)
            .chain(&kernels)
            .copied()
            .collect();
        // A variable that changes is one object for all.
        let mut parts_with: HashMap<usize, usize> = HashMap::new();
        let mut in_functions = HashSet::new();
        let parts = kernels
            .iter()
            .map(std::slice::from_ref)
            .chain([&functions[..], &variables[..]]);
        for roots in parts {
            let mut others = nothing.clone();
            common.iter().for_each(|&n| others[n] = true);
            roots.iter().for_each(|&n| others[n] = false);
            for reached in reach(module, roots, &others) {
                *parts_with.entry(reached).or_default() += 1;
                if roots.as_ptr() == functions.as_ptr() {
                    in_functions.insert(reached);
                }
            }
        }
        for n in of_kind(Kind::Variable) {
            let is_shared = parts_with.get(&n).is_some_and(|&parts| parts > 1);
            let is_one_object = match Storage::of(module.definitions[n].text) {
                Storage::Device => is_shared,
                // Each launch has its own: two kernels need not have one symbol.
                Storage::Block => is_shared && in_functions.contains(&n),
                Storage::Host | Storage::Constant => false,
            };
            if is_one_object {
                variables.push(n);
                common.insert(n);
            }
        }
        let launch = Launch::of(module);
        let takes_launch = functions
            .iter()
            .copied()
            .filter(|n| launch.leading.contains(n))
            .collect();
        let name = |n: usize| bare(module.definitions[n].symbol).to_owned();
        let mut parts: Vec<Part> = Vec::new();
        for (what, roots) in [("variables", variables), ("functions", functions.clone())] {
            if !roots.is_empty() {
                parts.push(Part {
                    name: format!("common {what}"),
                    roots,
                });
            }
        }
        parts.extend(kernels.iter().map(|&kernel| Part {
            name: name(kernel),
            roots: vec![kernel],
        }));
        users.retain(|n, _| common.contains(n));
        Partition {
            parts,
            common,
            takes_launch,
            pointers_take_launch: launch.by_pointer,
            users,
        }
    }
}

fn add_needs(module: &mut ModuleText<'_>, facts: &Facts) {
    for (function, needed) in &facts.needs {
        let Some(number) = module.number(&format!("@{function}")) else {
            continue;
        };
        let needed = needed
            .iter()
            .filter_map(|symbol| module.number(&format!("@{symbol}")));
        let needed: Vec<usize> = needed.collect();
        module.definitions[number].needs.extend(needed);
    }
}

/// The definitions that `roots` lead to, themselves included, not further than to those that are marked in `others`.
fn reach(module: &ModuleText<'_>, roots: &[usize], others: &[bool]) -> Vec<usize> {
    let mut is_found = others.to_vec();
    roots.iter().for_each(|&root| is_found[root] = true);
    let mut found = roots.to_vec();
    let mut next = 0;
    while next < found.len() {
        for reference in module.references(found[next]) {
            if !is_found[reference] {
                is_found[reference] = true;
                found.push(reference);
            }
        }
        next += 1;
    }
    found
}

/// Whether a function stays a function that is called.
fn is_call(module: &ModuleText<'_>, function: usize) -> bool {
    let mut stays = false;
    for attribute in module.attributes_of(function) {
        match attribute {
            "cold" | "noinline" => stays = true,
            "alwaysinline" => return false,
            _ => {}
        }
    }
    stays
}

/// Where a variable is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    /// In memory that the host can name.
    Host,
    /// In a block's shared memory.
    Block,
    /// In memory of the device's own.
    Device,
    /// It is never written.
    Constant,
}

impl Storage {
    fn of(text: &str) -> Storage {
        let words = || text.split(' ').skip(2).take(6);
        if words().any(|word| word == "addrspace(1)" || word == "addrspace(4)") {
            Storage::Host
        } else if words().any(|word| word == "addrspace(3)") {
            Storage::Block
        } else if words().any(|word| word == "constant") {
            Storage::Constant
        } else {
            Storage::Device
        }
    }
}

/// Who leads to the markers that ask for the launch (see `launch_parameters`), by the module before it is optimised: what is left of it
/// afterwards, no part can know of another.
struct Launch {
    leading: HashSet<usize>,
    by_pointer: bool,
}

impl Launch {
    fn of(module: &ModuleText<'_>) -> Launch {
        let mut users: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut by_address = HashSet::new();
        for (user, definition) in module.definitions.iter().enumerate() {
            // The first symbol is the definition's own.
            for piece in definition
                .pieces
                .iter()
                .skip_while(|p| matches!(p, Piece::Text(_)))
                .skip(1)
            {
                if let Piece::Symbol {
                    definition,
                    is_called,
                } = piece
                {
                    users.entry(*definition).or_default().push(user);
                    if !is_called && module.definitions[*definition].kind == Kind::Function {
                        by_address.insert(*definition);
                    }
                }
            }
        }
        let extend = |found: &mut HashSet<usize>, from: Vec<usize>| {
            let mut queue = from;
            while let Some(number) = queue.pop() {
                for &user in users.get(&number).into_iter().flatten() {
                    if found.insert(user) {
                        queue.push(user);
                    }
                }
            }
        };
        let markers = launch_parameters::MARKERS
            .iter()
            .filter_map(|marker| module.number(&format!("@{marker}")))
            .collect();
        let mut leading = HashSet::new();
        extend(&mut leading, markers);
        let by_pointer = by_address.iter().any(|function| leading.contains(function));
        if by_pointer {
            let callers =
                (0..module.definitions.len()).filter(|&n| module.definitions[n].calls_pointers);
            let all: Vec<usize> = by_address.iter().copied().chain(callers).collect();
            leading.extend(&all);
            extend(&mut leading, all);
        }
        Launch {
            leading,
            by_pointer,
        }
    }
}

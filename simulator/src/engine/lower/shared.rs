//! The layout of shared memory.
//!
//! A shared variable has one address in all kernels that reach it through calls, and kernels that do not reach it spend
//! nothing on it: each variable is placed after what the kernels that reach it have already. Dynamic shared memory
//! follows behind, at one address for all kernels that use it.
//!
//! Between variables there are gaps, which belong to none, so that an access over the end of one does not reach the next. What a
//! kernel is told of sizes is without them.

use rustc_hash::FxHashMap;

use crate::engine::program::SharedVariable;
use crate::ptx::ast::{
    AddressBase, Function, Initializer, Instruction, Linkage, Module, Operand, OperandKind, Space,
    Statement, Variable,
};

/// Addresses in shared memory.
#[derive(Default)]
pub(crate) struct Layout<'a> {
    /// Module-scope variables.
    outside: FxHashMap<&'a str, u32>,
    /// Variables of functions, by function and declaration.
    inside: FxHashMap<(u32, usize), u32>,
    /// For each kernel, what its static variables take without gaps.
    static_size: FxHashMap<u32, u32>,
    /// For each kernel, where its static variables end.
    static_end: FxHashMap<u32, u32>,
    /// For each kernel, where its dynamic memory starts, and where it would without gaps.
    dynamic_base: FxHashMap<u32, [u32; 2]>,
    reached: FxHashMap<u32, Vec<u32>>,
    /// The static variables, for reports.
    pub variables: Vec<SharedVariable>,
}

/// Where addresses of shared memory end.
const MOST: u32 = 1 << 24;
/// What all gaps of a kernel take at most: together with as much memory as a block can have, it is still inside of what the descriptors
/// of matrices reach (256 KiB).
const GAPS: u32 = 28 << 10;
/// The largest gap behind a variable; a smaller variable has one of its own size.
const GAP: u32 = 1 << 10;

/// The gap behind a variable.
fn gap(size: u32) -> u32 {
    size.clamp(16, GAP).next_multiple_of(16)
}

/// The identity of a declaration.
fn key(variable: &Variable) -> usize {
    std::ptr::from_ref(variable).addr()
}

struct Graph<'a> {
    numbers: FxHashMap<&'a str, u32>,
    variables: FxHashMap<&'a str, &'a Variable<'a>>,
}

/// What a function mentions.
#[derive(Default)]
struct Mentions<'a> {
    names: Vec<&'a str>,
    variables: Vec<&'a Variable<'a>>,
}

impl<'a> Layout<'a> {
    /// Lays out the shared memory of all kernels.
    pub fn new(tree: &'a Module<'a>, defined: &[&'a Function<'a>]) -> Layout<'a> {
        let mut graph = Graph {
            numbers: FxHashMap::default(),
            variables: FxHashMap::default(),
        };
        for (number, function) in defined.iter().enumerate() {
            graph.numbers.insert(function.name, number as u32);
        }
        for (name, target, _) in &tree.aliases {
            if let Some(&number) = graph.numbers.get(target) {
                graph.numbers.insert(name, number);
            }
        }
        for variable in &tree.variables {
            graph.variables.entry(variable.name).or_insert(variable);
        }
        let mentions: Vec<Mentions> = defined
            .iter()
            .map(|function| {
                let mut found = Mentions::default();
                statements(function.body.as_deref().unwrap_or(&[]), &mut found);
                found
            })
            .collect();
        let mut layout = Layout::default();
        // (variable, owner or None for the module) and the kernels that reach it.
        let mut users: Vec<(&'a Variable<'a>, Option<u32>, Vec<u32>)> = Vec::new();
        for (kernel, _) in defined.iter().enumerate().filter(|(_, f)| f.entry) {
            let kernel = kernel as u32;
            let (functions, variables) = graph.reach(kernel, &mentions);
            let local = functions.iter().flat_map(|&f| {
                let own = mentions[f as usize]
                    .variables
                    .iter()
                    .map(move |&v| (v, Some(f)));
                own.filter(|(v, _)| v.space == Space::Shared)
            });
            let shared = variables
                .iter()
                .filter(|v| v.space == Space::Shared)
                .map(|&v| (v, None));
            for (variable, owner) in local.chain(shared) {
                match users.iter_mut().find(|(v, ..)| key(v) == key(variable)) {
                    Some((_, _, kernels)) => kernels.push(kernel),
                    None => users.push((variable, owner, vec![kernel])),
                }
            }
            layout.static_size.insert(kernel, 0);
            layout.static_end.insert(kernel, 0);
            layout.reached.insert(kernel, functions);
        }
        // An external array with a size is an array of this module, as there is no other.
        let is_dynamic = |v: &Variable| match v.size() {
            None => true,
            Some(size) => size == 0 && v.linkage == Linkage::Extern,
        };
        users.sort_by_key(|(v, ..)| (is_dynamic(v), v.at.line, v.at.column));
        let top = |ends: &FxHashMap<u32, u32>, kernels: &[u32], align: u32| {
            let end = kernels.iter().map(|k| ends[k]).max().unwrap_or(0);
            let aligned = end.checked_next_multiple_of(align.max(1));
            aligned.map_or(MOST, |end| end.min(MOST))
        };
        // Behind each variable, the gap that the next one keeps.
        let mut gap_behind: FxHashMap<u32, u32> = FxHashMap::default();
        let with_gaps = |layout: &Layout, gaps: &FxHashMap<u32, u32>, kernels: &[u32], align| {
            let packed = top(&layout.static_size, kernels, align);
            let ends = kernels
                .iter()
                .map(|k| (*k, layout.static_end[k] + gaps.get(k).unwrap_or(&0)));
            let apart = top(&ends.collect(), kernels, align);
            if apart.saturating_sub(packed) <= GAPS {
                apart
            } else {
                top(&layout.static_end, kernels, align)
            }
        };
        for (variable, owner, kernels) in users.iter().filter(|(v, ..)| !is_dynamic(v)) {
            let packed = top(&layout.static_size, kernels, variable.align);
            let offset = with_gaps(&layout, &gap_behind, kernels, variable.align);
            let size = variable
                .size()
                .and_then(|s| u32::try_from(s).ok())
                .unwrap_or(u32::MAX);
            let end = |start: u32| start.saturating_add(size).min(MOST);
            for kernel in kernels {
                layout.static_size.insert(*kernel, end(packed));
                layout.static_end.insert(*kernel, end(offset));
                gap_behind.insert(*kernel, gap(size));
            }
            layout.put(variable, *owner, offset);
            let (name, kernels) = (variable.name.to_owned(), kernels.clone());
            layout.variables.push(SharedVariable {
                name,
                address: offset,
                size,
                kernels,
            });
        }
        // All dynamic variables are one memory: one address for every kernel that uses any of them.
        let dynamic: Vec<_> = users.iter().filter(|(v, ..)| is_dynamic(v)).collect();
        let all: Vec<u32> = dynamic
            .iter()
            .flat_map(|(_, _, kernels)| kernels.iter().copied())
            .collect();
        let align = dynamic
            .iter()
            .map(|(v, ..)| v.align)
            .max()
            .unwrap_or(16)
            .max(16);
        let base = with_gaps(&layout, &gap_behind, &all, align);
        let packed = top(&layout.static_size, &all, align);
        for (variable, owner, _) in dynamic {
            layout.put(variable, *owner, base);
        }
        for (kernel, end) in &layout.static_end {
            let bases = if all.contains(kernel) {
                [base, packed]
            } else {
                [*end, layout.static_size[kernel]].map(|end| end.next_multiple_of(16))
            };
            layout.dynamic_base.insert(*kernel, bases);
        }
        layout
    }

    fn put(&mut self, variable: &'a Variable<'a>, owner: Option<u32>, offset: u32) {
        match owner {
            Some(function) => self.inside.insert((function, key(variable)), offset),
            None => self.outside.insert(variable.name, offset),
        };
    }

    /// The address of a module-scope variable; one that no kernel reaches has any.
    pub fn outside(&self, name: &str) -> u32 {
        self.outside.get(name).copied().unwrap_or(0)
    }

    /// The address of a variable declared in a function.
    pub fn inside(&self, function: u32, variable: &Variable) -> u32 {
        self.inside
            .get(&(function, key(variable)))
            .copied()
            .unwrap_or(0)
    }

    /// Bytes of static shared memory of a kernel.
    pub fn static_size(&self, kernel: u32) -> u32 {
        self.static_size.get(&kernel).copied().unwrap_or(0)
    }

    /// Where a kernel's static shared memory ends, with the gaps.
    pub fn static_end(&self, kernel: u32) -> u32 {
        self.static_end.get(&kernel).copied().unwrap_or(0)
    }

    /// Where a kernel's dynamic shared memory starts, and where it would without gaps.
    pub fn dynamic_base(&self, kernel: u32) -> [u32; 2] {
        self.dynamic_base.get(&kernel).copied().unwrap_or_default()
    }

    /// The functions a kernel may call, itself included.
    pub fn reached(&self, kernel: u32) -> &[u32] {
        self.reached.get(&kernel).map_or(&[], Vec::as_slice)
    }
}

impl<'a> Graph<'a> {
    fn reach(&self, kernel: u32, mentions: &[Mentions<'a>]) -> (Vec<u32>, Vec<&'a Variable<'a>>) {
        let mut functions = vec![kernel];
        let mut variables: Vec<&'a Variable<'a>> = Vec::new();
        let mut names: Vec<&'a str> = mentions[kernel as usize].names.clone();
        while let Some(name) = names.pop() {
            if let Some(&number) = self.numbers.get(name) {
                if !functions.contains(&number) {
                    functions.push(number);
                    names.extend(&mentions[number as usize].names);
                }
            } else if let Some(&variable) = self.variables.get(name)
                && !variables.iter().any(|v| key(v) == key(variable))
            {
                variables.push(variable);
                if let Some(initializer) = &variable.initializer {
                    initializer_names(initializer, &mut names);
                }
            }
        }
        (functions, variables)
    }
}

fn initializer_names<'a>(initializer: &'a Initializer<'a>, names: &mut Vec<&'a str>) {
    match initializer {
        Initializer::Symbol { name, .. } => names.push(name),
        Initializer::Masked { symbol, .. } => initializer_names(symbol, names),
        Initializer::List(list, _) => list.iter().for_each(|item| initializer_names(item, names)),
        Initializer::Int(..) | Initializer::Float(..) => {}
    }
}

fn statements<'a>(list: &'a [Statement<'a>], found: &mut Mentions<'a>) {
    for statement in list {
        match statement {
            Statement::Instruction(Instruction { operands: list, .. }) => operands(list, found),
            Statement::Block(inner) => statements(inner, found),
            Statement::Variable(variable) => {
                found.variables.push(variable);
                if let Some(initializer) = &variable.initializer {
                    initializer_names(initializer, &mut found.names);
                }
            }
            Statement::CallTargets(_, _, targets) => {
                found.names.extend(targets.iter().map(|(name, _)| *name))
            }
            _ => {}
        }
    }
}

fn operands<'a>(list: &'a [Operand<'a>], found: &mut Mentions<'a>) {
    for operand in list {
        match &operand.kind {
            OperandKind::Name(name) | OperandKind::Offset(name, _) if !name.starts_with('%') => {
                found.names.push(name);
            }
            OperandKind::Address {
                base: AddressBase::Name(name),
                rest,
                ..
            } => {
                if !name.starts_with('%') {
                    found.names.push(name);
                }
                operands(rest, found);
            }
            OperandKind::Vector(list) | OperandKind::List(list) => operands(list, found),
            OperandKind::Pair(first, second) => {
                operands(std::slice::from_ref(first), found);
                operands(std::slice::from_ref(second), found);
            }
            _ => {}
        }
    }
}

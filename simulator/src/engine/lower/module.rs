//! Loading a module: symbols, placement of variables, then every function.

use std::collections::HashMap;
use std::sync::Arc;

use super::builder::Builder;
use super::context::Context;
use super::lowerings::Lowerings;
use super::scope::{External, Scope, Symbol};
use super::{allocate, shared, variables};
use crate::engine::exec::level::VectorLevel;
use crate::engine::exec::notes::Noted;
use crate::engine::module::{
    Global, Kernel, KernelParameter, LoadError, Module, Space as GlobalSpace,
};
use crate::engine::program::{Program, Uses};
use crate::ptx::ast::{self, Linkage, Space};
use crate::ptx::{self, Error, Result};

impl From<Error> for LoadError {
    fn from(error: Error) -> LoadError {
        LoadError {
            line: error.line,
            column: error.column,
            message: error.message,
        }
    }
}

/// Names of the device runtime that code may call without defining them.
pub(crate) fn is_runtime(name: &str) -> bool {
    matches!(name, "vprintf" | "__assertfail" | "malloc" | "free") || name.starts_with("cuda")
}

/// Loads a module. Its code uses vector instructions up to a level, of those that the machine has.
pub(crate) fn load(
    text: &str,
    level: VectorLevel,
    place: &mut dyn FnMut(&Global) -> Option<u64>,
) -> std::result::Result<Module, LoadError> {
    let tree = ptx::parse(text)?;
    Ok(lower(&tree, level.min(VectorLevel::of_machine()), place)?)
}

fn lower(
    tree: &ast::Module<'_>,
    level: VectorLevel,
    place: &mut dyn FnMut(&Global) -> Option<u64>,
) -> Result<Module> {
    let mut scope = Scope::default();
    let mut defined: Vec<&ast::Function> = Vec::new();
    for function in tree.functions.iter().filter(|f| f.body.is_some()) {
        scope.insert(function.name, Symbol::Function(defined.len() as u32));
        defined.push(function);
    }
    for (name, target, at) in &tree.aliases {
        match scope.get(target) {
            Some(symbol @ Symbol::Function(_)) => {
                scope.insert(name, symbol);
            }
            _ => return Err(External::Function.unresolved(target, *at)),
        }
    }
    for function in tree.functions.iter().filter(|f| f.body.is_none()) {
        if scope.get(function.name).is_none() {
            let symbol = match is_runtime(function.name) {
                true => Symbol::Runtime(function.name),
                false => Symbol::External(External::Function),
            };
            scope.insert(function.name, symbol);
        }
    }
    let shared = shared::Layout::new(tree, &defined);
    let mut context = Context::new(level, tree, scope, shared, &defined, place);
    for variable in &tree.variables {
        let symbol = match (variable.space, variable.linkage) {
            (Space::Shared, _) => Symbol::Shared {
                address: context.shared.outside(variable.name),
            },
            // An external variable is an error where it is used.
            (_, Linkage::Extern) => {
                if context.scope.get(variable.name).is_none() {
                    let symbol = Symbol::External(External::Variable);
                    context.scope.insert(variable.name, symbol);
                }
                continue;
            }
            _ => context.global(variable)?,
        };
        context.scope.replace(variable.name, symbol);
    }
    lower_functions(tree, &defined, context)
}

fn lower_functions<'a>(
    tree: &'a ast::Module<'a>,
    defined: &[&'a ast::Function<'a>],
    mut context: Context<'a>,
) -> Result<Module> {
    let mut functions = Vec::new();
    let mut registers = Vec::new();
    let mut lowerings = Lowerings::default();
    for (number, function) in defined.iter().enumerate() {
        let mut builder = Builder::new(&mut context, number as u32);
        builder.function(function, &mut lowerings)?;
        let (lowered, pressure) = allocate::allocate(function.name, builder);
        functions.push(lowered);
        registers.push(pressure);
    }
    let mut globals = std::mem::take(&mut context.globals);
    for (global, variable) in globals.iter_mut().zip(&context.declarations) {
        let find = |name: &str| context.find(name, variable.at);
        global.image = variables::image(variable, global.size, &find)?;
    }
    let shared = std::mem::take(&mut context.shared.variables);
    let program = Arc::new(Program {
        functions,
        locations: context.sources.into_entries(),
        shared,
    });
    let constants = globals.iter().filter(|g| g.space == GlobalSpace::Const);
    let constants = constants.fold((u64::MAX, 0), |(low, high), g| {
        (low.min(g.address), high.max(g.address + g.size))
    });
    let constant_bytes = globals
        .iter()
        .filter(|global| global.space == GlobalSpace::Const)
        .fold(0u64, |end, global| {
            end.next_multiple_of(global.align.max(1)) + global.size
        });
    let mut kernels = HashMap::new();
    for (number, function) in defined.iter().enumerate().filter(|(_, f)| f.entry) {
        let mut offset = 0u32;
        let mut parameters = Vec::new();
        for parameter in &function.parameters {
            let (size, align) = (variables::size_of(parameter)?, parameter.align.max(1));
            offset = offset.next_multiple_of(align);
            parameters.push(KernelParameter {
                offset,
                size,
                align,
            });
            offset += size;
        }
        let reached = context.shared.reached(number as u32);
        let pressure = reached
            .iter()
            .map(|&f| registers[f as usize])
            .max()
            .unwrap_or(0);
        // What it mentions, not all that an indirect call might come to: who launches graphs is refused by a plain launch.
        let of_mentioned = |&f: &u32| program.functions[f as usize].uses.graph_launches;
        let uses = Uses {
            graph_launches: reached.iter().any(of_mentioned),
            ..program.uses(number as u32)
        };
        let static_shared = context.shared.static_size(number as u32);
        let [dynamic_shared_base, packed_shared_base] = context.shared.dynamic_base(number as u32);
        let kernel = Kernel {
            name: function.name.to_owned(),
            parameters,
            static_shared,
            local_bytes: program.local_bytes(number as u32),
            uses,
            registers: function.max_registers.unwrap_or(255).min(pressure.max(16)),
            max_threads: function.max_threads,
            exact_threads: function.exact_threads,
            min_blocks: function.min_blocks,
            cluster: function.cluster,
            program: program.clone(),
            entry: number as u32,
            constants,
            constant_bytes,
            dynamic_shared_base,
            packed_shared_base,
            static_end: context.shared.static_end(number as u32),
            noted: Noted::default(),
        };
        kernels.insert(function.name.to_owned(), Arc::new(kernel));
    }
    Ok(Module {
        kernels,
        globals,
        target: tree.head.target,
    })
}

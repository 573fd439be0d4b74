//! Loading a module: symbols, placement of variables, then every function.

use std::collections::HashMap;
use std::sync::Arc;

use super::accept::Acceptance;
use super::build::{Builder, Width};
use super::scope::{Scope, Symbol, duplicate};
use super::{allocate, shared, variables};
use crate::engine::fault::SourceLocation;
use crate::engine::module::{
    Global, Kernel, KernelParameter, LoadError, Module, Space as GlobalSpace,
};
use crate::engine::program::Program;
use crate::ptx::ast::{self, Linkage, Location, Space, Variable};
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

/// What the functions of a module share while they are lowered.
pub(crate) struct Context<'a> {
    /// Module-scope names.
    pub scope: Scope<'a>,
    /// Addresses of shared variables.
    pub shared: shared::Layout<'a>,
    /// Widths of the returns and parameters of each function.
    signatures: Vec<(Vec<Width>, Vec<Width>)>,
    globals: Vec<Global>,
    /// The declarations of `globals`.
    declarations: Vec<&'a Variable<'a>>,
    place: &'a mut dyn FnMut(&Global) -> Option<u64>,
    locations: Vec<SourceLocation>,
    location_index: HashMap<Location, u32>,
    files: HashMap<u32, String>,
    /// Which instructions it may have.
    pub accepts: Acceptance<'a>,
}

impl std::hash::Hash for Location {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.file, self.line, self.column, self.inlined_at).hash(state);
    }
}

impl<'a> Context<'a> {
    /// The number of a `.loc` (from 1).
    pub fn location(&mut self, location: Location) -> u32 {
        if let Some(&number) = self.location_index.get(&location) {
            return number;
        }
        let file = self.files.get(&location.file).cloned().unwrap_or_default();
        // Line 0 means that the compiler knows no place: better the call's.
        let (file, line, column) = match location.inlined_at {
            Some((outer, line, column)) if location.line == 0 => (
                self.files.get(&outer).cloned().unwrap_or_default(),
                line,
                column,
            ),
            _ => (file, location.line, location.column),
        };
        self.locations.push(SourceLocation {
            file,
            line,
            column,
            ptx_line: 0,
        });
        let number = self.locations.len() as u32;
        self.location_index.insert(location, number);
        number
    }

    /// A shared, global or constant variable declared inside a function.
    pub fn function_variable(
        &mut self,
        function: u32,
        variable: &'a Variable<'a>,
    ) -> Result<Symbol<'a>> {
        match variable.space {
            Space::Shared => {
                let address = self.shared.inside(function, variable);
                Ok(Symbol::Shared { address })
            }
            _ => self.global(variable),
        }
    }

    /// Widths of a function's returns and parameters.
    pub fn signature(&self, function: u32) -> (Vec<Width>, Vec<Width>) {
        self.signatures[function as usize].clone()
    }

    fn global(&mut self, variable: &'a Variable<'a>) -> Result<Symbol<'a>> {
        let size = variable.size().ok_or_else(|| {
            Error::new(
                variable.at,
                format!("the size of `{}` is not known", variable.name),
            )
        })?;
        if size > 1 << 40 {
            return Err(Error::new(
                variable.at,
                format!("`{}` is larger than 1 TiB", variable.name),
            ));
        }
        let space = if variable.space == Space::Const {
            GlobalSpace::Const
        } else {
            GlobalSpace::Global
        };
        let mut global = Global {
            name: variable.name.to_owned(),
            size,
            align: u64::from(variable.align.max(1)),
            space,
            managed: variable.managed,
            visible: variable.linkage.is_visible(),
            address: 0,
            image: Vec::new(),
        };
        global.address = (self.place)(&global).ok_or_else(|| {
            Error::new(
                variable.at,
                format!("there is no memory for `{}`", variable.name),
            )
        })?;
        let address = global.address;
        self.globals.push(global);
        self.declarations.push(variable);
        Ok(Symbol::Global { address })
    }
}

/// How a parameter or result of a function is passed.
fn passing_width(variable: &Variable) -> Result<Width> {
    match variable.space {
        Space::Register => Ok(Width::of(variable.ty.into())),
        _ => Ok(Width::Area(variables::size_of(variable)?)),
    }
}

/// Names of the device runtime that code may call without defining them.
fn is_runtime(name: &str) -> bool {
    matches!(name, "vprintf" | "__assertfail" | "malloc" | "free") || name.starts_with("cuda")
}

/// Loads a module.
pub(crate) fn load(
    text: &str,
    place: &mut dyn FnMut(&Global) -> Option<u64>,
) -> std::result::Result<Module, LoadError> {
    let tree = ptx::parse(text)?;
    Ok(lower(&tree, place)?)
}

fn lower(tree: &ast::Module<'_>, place: &mut dyn FnMut(&Global) -> Option<u64>) -> Result<Module> {
    let mut scope = Scope::default();
    let mut defined: Vec<&ast::Function> = Vec::new();
    for function in tree.functions.iter().filter(|f| f.body.is_some()) {
        if !scope.insert(function.name, Symbol::Function(defined.len() as u32)) {
            return Err(duplicate(function.name, function.at));
        }
        defined.push(function);
    }
    for (name, target, at) in &tree.aliases {
        match scope.get(target) {
            Some(symbol @ Symbol::Function(_)) => {
                scope.insert(name, symbol);
            }
            _ => {
                return Err(Error::new(
                    *at,
                    format!("`{target}` is not a function of this module"),
                ));
            }
        }
    }
    for function in tree.functions.iter().filter(|f| f.body.is_none()) {
        if scope.get(function.name).is_none() && is_runtime(function.name) {
            scope.insert(function.name, Symbol::Runtime(function.name));
        }
    }
    let widths = |list: &[Variable]| list.iter().map(passing_width).collect::<Result<Vec<_>>>();
    let mut signatures = Vec::new();
    for function in &defined {
        // Kernels cannot be called.
        let parameters = if function.entry {
            &[]
        } else {
            function.parameters.as_slice()
        };
        signatures.push((widths(&function.returns)?, widths(parameters)?));
    }
    let shared = shared::Layout::new(tree, &defined);
    let mut context = Context {
        scope,
        shared,
        signatures,
        globals: Vec::new(),
        declarations: Vec::new(),
        place,
        locations: Vec::new(),
        location_index: HashMap::new(),
        files: tree.files.iter().cloned().collect(),
        accepts: Acceptance::new(tree),
    };
    for variable in &tree.variables {
        let symbol = match (variable.space, variable.linkage) {
            (Space::Shared, _) => Symbol::Shared {
                address: context.shared.outside(variable.name),
            },
            // An external variable is an error where it is used.
            (_, Linkage::Extern) => continue,
            _ => context.global(variable)?,
        };
        // A declaration may be repeated for an external variable only.
        if !context.scope.insert(variable.name, symbol) && variable.linkage != Linkage::Extern {
            return Err(duplicate(variable.name, variable.at));
        }
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
    for (number, function) in defined.iter().enumerate() {
        let mut builder = Builder::new(&mut context, number as u32);
        builder.function(function)?;
        let (lowered, pressure) = allocate::allocate(function.name, builder);
        functions.push(lowered);
        registers.push(pressure);
    }
    let mut globals = std::mem::take(&mut context.globals);
    for (global, variable) in globals.iter_mut().zip(&context.declarations) {
        global.image = variables::image(variable, global.size, &|name| context.scope.get(name))?;
    }
    let shared = std::mem::take(&mut context.shared.variables);
    let program = Arc::new(Program {
        functions,
        locations: context.locations,
        shared,
    });
    let constants = globals.iter().filter(|g| g.space == GlobalSpace::Const);
    let constants = constants.fold((u64::MAX, 0), |(low, high), g| {
        (low.min(g.address), high.max(g.address + g.size))
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
        let static_shared = context.shared.static_size(number as u32);
        let kernel = Kernel {
            name: function.name.to_owned(),
            parameters,
            static_shared,
            local_bytes: program.local_bytes(number as u32),
            registers: function.max_registers.unwrap_or(255).min(pressure.max(16)),
            max_threads: function.max_threads,
            exact_threads: function.exact_threads,
            min_blocks: function.min_blocks,
            cluster: function.cluster,
            program: program.clone(),
            entry: number as u32,
            constants,
            dynamic_shared_base: context.shared.dynamic_base(number as u32),
        };
        kernels.insert(function.name.to_owned(), Arc::new(kernel));
    }
    Ok(Module {
        kernels,
        globals,
        ptx_version: tree.version,
        target: tree.target.to_owned(),
    })
}

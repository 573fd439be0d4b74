//! What the functions of a module share while they are lowered.

use rustc_hash::FxHashMap;

use super::acceptance::Acceptance;
use super::scope::{Scope, Symbol};
use super::shared;
use crate::engine::exec::level::VectorLevel;
use crate::engine::module::{Global, Space as GlobalSpace};
use crate::engine::source::SourceTable;
use crate::ptx::ast::{self, Location, Position, Space, Variable};
use crate::ptx::{Error, Result};

/// What the functions of a module share while they are lowered.
pub(crate) struct Context<'a> {
    /// The vector instructions that its code may use.
    pub level: VectorLevel,
    /// Module-scope names.
    pub scope: Scope<'a>,
    /// Addresses of shared variables.
    pub shared: shared::Layout<'a>,
    /// The functions that have bodies.
    functions: &'a [&'a ast::Function<'a>],
    /// Where the names of the module are declared first.
    declared: FxHashMap<&'a str, Position>,
    pub(super) globals: Vec<Global>,
    /// The declarations of `globals`.
    pub(super) declarations: Vec<&'a Variable<'a>>,
    place: &'a mut dyn FnMut(&Global) -> Option<u64>,
    pub(super) sources: SourceTable<'a>,
    /// Which instructions it may have.
    pub accepts: Acceptance<'a>,
}

impl<'a> Context<'a> {
    /// That of a module with these names, shared variables and functions. `place` gives the address of a
    /// variable, or none if there is no memory.
    pub fn new(
        level: VectorLevel,
        module: &'a ast::Module<'a>,
        scope: Scope<'a>,
        shared: shared::Layout<'a>,
        functions: &'a [&'a ast::Function<'a>],
        place: &'a mut dyn FnMut(&Global) -> Option<u64>,
    ) -> Context<'a> {
        Context {
            level,
            scope,
            shared,
            functions,
            declared: first_declarations(module),
            globals: Vec::new(),
            declarations: Vec::new(),
            place,
            sources: SourceTable::new(&module.files, module.debug_strings.clone()),
            accepts: Acceptance::new(module),
        }
    }

    /// The number of a `.loc` (from 1).
    pub fn location(&mut self, location: Location<'a>) -> u32 {
        self.sources.add(location)
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

    /// The function of this number.
    pub fn function(&self, number: u32) -> &'a ast::Function<'a> {
        self.functions[number as usize]
    }

    /// What a name of the module means at a place: nothing, if it is declared behind it.
    pub fn find(&self, name: &str, at: Position) -> Option<Symbol<'a>> {
        let symbol = self.scope.get(name)?;
        let is_later =
            |declared: &Position| (declared.line, declared.column) > (at.line, at.column);
        (!self.declared.get(name).is_some_and(is_later)).then_some(symbol)
    }

    /// Places a global or constant variable.
    pub(super) fn global(&mut self, variable: &'a Variable<'a>) -> Result<Symbol<'a>> {
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
        Ok(Symbol::Global {
            address,
            constant: variable.space == Space::Const,
        })
    }
}

/// Where each name of a module is declared first.
fn first_declarations<'a>(module: &ast::Module<'a>) -> FxHashMap<&'a str, Position> {
    let functions = module.functions.iter().map(|f| (f.name, f.at));
    let variables = module.variables.iter().map(|v| (v.name, v.at));
    let mut all = FxHashMap::default();
    for (name, at) in functions.chain(variables) {
        let first = all.entry(name).or_insert(at);
        if (at.line, at.column) < (first.line, first.column) {
            *first = at;
        }
    }
    all
}

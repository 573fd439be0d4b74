//! What the functions of a module share while they are lowered.

use super::acceptance::Acceptance;
use super::scope::{Scope, Symbol};
use super::shared;
use crate::engine::exec::level::VectorLevel;
use crate::engine::exec::operand::Width;
use crate::engine::module::{Global, Space as GlobalSpace};
use crate::engine::source::SourceTable;
use crate::ptx::ast::{self, Location, Space, Variable};
use crate::ptx::{Error, Result};

/// What the functions of a module share while they are lowered.
pub(crate) struct Context<'a> {
    /// The vector instructions that its code may use.
    pub level: VectorLevel,
    /// Module-scope names.
    pub scope: Scope<'a>,
    /// Addresses of shared variables.
    pub shared: shared::Layout<'a>,
    /// Widths of the returns and parameters of each function.
    signatures: Vec<Signature>,
    pub(super) globals: Vec<Global>,
    /// The declarations of `globals`.
    pub(super) declarations: Vec<&'a Variable<'a>>,
    place: &'a mut dyn FnMut(&Global) -> Option<u64>,
    pub(super) sources: SourceTable<'a>,
    /// Which instructions it may have.
    pub accepts: Acceptance<'a>,
}

/// Widths of the returns and of the parameters of a function.
pub(crate) type Signature = (Vec<Width>, Vec<Width>);

impl<'a> Context<'a> {
    /// That of a module with these names, shared variables and signatures of its functions. `place` gives the address of a
    /// variable, or none if there is no memory.
    pub fn new(
        level: VectorLevel,
        module: &ast::Module<'a>,
        scope: Scope<'a>,
        shared: shared::Layout<'a>,
        signatures: Vec<Signature>,
        place: &'a mut dyn FnMut(&Global) -> Option<u64>,
    ) -> Context<'a> {
        Context {
            level,
            scope,
            shared,
            signatures,
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

    /// Widths of a function's returns and parameters.
    pub fn signature(&self, function: u32) -> Signature {
        self.signatures[function as usize].clone()
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
